"""The interface of an agent: pure functions, a table of traits, and its configuration folders."""

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.brief_sections import SectionUsage
from ralph.core.ids import RunId, TaskId
from ralph.core.policy.decision import Phase
from ralph.core.policy.tools import AgentTools
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import SessionEnding
from ralph.core.session_events import SessionRole
from ralph.core.session_output import StreamSummary

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Of an agent's output: a final message may be one long line."""
SOCKET_VARIABLES: Final = ("RALPH_SOCKET", "RALPH_TOKEN")
"""The variables by which the processes of a session reach the run."""
HOOK_NAMES: Final = {
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "PostToolUseFailure": "post-tool-use",
    "Stop": "stop",
    "SessionStart": "session-start",
}
"""What `ralph hook` calls the events of an agent's program (in Claude Code's words)."""


class SessionTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions of a session: model, permissions, budget."""

    model: str = ""
    """The name that the agent knows; empty is the agent's own choice."""
    tier: str = ""
    """haiku, sonnet or opus, if a tier was chosen."""
    sandboxed: bool = False
    """Permission prompts are off only in a sandbox; elsewhere the agent gets a list of tools."""
    as_root: bool = False
    budget_usd: float = 0.0
    """0 is without limit, like the next one."""
    max_turns: int = 0
    hooks: tuple[str, ...] = ()
    """The command that decides on every use of a tool; the hook's name is added. Empty: none."""
    tools: tuple[str, ...] = ()
    """The command that serves Ralph's own tools to the session; empty: it gets none."""
    phase: Phase = Phase.BUILDING
    """Decides which tools it has."""
    checks: bool = False
    """It checks the work of another session."""
    read_only: bool = False
    """It may run commands but not change files."""


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """The brief of a session, and where the session works."""

    task_id: TaskId
    title: str
    attempt: int
    run_id: RunId
    role: SessionRole = SessionRole.WORK
    text: str
    path: str
    """A file that holds `rules` and `text`."""
    checkout: str
    """The directory in which the session works."""
    alias: str | None = None
    rules: str = ""
    """The rules for every session: in the system prompt, or before `text`."""
    rules_path: str = ""
    """A file that holds `rules`."""
    terms: SessionTerms = SessionTerms()
    given: tuple[SectionUsage, ...] = ()
    """What is in `text`, and what was left out."""


def brief_with_rules(brief: Brief) -> str:
    """Return the brief with its rules, for agents without a system prompt."""
    return f"{brief.rules}\n\n{brief.text}" if brief.rules else brief.text


class AgentSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is created from: `ralph.agents` entry points are called with it."""

    name: str = ""
    """The user's name for it, if not its own."""
    command: str = ""
    """`[agent] command`: a command line, or what the agent makes of it."""
    directory: str = ""
    """The project's directory, for relative paths."""


class AgentCommand(msgspec.Struct, frozen=True, kw_only=True):
    """The command that starts a session. Ralph adds the environment."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = {}
    config: Mapping[str, Mapping[str, object]] = {}
    """Configuration beside the user's own: JSON and TOML files by name, for the session's own
    folder."""


class ConfigExcerpt(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a configuration file (JSON or TOML) that says how to reach a model."""

    file: str
    keys: tuple[str, ...]


class UsageLog(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent writes down what its requests used, if it does not print that. The lines are
    read by `Agent.read` when the session is over."""

    files: str
    """A pattern of paths below the folder, such as `sessions/*/wire.jsonl`."""
    marker: str
    """Only lines with this text are read."""


class AgentHome(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent keeps its configuration. Each session gets a folder of its own with nothing
    but credentials, so that files planted there never run in a later session."""

    variable: str
    """The environment variable that names the folder, also the user's own one."""
    folder: str
    """The user's own one, below their home directory."""
    inside: str = ""
    """Where the files are in the folder that `variable` names."""
    credentials: tuple[str, ...] = ()
    """Files that are copied in, and copied back when they were refreshed."""
    excerpts: tuple[ConfigExcerpt, ...] = ()
    usage: UsageLog | None = None


class BillingAccount(msgspec.Struct, frozen=True, kw_only=True):
    """Who pays for a session, as far as that is known without spending anything."""

    name: str
    """For people, such as `a Claude subscription (max)`."""
    billed: bool | None = None
    """True: by use. False: a subscription, so that costs are notional. None: unknown."""
    logged_in: bool | None = None


class AgentTraits(msgspec.Struct, frozen=True, kw_only=True):
    """What is special about an agent, as data."""

    name: str
    program: str = ""
    """Its name on the PATH."""
    package: str = ""
    """The Python package that runs it, if one does; its process finds the program by
    `RALPH_AGENT_PROGRAM`."""
    install_hint: str = ""
    login_hint: str = ""
    prints_while_working: bool = True
    """False switches the idle timeout off."""
    line_limit: int = LONGEST_LINE
    """Longer lines of output arrive in pieces."""
    says_sandbox_off: bool = False
    """It needs no sandbox, and says so itself."""
    keys: tuple[str, ...] = ()
    """Variables that decide who pays: passed on only if the user allows it."""
    home: AgentHome | None = None
    has_hooks: bool = False
    """Whether it passes the answers of hooks on to the model, also after a tool has answered."""
    skills: str = ""
    """The folder of a project in which it looks for skills; empty: it has none."""
    tools: AgentTools = AgentTools()
    """Its tools in the terms of the policy."""
    models: Mapping[str, str] = {}
    """The models of the tiers haiku, sonnet and opus, unless `[models.AGENT]` has others; a tier
    that is not here leaves the choice to the agent."""


class Agent(Protocol):
    """A program that can do a task."""

    @property
    def traits(self) -> AgentTraits: ...

    def command(self, brief: Brief) -> AgentCommand: ...

    def interactive_command(self, brief: Brief) -> AgentCommand: ...

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        """Turn lines of standard output into events. Never raises; others become UnknownLine."""

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        """Classify the ending of the session."""

    def account(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> BillingAccount:
        """Find out who pays, from the session's variables and the files of `traits.home`."""


class AgentHomes(Protocol):
    """Creates and removes an agent's configuration folders."""

    def login_files(self, home: AgentHome) -> dict[str, bytes]:
        """Return the user's own credentials and config excerpts by name; only those that exist."""

    def create(
        self, agent: str, home: AgentHome, session: str, config: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, str]:
        """Create a folder with nothing but credentials and `AgentCommand.config`; return the
        variables that point to it."""

    def save_credentials(self) -> None:
        """Copy credentials that were refreshed in the last folder back to the user's folder."""

    @property
    def folder(self) -> str:
        """The configuration folder of the open session; empty without one."""

    def usage_lines(self) -> bytes:
        """The lines of `AgentHome.usage` that the open session has written."""

    def remove(self) -> None:
        """Copy refreshed credentials back, and remove the last folder."""

    def remove_leftovers(self, homes: Mapping[str, AgentHome]) -> None:
        """Do the same for every folder that a killed Ralph left behind; `homes` by agent."""
