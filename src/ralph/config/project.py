"""A project: where it is, what its settings say, and where Ralph keeps its files."""

import os

import msgspec

from ralph.config.sources import Source
from ralph.config.variables import runs_folder
from ralph.core.settings import Config

DEFAULT = Source("default")
RUNS = ".ralph/runs"
ADDRESS = ("postgres://", "postgresql://")
"""How the name of a database begins that is on a server, and no file."""


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A folder with a `.ralph.toml`, and what it says."""

    root: str
    config: Config
    sources: dict[str, Source] = {}
    """Of what is not default, by `section.key`; also of single gates, prices and the like."""
    warnings: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    """All that the shell files say, also what is no setting (paths of the story pipeline)."""

    def source(self, key: str) -> Source:
        return self.sources.get(key, DEFAULT)

    def own_command(self, agent: str) -> str:
        """A person's own command line for an agent, from `agents.sh`; empty without one."""
        return self.variables.get(f"AGENT_{agent.upper().replace('-', '_')}_CMD", "")

    @property
    def own_agents(self) -> tuple[str, ...]:
        """Those that a person has command lines for."""
        commands = (name for name in self.variables if name.startswith("AGENT_"))
        names = (name[len("AGENT_") : -len("_CMD")].lower() for name in commands)
        found = (name for name in names if name and self.own_command(name))
        return tuple(name for name in found if not name.endswith("_interactive"))

    @property
    def has_sandbox(self) -> bool:
        return self.config.sandbox.mode != "off"

    @property
    def state(self) -> str:
        """Where Ralph keeps what it knows."""
        return os.path.join(self.root, ".ralph")

    @property
    def temp(self) -> str:
        """Where sessions' folders are, and what a sandbox keeps in mind."""
        return os.path.join(self.state, ".tmp")

    @property
    def checkouts(self) -> str:
        """Where private checkouts are."""
        return os.path.join(self.state, "checkouts")

    @property
    def runs_dir(self) -> str:
        """Where logs, briefs and streams go."""
        return os.path.join(self.root, runs_folder(self.variables.get("RUNS_DIR", "")) or RUNS)

    @property
    def tools(self) -> str:
        """Where sessions find `ralph`, if they would not find it otherwise. They see this folder,
        and cannot write there."""
        return os.path.join(self.runs_dir, ".bin")

    @property
    def database(self) -> str:
        """The database where it is a file. `RALPH_DB` lets several checkouts share a store."""
        named = os.environ.get("RALPH_DB", "")
        own = os.path.join(self.state, "progress.db")
        return own if not named or named.startswith(ADDRESS) else named

    @property
    def store_address(self) -> str:
        """The address of the database where it is on a server; empty where it is a file."""
        named = os.environ.get("RALPH_DB", "")
        if named:
            return named if named.startswith(ADDRESS) else ""
        from ralph.config.store_address import saved_address

        return saved_address(self.root)

    @property
    def store_name(self) -> str:
        """What to call the database in messages."""
        from ralph.config.store_address import shown_address

        address = self.store_address
        return shown_address(address) if address else self.database
