"""Parts of a kit that do nothing, or only remember what they were asked for."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ralph.core.agent_events import AgentEvent
from ralph.core.ending import Exit
from ralph.core.events import Event, Recorded
from ralph.core.hidden import obeyed_in
from ralph.core.ids import FeatureId, TaskId
from ralph.core.policy.leash import Leash
from ralph.core.snapshot import Snapshot
from ralph.ports.agent import Home
from ralph.ports.claims import Claim
from ralph.ports.executor import Command
from ralph.ports.history import Session
from ralph.ports.workspace import Workspace


class RecordingSink:
    """Remembers what it was shown."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.heard: list[tuple[TaskId, AgentEvent]] = []

    def event(self, recorded: Recorded) -> None:
        """One more."""
        self.events.append(recorded.event)

    def said(self, task: TaskId, event: AgentEvent) -> None:
        """One more."""
        self.heard.append((task, event))

    def tick(self) -> None:
        """No clock to redraw."""

    def aside(self) -> AbstractContextManager[None]:
        """No terminal to leave."""
        return nullcontext()

    def close(self) -> None:
        """No terminal to leave."""


class NoHomes:
    """Nobody has credentials, and no folder is made."""

    def files(self, home: Home) -> dict[str, bytes]:
        """None."""
        del home
        return {}

    def open(
        self, agent: str, home: Home, session: str, config: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, str]:
        """Nowhere."""
        del agent, home, session, config
        return {}

    def save(self) -> None:
        """Nothing is open."""

    @property
    def folder(self) -> str:
        """There is none."""
        return ""

    def shut(self) -> None:
        """Nothing is open."""

    def tidy(self, homes: Mapping[str, Home]) -> None:
        """Nothing is left."""


class NoEnclosure:
    """A command as it is."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.has_started = True
        self.warnings: Sequence[str] = ()


class NoWall:
    """A wall that is none."""

    name = "off"
    stands = False
    warnings: Sequence[str] = ()

    @contextmanager
    def around(self, command: Command, *, home: str = "") -> Iterator[NoEnclosure]:
        """As it is."""
        del home
        yield NoEnclosure(command)

    def guards(self, path: str) -> bool:
        """Nothing is guarded."""
        del path
        return False

    def may_add(self, path: str) -> bool:
        """Ralph's own settings are a person's in any case."""
        return obeyed_in(path) is None

    def has_failed(self, exit_: Exit) -> str:
        """It cannot."""
        del exit_
        return ""


class FakeCheckouts:
    """Remembers which states were looked at."""

    def __init__(self) -> None:
        self.made: list[Snapshot] = []

    @contextmanager
    def of(self, workspace: Workspace, at: Snapshot, name: str) -> Iterator[str]:
        """A place that is none."""
        del workspace, name
        self.made.append(at)
        yield "/throw-away"

    def tidy(self) -> None:
        """Nothing is left."""


class ShutDoor:
    """A door that nobody uses."""

    added = 0

    def __init__(self) -> None:
        self.told: list[str] = []
        self.tasks: list[TaskId] = []

    def open_for(
        self, session: Session, claim: Claim, leash: Leash, home: FeatureId | None = None
    ) -> Mapping[str, str]:
        """No variables."""
        del session, claim, leash, home
        return {}

    def tell(self, words: str) -> None:
        """Remember it."""
        self.told.append(words)

    def look_after(self) -> None:
        """Nobody is connected."""

    def shut(self) -> None:
        """It never was open."""
