"""An agent: three pure functions and a table of traits."""

from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.ending import Digest, Ending, Exit
from ralph.core.ids import RunId, TaskId


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is told, and where it works."""

    task_id: TaskId
    title: str
    attempt: int
    run_id: RunId
    text: str
    path: str
    """A file that holds `text`."""
    checkout: str
    """The directory in which the session works."""
    alias: str | None = None


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is made from: `ralph.agents` entry points are called with it."""

    command: str = ""
    """`[agent] command`: a command line, or whatever the agent takes it for."""
    directory: str = ""
    """The project's directory, for relative paths."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """How to start a session: `command(brief)` returns it, Ralph adds the environment."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = {}


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What is special about an agent, as data."""

    name: str
    install_hint: str = ""
    prints_while_working: bool = True
    """False switches the idle timeout off."""
    line_limit: int = 16 * 1024 * 1024
    """Longer lines of output arrive in pieces."""
    says_sandbox_off: bool = False
    """Needs no sandbox, and says so itself."""


class Agent(Protocol):
    """A program that can do a task. No other file knows its name."""

    @property
    def traits(self) -> Traits: ...

    def command(self, brief: Brief) -> Launch:
        """How to start a session for this brief."""
        ...

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        """What some lines of standard output mean. Never raises; what it does not know is
        Unknown."""
        ...

    def ending(self, digest: Digest, exit_: Exit) -> Ending:
        """How the session ended, from what it said, its exit, and whether we stopped it."""
        ...
