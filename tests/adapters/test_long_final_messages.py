"""A final message keeps what it says to Ralph, however long it is and wherever that stands."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.adapters.agents.claude.agent import Claude
from ralph.adapters.agents.claude_sdk.agent import ClaudeSdk
from ralph.adapters.agents.codex.agent import Codex
from ralph.adapters.agents.command_agent import CommandAgent
from ralph.adapters.agents.droid.agent import Droid
from ralph.adapters.agents.scripted_agent import ScriptedAgent
from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.core.message_tags import MessageTags, Promise, read_message_tags
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup
from ralph.ports.executor import Command, Timeouts

LONG = 30_000_000
SHORT = 200_000
"""Longer than what is kept of a message."""
WORDS = (
    "I gave it a try.\n\n<task-failed>t-1</task-failed>\nThe port is taken.\n"
    '<promise>FAILURE</promise>\n<knowledge title="Ports">ask first</knowledge>\n'
)


def claude(message: str) -> list[object]:
    said = {"role": "assistant", "content": [{"type": "text", "text": message}]}
    over = {"type": "result", "subtype": "success", "is_error": False, "result": message}
    return [{"type": "assistant", "message": said}, over]


def codex(message: str) -> list[object]:
    item = {"id": "i", "type": "agent_message", "text": message}
    return [{"type": "item.completed", "item": item}, {"type": "turn.completed", "usage": {}}]


def droid(message: str) -> list[object]:
    said = {"type": "message", "role": "assistant", "text": message}
    return [said, {"type": "completion", "finalText": message}]


def scripted(message: str) -> list[object]:
    return [{"event": "text", "text": message}, {"event": "result", "text": message}]


def a_script(tmp_path: Path) -> ScriptedAgent:
    (tmp_path / "script.toml").write_text("")
    return ScriptedAgent(AgentSetup(directory=str(tmp_path), command="script.toml"))


Speech = Callable[[str], list[object]]
AGENTS: dict[str, tuple[Callable[[Path], Agent], Speech]] = {
    "claude": (lambda _: Claude(AgentSetup()), claude),
    "claude-sdk": (lambda _: ClaudeSdk(AgentSetup()), claude),
    "codex": (lambda _: Codex(AgentSetup()), codex),
    "droid": (lambda _: Droid(AgentSetup()), droid),
    "scripted": (a_script, scripted),
}


class RecordingListener:
    """Listens as a run does."""

    has_result = is_busy = False

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.digest = StreamSummary()

    def output(self, block: bytes) -> None:
        for event in self.agent.read(block):
            self.digest.add(event)

    def tick(self) -> EndingKind | None:
        return None


def ending_of(agent: Agent, output: bytes, tmp_path: Path) -> SessionEnding:
    """How a process ends that prints this."""
    (tmp_path / "output").write_bytes(output)
    listener = RecordingListener(agent)
    exit_ = ProcessExecutor(SystemClock()).run(
        Command(argv=("cat", "output"), cwd=str(tmp_path), env={"PATH": "/usr/bin:/bin"}),
        log=str(tmp_path / "log"),
        timeouts=Timeouts(hard_s=60),
        listener=listener,
        line_limit=agent.traits.line_limit,
    )
    return agent.ending(listener.digest, exit_)


def placed(size: int, where: float) -> str:
    before = int(size * where)
    return "some words\n" * (before // 11) + WORDS + "more words\n" * ((size - before) // 11)


@pytest.mark.parametrize(
    ("name", "size", "where"),
    [
        *((name, SHORT, where) for name in AGENTS for where in (0.0, 0.5, 1.0)),
        ("claude", LONG, 0.5),
        ("codex", LONG, 0.0),
    ],
)
def test_it_keeps_its_claim(tmp_path: Path, name: str, size: int, where: float) -> None:
    make, speech = AGENTS[name]
    lines = speech(placed(size, where))
    output = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    ending = ending_of(make(tmp_path), output, tmp_path)
    assert ending.ended is EndingKind.FINISHED, ending.detail
    assert len(ending.message) < 1_000_000
    said = read_message_tags(ending.message)
    assert (said.task_failed, said.promise) == ("t-1", Promise.FAILURE)
    assert said.why_failed.startswith("The port is taken.")
    assert [(one.title, one.text) for one in said.knowledge] == [("Ports", "ask first")]


def test_of_a_plain_command_the_end_counts(tmp_path: Path) -> None:
    agent = CommandAgent(AgentSetup(command=sys.executable))
    found = {
        where: read_message_tags(ending_of(agent, placed(LONG, where).encode(), tmp_path).message)
        for where in (0.5, 1.0)
    }
    assert found[0.5] == MessageTags()
    assert found[1.0].task_failed == "t-1"
