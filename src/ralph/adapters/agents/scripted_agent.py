"""An agent that plays a script, for the demo and tests.

A script is a TOML file of sessions, played by a real process with real edits and commits:

    [[session]]
    task = "US-001"          # id, alias or title; "*" is any task
    repeat = false           # true: also for every later attempt
    role = "work"            # "verify": for sessions that check another one's work
    steps = [
      { think = "…" }, { say = "…" }, { write = "a.py", text = "…" }, { run = "make" },
      { commit = "message" }, { sleep = 0.2 }, { limit = 30 }, { error = "…" },
      { hang = true }, { exit = 3 }, { signal = 9 }, { done = true }, { fail = true },
      { result = "any final words", cost = 0.25, tokens = { input_tokens = 900 } },
    ]

The n-th session for a task is its n-th attempt. A script that is asked for more says so and fails.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ralph.core.agent_events import AgentEvent, UnknownLine
from ralph.core.errors import UnusableData
from ralph.core.json_text import NOT_JSON
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import SessionEnding
from ralph.core.session_events import SessionRole
from ralph.core.session_output import StreamSummary, classify_ending
from ralph.files import read_regular
from ralph.ports.agent import AgentCommand, AgentSetup, AgentTraits, BillingAccount, Brief

_DECODE = msgspec.json.Decoder(AgentEvent).decode


class _Session(msgspec.Struct, kw_only=True):
    task: str
    steps: list[dict[str, Any]]
    repeat: bool = False
    role: SessionRole = SessionRole.WORK


class _Script(msgspec.Struct, kw_only=True):
    session: list[_Session] = []


class ScriptedAgent:
    """Plays what `[agent] command` names."""

    traits = AgentTraits(
        name="scripted",
        install_hint="set [agent] command to the path of a script",
        says_sandbox_off=True,
        models={"haiku": "haiku", "sonnet": "sonnet", "opus": "opus"},
    )

    def __init__(self, setup: AgentSetup) -> None:
        path = os.path.join(setup.directory, setup.command)
        try:
            self.script = msgspec.toml.decode(read_regular(path), type=_Script)
        except OSError as error:
            raise UnusableData(f"script {path} cannot be read: {error.strerror}") from error
        except NOT_JSON as error:
            raise UnusableData(f"script {path} is not a script: {error}") from error

    def command(self, brief: Brief) -> AgentCommand:
        """A player process with this attempt's steps on its stdin."""
        job = {"task": brief.task_id, "model": brief.terms.model, "steps": self._steps(brief)}
        return AgentCommand(
            argv=(sys.executable, "-P", "-m", "ralph.adapters.agents.scripted_player"),
            stdin=msgspec.json.encode(job),
        )

    def interactive_command(self, brief: Brief) -> AgentCommand:
        return self.command(brief)

    def account(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> BillingAccount:  # noqa: ARG002
        return BillingAccount(name="no account: it plays a script", billed=False, logged_in=True)

    def _steps(self, brief: Brief) -> list[dict[str, Any]]:
        names = {brief.task_id, brief.alias, brief.title}
        all_ = [s for s in self.script.session if s.role is brief.role]
        mine = [s for s in all_ if s.task in names] or [s for s in all_ if s.task == "*"]
        if len(mine) >= brief.attempt:
            return mine[brief.attempt - 1].steps
        if mine and mine[-1].repeat:
            return mine[-1].steps
        return [
            {"error": f"the script has no session for attempt {brief.attempt} at {brief.title}"}
        ]

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        """The player speaks Ralph's own event language, one JSON object a line."""
        for line in block.splitlines():
            try:
                yield _DECODE(line)
            except NOT_JSON:
                yield UnknownLine(line=line.decode("utf-8", "replace")[:2000])

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        return classify_ending(digest, exit_)
