"""Parts of a run that do nothing, or only remember what they were asked for."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ralph.core.agent_events import AgentEvent
from ralph.core.events import Event, RecordedEvent
from ralph.core.hidden_paths import settings_root
from ralph.core.ids import FeatureId, TaskId
from ralph.core.policy.tools import ToolPermissions
from ralph.core.snapshot import Snapshot
from ralph.ports.agent import AgentHome
from ralph.ports.executor import Command
from ralph.ports.workspace import Workspace
from ralph.store.claims import Claim
from ralph.store.sessions import Session


class RecordingSink:
    """Remembers what it was shown."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.heard: list[tuple[TaskId, AgentEvent]] = []

    def event(self, recorded: RecordedEvent) -> None:
        """One more."""
        self.events.append(recorded.event)

    def agent_event(self, task: TaskId, event: AgentEvent) -> None:
        """One more."""
        self.heard.append((task, event))

    def tick(self) -> None:
        """No clock to redraw."""

    def suspended(self) -> AbstractContextManager[None]:
        """No terminal to leave."""
        return nullcontext()

    def close(self) -> None:
        """No terminal to leave."""


class NoHomes:
    """Nobody has credentials, and no folder is made."""

    def login_files(self, home: AgentHome) -> dict[str, bytes]:
        """None."""
        del home
        return {}

    def create(
        self, agent: str, home: AgentHome, session: str, config: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, str]:
        """Nowhere."""
        del agent, home, session, config
        return {}

    def save_credentials(self) -> None:
        """Nothing is open."""

    @property
    def folder(self) -> str:
        """There is none."""
        return ""

    def usage_lines(self) -> bytes:
        """Nothing is open."""
        return b""

    def remove(self) -> None:
        """Nothing is open."""

    def remove_leftovers(self, homes: Mapping[str, AgentHome]) -> None:
        """Nothing is left."""


class PlainCommand:
    """A command that is not changed."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.has_started = True
        self.warnings: Sequence[str] = ()


class NoSandbox:
    """A sandbox that is none."""

    name = "off"
    is_active = False
    warnings: Sequence[str] = ()

    @contextmanager
    def sandboxed(self, command: Command, *, home: str = "") -> Iterator[PlainCommand]:
        """As it is."""
        del home
        yield PlainCommand(command)

    def is_protected(self, path: str) -> bool:
        """Nothing is guarded."""
        del path
        return False

    def may_add(self, path: str) -> bool:
        """Ralph's own settings are a person's in any case."""
        return settings_root(path) is None

    def setup_error(self, code: int | None, stderr: str) -> str:
        """It cannot."""
        del code, stderr
        return ""


class FakeCheckouts:
    """Remembers which states were looked at."""

    def __init__(self) -> None:
        self.made: list[Snapshot] = []

    @contextmanager
    def checkout_of(
        self,
        workspace: Workspace,
        at: Snapshot,
        name: str,
        *,
        links: Sequence[str] = (),
        copies: Sequence[str] = (),
    ) -> Iterator[str]:
        """A place that is none."""
        del workspace, name, links, copies
        self.made.append(at)
        yield "/throw-away"

    def remove_leftovers(self) -> None:
        """Nothing is left."""


class UnusedControlSocket:
    """A control socket without calls."""

    additions = 0

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.added_tasks: list[TaskId] = []

    def open_session(
        self,
        session: Session,
        claim: Claim,
        permissions: ToolPermissions,
        home: FeatureId | None = None,
    ) -> Mapping[str, str]:
        """No variables."""
        del session, claim, permissions, home
        return {}

    def send_to_session(self, words: str) -> None:
        """Remember it."""
        self.sent.append(words)

    def drop_late_clients(self) -> None:
        """Nobody is connected."""

    def close_session(self) -> None:
        """It never was open."""
