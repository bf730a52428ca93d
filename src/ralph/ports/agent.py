"""An agent: three pure functions and a table of traits."""

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.ending import Digest, Ending, Exit
from ralph.core.ids import RunId, TaskId
from ralph.core.policy.decision import Phase
from ralph.core.policy.tools import Toolbox
from ralph.core.role import Role
from ralph.core.sections import Given

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Of an agent's output: a final message is one line, however long."""
DOOR: Final = ("RALPH_SOCKET", "RALPH_TOKEN")
"""The variables by which whatever a session starts reaches the running loop."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """Under which conditions a session works."""

    model: str = ""
    """The name that the agent knows; empty is the agent's own choice."""
    tier: str = ""
    """haiku, sonnet or opus, where that is what was chosen."""
    fenced: bool = False
    """Behind the wall of a sandbox. Only there permission prompts are switched off; elsewhere the
    agent gets its list of allowed tools."""
    as_root: bool = False
    budget_usd: float = 0.0
    """0 is without limit, like the next one."""
    max_turns: int = 0
    allowed_tools: tuple[str, ...] = ()
    """Instead of the agent's own list."""
    denied_tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    """The command that decides on every use of a tool; the hook's name follows. Empty: none."""
    tools: tuple[str, ...] = ()
    """The command that serves Ralph's own tools to the session; empty: it gets none."""
    phase: Phase = Phase.BUILDING
    """What it is for decides which tools it has."""
    checks: bool = False
    """It checks the work of another session."""
    read_only: bool = False
    """It reads and runs, and is not meant to change anything."""


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is told, and where it works."""

    task_id: TaskId
    title: str
    attempt: int
    run_id: RunId
    role: Role = Role.WORK
    text: str
    path: str
    """A file that holds `rules` and `text`."""
    checkout: str
    """The directory in which the session works."""
    alias: str | None = None
    rules: str = ""
    """What holds for every session: goes into the system prompt where an agent takes one, else it
    stands before `text`."""
    rules_path: str = ""
    """A file that holds `rules`."""
    terms: Terms = Terms()
    given: tuple[Given, ...] = ()
    """What is in `text`, and what was left out of it."""


def with_rules(brief: Brief) -> str:
    """The whole of it, for agents that take no system prompt."""
    return f"{brief.rules}\n\n{brief.text}" if brief.rules else brief.text


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is made from: `ralph.agents` entry points are called with it."""

    name: str = ""
    """What a person calls it, if not by its own name."""
    command: str = ""
    """`[agent] command`: a command line, or whatever the agent takes it for."""
    interactive: str = ""
    """`[agent] interactive`: the same for sessions with a person."""
    directory: str = ""
    """The project's directory, for relative paths."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """How to start a session: `command(brief)` returns it, Ralph adds the environment."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = {}
    config: Mapping[str, Mapping[str, object]] = {}
    """What its configuration has to say beside the person's own: JSON files by name, for a folder
    of the session's own."""


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a configuration file (JSON or TOML) that says how to reach a model."""

    file: str
    keys: tuple[str, ...]


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent keeps its configuration. Each session gets a folder of its own, seeded with
    nothing but credentials: what an agent plants there must not run at the next start."""

    variable: str
    """Names the folder; the person's own one too, where it is set."""
    folder: str
    """The person's own one, below their home directory."""
    inside: str = ""
    """Where in the folder that `variable` names the files are."""
    credentials: tuple[str, ...] = ()
    """Copied in, and refreshed ones back."""
    excerpts: tuple[Excerpt, ...] = ()


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """Who pays for a session, as far as can be told without spending anything."""

    name: str
    """For people, such as `a Claude subscription (max)`."""
    billed: bool | None = None
    """True: by use. False: a subscription, so that costs are notional. None: nobody knows."""
    logged_in: bool | None = None


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What is special about an agent, as data."""

    name: str
    program: str = ""
    """What it is called on the PATH."""
    package: str = ""
    """The Python package that leads it, if one does; its process finds the program by
    `RALPH_AGENT_PROGRAM`."""
    install_hint: str = ""
    login_hint: str = ""
    prints_while_working: bool = True
    """False switches the idle timeout off."""
    line_limit: int = LONGEST_LINE
    """Longer lines of output arrive in pieces."""
    says_sandbox_off: bool = False
    """Needs no sandbox, and says so itself."""
    keys: tuple[str, ...] = ()
    """Variables that decide who pays: passed on only if a person says so."""
    home: Home | None = None
    hears: bool = False
    """Does it pass on to the model what a hook has to say?"""
    skills: str = ""
    """The folder of a project in which it looks for skills; empty: it has none."""
    tools: Toolbox = Toolbox()
    """What its tools are in the words of the policy."""
    models: Mapping[str, str] = {}
    """What the tiers haiku, sonnet and opus mean, unless `[models.AGENT]` says otherwise; a tier
    that is not here leaves the choice to the agent."""


class Agent(Protocol):
    """A program that can do a task. No other file knows its name."""

    @property
    def traits(self) -> Traits: ...

    def command(self, brief: Brief) -> Launch:
        """How to start a session for this brief."""
        ...

    def converse(self, brief: Brief) -> Launch:
        """How to start a session with a person at the terminal."""
        ...

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        """What some lines of standard output mean. Never raises; what it does not know is
        Unknown."""
        ...

    def ending(self, digest: Digest, exit_: Exit) -> Ending:
        """How the session ended, from what it said, its exit, and whether we stopped it."""
        ...

    def account(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Account:
        """Who pays, from the session's variables and the files of `traits.home` that exist."""
        ...
