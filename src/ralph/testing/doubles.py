"""Doubles of the ports, for tests of the engine: no processes, no git, no waiting."""

from collections.abc import Callable, Mapping, Sequence

from ralph.core.agent_events import AgentEvent
from ralph.core.ending import Exit, Stop
from ralph.core.events import Event, Recorded
from ralph.core.ids import TaskId
from ralph.core.snapshot import Changes, Snapshot
from ralph.ports.executor import Captured, Command, Listener, Timeouts
from ralph.ports.store import Claim, Session
from ralph.ports.workspace import Committed
from ralph.testing.clock import FrozenClock

Play = Callable[[Command, Listener], Exit]
"""What a process does: speak to its listener, and exit."""


class FakeExecutor:
    """Plays functions instead of starting processes; sleeping only moves the clock."""

    def __init__(self, clock: FrozenClock) -> None:
        self.clock = clock
        self.sessions: list[Play] = []
        self.gates: dict[str, list[int]] = {}
        """Exit codes by gate command, in order; the last one repeats."""
        self.slept: list[float] = []
        self.swept: list[str] = []

    def run(
        self,
        command: Command,
        *,
        log: str,
        timeouts: Timeouts,
        listener: Listener,
        line_limit: int = 64 * 1024,
    ) -> Exit:
        """A gate by its command, anything else by the next session of the script."""
        del log, timeouts, line_limit
        gate = self.gates.get(command.argv[-1])
        if gate is not None:
            if stop := listener.tick():
                return Exit(code=-15, stop=stop)
            return Exit(code=gate.pop(0) if len(gate) > 1 else gate[0])
        assert self.sessions, "the script has no session left"
        return self.sessions.pop(0)(command, listener)

    def capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 120.0,
    ) -> Captured:
        """Nothing here needs git."""
        raise NotImplementedError

    def watch(self, fd: int, ready: Callable[[], None]) -> None:
        """Nobody knocks."""

    def unwatch(self, fd: int) -> None:
        """Nobody knocks."""

    def sleep(self, seconds: float, tick: Callable[[], bool]) -> None:
        """Time passes at once."""
        if not tick():
            self.slept.append(seconds)
            self.clock.advance(seconds)

    def sweep(self, marker: str) -> int:
        """Remember whom it was asked to end."""
        self.swept.append(marker)
        return 0


def says(text: str, *, code: int = 0, does: Callable[[], object] | None = None) -> Play:
    """A session that may do something, says something and exits."""

    def play(command: Command, listener: Listener) -> Exit:
        if does is not None:
            does()
        said = text.replace("TASK", command.env["RALPH_TASK_ID"])
        listener.output(said.encode())
        stop = listener.tick()
        return Exit(code=code, stop=stop, duration_s=1.0)

    return play


def is_stopped(stop: Stop) -> Play:
    """A session that Ralph itself ends."""

    def play(command: Command, listener: Listener) -> Exit:
        del command, listener
        return Exit(code=0, stop=stop)

    return play


class FakeWorkspace:
    """A checkout of two dictionaries: what is committed, and what is on disk."""

    path = "/checkout"

    def __init__(self) -> None:
        self.head: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.commits: list[str] = ["c0"]
        self.saved: dict[str, dict[str, str]] = {}
        self._trees: dict[str, dict[str, str]] = {}

    def edit(self, name: str, text: str = "x") -> None:
        """What an agent, or a person, does."""
        self.files[name] = text

    def snapshot(self) -> Snapshot:
        """Trees are remembered under the text of their content."""
        dirty = self._differing(self.head, self.files)
        tree = repr(sorted(self.files.items())) if dirty else ""
        head = self.commits[-1]
        self._trees[tree or head] = dict(self.files)
        return Snapshot(head=head, branch="main", tree=tree, dirty=dirty)

    @staticmethod
    def _differing(old: dict[str, str], new: dict[str, str]) -> tuple[str, ...]:
        return tuple(sorted(n for n in old.keys() | new.keys() if old.get(n) != new.get(n)))

    def _tree(self, snapshot: Snapshot) -> dict[str, str]:
        return self._trees[snapshot.tree or snapshot.head]

    def changes(self, since: Snapshot, now: Snapshot) -> Changes:
        """Commits by name, files by content."""
        new = self.commits[self.commits.index(since.head) + 1 :]
        return Changes(
            commits=tuple(new),
            files=self._differing(self._tree(since), self._tree(now)),
            left=now.dirty,
        )

    def commit(
        self, since: Snapshot, upto: Snapshot, message: str, keep: frozenset[str]
    ) -> Committed:
        """Everything changed in between, less what is a person's."""
        names = [n for n in self.changes(since, upto).files if n not in keep | set(since.dirty)]
        names = [n for n in names if self.head.get(n) != self._tree(upto).get(n)]
        if not names:
            return Committed()
        for name in names:
            self.head[name] = self._tree(upto)[name]
        self.commits.append(message.splitlines()[0])
        return Committed(commit=self.commits[-1], files=tuple(names))

    def save(self, ref: str, message: str) -> str:
        """Keep a copy."""
        del message
        self.saved[ref] = dict(self.files)
        return ref

    def restore(self, to: Snapshot) -> None:
        """Files and commits as they were."""
        self.files = dict(self._tree(to))
        self.commits = self.commits[: self.commits.index(to.head) + 1]

    def close(self) -> None:
        """Nothing to give up."""


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

    def close(self) -> None:
        """No terminal to leave."""


class ShutDoor:
    """A door that nobody uses."""

    def open_for(self, session: Session, claim: Claim) -> Mapping[str, str]:
        """No variables."""
        del session, claim
        return {}

    def shut(self) -> None:
        """It never was open."""
