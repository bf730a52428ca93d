"""A final message keeps what it says to Ralph, however long it is and wherever that stands."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.adapters.agents.claude.agent import Claude
from ralph.adapters.agents.claude_sdk.agent import ClaudeSdk
from ralph.adapters.agents.codex.agent import Codex
from ralph.adapters.agents.command import CommandAgent
from ralph.adapters.agents.droid.agent import Droid
from ralph.adapters.agents.scripted import ScriptedAgent
from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.core.ended import Ended
from ralph.core.ending import Digest, Ending, Stop
from ralph.core.sigils import Promise, Sigils, read_sigils
from ralph.ports.agent import Agent, Setup
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
    return ScriptedAgent(Setup(directory=str(tmp_path), command="script.toml"))


Speech = Callable[[str], list[object]]
AGENTS: dict[str, tuple[Callable[[Path], Agent], Speech]] = {
    "claude": (lambda _: Claude(Setup()), claude),
    "claude-sdk": (lambda _: ClaudeSdk(Setup()), claude),
    "codex": (lambda _: Codex(Setup()), codex),
    "droid": (lambda _: Droid(Setup()), droid),
    "scripted": (a_script, scripted),
}


class Ear:
    """Listens as a run does."""

    has_result = is_busy = False

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.digest = Digest()

    def output(self, block: bytes) -> None:
        for event in self.agent.read(block):
            self.digest.take(event)

    def tick(self) -> Stop | None:
        return None


def heard(agent: Agent, output: bytes, tmp_path: Path) -> Ending:
    """How a process ends that prints this."""
    (tmp_path / "output").write_bytes(output)
    ear = Ear(agent)
    exit_ = Processes(SystemClock()).run(
        Command(argv=("cat", "output"), cwd=str(tmp_path), env={"PATH": "/usr/bin:/bin"}),
        log=str(tmp_path / "log"),
        timeouts=Timeouts(hard_s=60),
        listener=ear,
        line_limit=agent.traits.line_limit,
    )
    return agent.ending(ear.digest, exit_)


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
    ending = heard(make(tmp_path), output, tmp_path)
    assert ending.ended is Ended.FINISHED, ending.detail
    assert len(ending.message) < 1_000_000
    said = read_sigils(ending.message)
    assert (said.task_failed, said.promise) == ("t-1", Promise.FAILURE)
    assert said.why_failed.startswith("The port is taken.")
    assert [(one.title, one.text) for one in said.knowledge] == [("Ports", "ask first")]


def test_of_a_plain_command_the_end_counts(tmp_path: Path) -> None:
    agent = CommandAgent(Setup(command=sys.executable))
    found = {
        where: read_sigils(heard(agent, placed(LONG, where).encode(), tmp_path).message)
        for where in (0.5, 1.0)
    }
    assert found[0.5] == Sigils()
    assert found[1.0].task_failed == "t-1"
