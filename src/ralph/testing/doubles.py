"""Doubles of the ports, for tests of the engine: no processes, no git, no waiting."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.ending import Exit, Stop
from ralph.core.errors import UnusableData
from ralph.core.events import Event, Recorded
from ralph.core.ids import TaskId
from ralph.core.policy.leash import Leash
from ralph.core.snapshot import Changes, Snapshot
from ralph.ports.agent import Home
from ralph.ports.claims import Claim
from ralph.ports.executor import Captured, Command, Listener, Timeouts
from ralph.ports.history import Session
from ralph.ports.library import Page
from ralph.ports.workspace import Committed, Withheld, Workspace
from ralph.testing.clock import FrozenClock

Play = Callable[[Command, Listener], Exit]
"""What a process does: speak to its listener, and exit."""


class FakeExecutor:
    """Plays functions instead of starting processes; sleeping only moves the clock."""

    def __init__(self, clock: FrozenClock) -> None:
        self.clock = clock
        self.sessions: list[Play] = []
        self.otherwise: Play | None = None
        """What sessions do when the script has none left."""
        self.gates: dict[str, list[int | Play]] = {}
        """What gates do, by their command, in order; the last one repeats."""
        self.slept: list[float] = []
        self.meanwhile: Callable[[], object] | None = None
        """What happens while a run sleeps."""
        self.swept: list[str] = []
        self.sent: list[tuple[str, ...]] = []
        """Programs that were started and let go."""
        self.conversations: list[Callable[[Command], int]] = []
        self.talked: list[Command] = []
        """Programs that had the terminal."""

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
            does = gate.pop(0) if len(gate) > 1 else gate[0]
            return (
                exits(does)(command, listener) if isinstance(does, int) else does(command, listener)
            )
        session = self.sessions.pop(0) if self.sessions else self.otherwise
        assert session is not None, "the script has no session left"
        return session(command, listener)

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
        if self.meanwhile is not None:
            self.meanwhile()
        if not tick():
            self.slept.append(seconds)
            self.clock.advance(seconds)

    def sweep(self, marker: str) -> int:
        """Remember whom it was asked to end."""
        self.swept.append(marker)
        return 0

    def converse(self, command: Command) -> int:
        """Whatever the person and the program do together."""
        assert self.conversations, "the script has no conversation left"
        self.talked.append(command)
        return self.conversations.pop(0)(command)

    def send(self, argv: Sequence[str], *, cwd: str = "/", stdin: bytes = b"") -> None:
        """Remember it."""
        del cwd, stdin
        self.sent.append(tuple(argv))

    def keep(self, argv: Sequence[str]) -> None:
        """Remember it."""
        self.sent.append(tuple(argv))


def exits(code: int) -> Play:
    """A gate that says nothing and exits."""

    def play(command: Command, listener: Listener) -> Exit:
        del command
        stop = listener.tick()
        return Exit(code=-15 if stop else code, stop=stop)

    return play


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


class FakeCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit: a name of its own, what it says, and every file."""

    name: str
    message: str
    files: dict[str, str]


class FakeWorkspace:
    """A checkout of dictionaries: what is committed, and what is on disk."""

    prefix = ""

    def __init__(self, path: str = "/checkout") -> None:
        self.path = path
        self.files: dict[str, str] = {}
        self.history = [FakeCommit(name="c0", message="c0", files={})]
        self.saved: dict[str, dict[str, str]] = {}
        self._made = {"c0": self.history}
        """Every commit that ever was, each with those before it: git forgets none."""
        self._trees: dict[str, dict[str, str]] = {}

    @property
    def head(self) -> dict[str, str]:
        """The files of the last commit."""
        return self.history[-1].files

    @property
    def commits(self) -> list[str]:
        """What the commits say, oldest first."""
        return [commit.message for commit in self.history]

    def edit(self, name: str, text: str = "x") -> None:
        """What an agent, or a person, does."""
        self.files[name] = text

    def throw_away(self, name: str) -> None:
        """What a person does with `git checkout`, or `git clean`."""
        self.files = _patched(self.files, self.head, [name])

    def commit_files(self, message: str, names: Iterable[str]) -> str:
        """What an agent, or a person, does with git."""
        return self._commit(message, self.files, names)

    def adopt(self, history: Sequence[FakeCommit]) -> None:
        """Go to the end of another history; nothing is left of what was here."""
        self.history = list(history)
        self.files = dict(self.head)
        for at, commit in enumerate(history, 1):
            self._made.setdefault(commit.name, list(history[:at]))

    def _commit(self, message: str, files: dict[str, str], names: Iterable[str]) -> str:
        made = FakeCommit(
            name=f"c{len(self._made)}{self.path.removeprefix('/checkout')}",
            message=message,
            files=_patched(self.head, files, names),
        )
        self.history = self._made[made.name] = [*self.history, made]
        return made.name

    def snapshot(self) -> Snapshot:
        """Trees are remembered under the text of their content."""
        return self._seen(self.history[-1], self.files)

    def _seen(self, head: FakeCommit, files: dict[str, str]) -> Snapshot:
        dirty = _differing(head.files, files)
        tree = repr(sorted(files.items())) if dirty else ""
        self._trees[tree or head.name] = dict(files)
        return Snapshot(head=head.name, branch="main", tree=tree, dirty=dirty)

    def _tree(self, snapshot: Snapshot) -> dict[str, str]:
        if not snapshot.tree:
            return self._made[snapshot.head][-1].files
        return self._trees[snapshot.tree]

    def changes(self, since: Snapshot, now: Snapshot) -> Changes:
        """Commits by name, files by content."""
        files, before = _differing(self._tree(since), self._tree(now)), self._made[since.head]
        made = tuple(commit.name for commit in self._made[now.head] if commit not in before)
        left = tuple(name for name in files if name in now.dirty)
        return Changes(commits=made, files=files, left=left)

    def as_of(self, since: Snapshot, now: Snapshot, moment: float) -> Snapshot:
        """No commit knows its time."""
        del since, moment
        return now

    def carry_over(self, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
        """File by file; what they committed stays, and what the session committed below it."""
        old = self._made[base.head][-1]
        head = old if since.head == now.head else self._made[now.head][-1]
        begun = _patched(self._tree(base), head.files, _differing(old.files, head.files))
        theirs = _differing(self._tree(since), self._tree(now))
        files = _patched(begun, self._tree(now), theirs)
        # What they have made as it is committed stays so, wherever the head goes.
        return self._seen(head, _patched(files, head.files, set(theirs) - set(now.dirty)))

    def commit(
        self,
        since: Snapshot,
        upto: Snapshot,
        message: str,
        keep: frozenset[str],
        own: frozenset[str] = frozenset(),
    ) -> Committed:
        """Everything changed in between, less what is a person's, and Ralph's own documents."""
        files = self._tree(upto) | {name: self.files[name] for name in own if name in self.files}
        left = [
            n
            for n in self.changes(since, upto).left
            if self.head.get(n) != files.get(n) and n not in own
        ]
        names = [name for name in left if name not in keep and name not in since.dirty]
        names += [name for name in sorted(own) if self.head.get(name) != files.get(name)]
        if not names:
            return Committed(leftovers=tuple(name for name in left if name not in keep))
        made = self._commit(message.splitlines()[0], files, names)
        return Committed(commit=made, files=tuple(names))

    def exposed(self, since: Snapshot, now: Snapshot) -> tuple[Withheld, ...]:
        """Nobody has secrets here."""
        del since, now
        return ()

    def save(self, ref: str, message: str) -> str:
        """Keep a copy."""
        del message
        self.saved[ref] = dict(self.files)
        return ref

    def put_back(self, to: Snapshot, paths: Sequence[str]) -> None:
        """As they were committed."""
        self.files = _patched(self.files, self._made[to.head][-1].files, paths)

    def is_locked(self) -> bool:
        """Nobody locks a dictionary."""
        return False

    def break_lock(self) -> str:
        raise NotImplementedError

    def restore(self, to: Snapshot) -> None:
        """Files and commits as they were."""
        self.files = dict(self._tree(to))
        self.history = self._made[to.head]

    def close(self) -> None:
        """Nothing to give up."""


def _patched(files: dict[str, str], by: dict[str, str], names: Iterable[str]) -> dict[str, str]:
    mixed = {**files, **{name: by.get(name) for name in names}}
    return {name: text for name, text in mixed.items() if text is not None}


def _differing(old: dict[str, str], new: dict[str, str]) -> tuple[str, ...]:
    return tuple(sorted(n for n in old.keys() | new.keys() if old.get(n) != new.get(n)))


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

    def open_for(self, session: Session, claim: Claim, leash: Leash) -> Mapping[str, str]:
        """No variables."""
        del session, claim, leash
        return {}

    def tell(self, words: str) -> None:
        """Remember it."""
        self.told.append(words)

    def shut(self) -> None:
        """It never was open."""


class FakeLibrary:
    """Files by their paths; those in `troubles` cannot be read."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.troubles: dict[str, str] = {}
        self.times: dict[str, float] = {}
        """When they were written."""

    def read(self, path: str) -> Page:
        """The text, if there is one."""
        if path in self.troubles:
            return Page(trouble=f"{path} {self.troubles[path]}")
        return Page(text=self.pages.get(path))

    def content(self, path: str) -> bytes | None:
        """The text as UTF-8, if there is one."""
        if path in self.troubles:
            raise UnusableData(f"{path} {self.troubles[path]}")
        text = self.pages.get(path)
        return None if text is None else text.encode("utf-8", "surrogateescape")

    def exists(self, path: str) -> bool:
        """Also what cannot be read."""
        return path in self.pages or path in self.troubles

    def put(self, path: str, content: bytes) -> None:
        """Nobody else is there."""
        self.pages[path] = content.decode("utf-8", "surrogateescape")

    def draw(self, path: str, pieces: Iterable[bytes]) -> None:
        """Nobody else is there."""
        self.pages[path] = b"".join(pieces).decode()

    def extend(self, path: str, more: Callable[[bytes], Iterable[bytes]]) -> None:
        """Nobody else is there."""
        before = self.pages.get(path, "").encode()
        self.pages[path] = (before + b"".join(more(before))).decode()

    def remove(self, path: str) -> None:
        """Gone."""
        self.pages.pop(path, None)

    def changed_at(self, path: str) -> float | None:
        """Long ago, unless somebody says otherwise."""
        return self.times.get(path, 0.0) if path in self.pages else None

    def append(self, path: str, text: str, *, fresh: str) -> None:
        """Nobody else is there."""
        self.pages[path] = (self.pages.get(path) or fresh) + text

    def folders(self, path: str) -> list[str]:
        """What stands between the folder and a file."""
        below = [one.removeprefix(f"{path}/") for one in self.pages if one.startswith(f"{path}/")]
        return sorted({one.partition("/")[0] for one in below if "/" in one})

    def files(self, path: str, suffix: str) -> list[str]:
        """What stands directly in the folder."""
        below = [one.removeprefix(f"{path}/") for one in self.pages if one.startswith(f"{path}/")]
        return sorted(one for one in below if "/" not in one and one.endswith(suffix))

    def change(self, path: str, edit: Callable[[str], str]) -> None:
        """Nobody else is there."""
        self.pages[path] = edit(self.pages.get(path, ""))
