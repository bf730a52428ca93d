"""The wall around everything that runs in one checkout: sessions, gates, and Ralph's own git."""

import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from ralph.adapters.sandbox import belongings
from ralph.adapters.sandbox.bubblewrap import LATER, NAMELESS
from ralph.adapters.sandbox.desk import Desk, look_after_desks
from ralph.adapters.sandbox.guard import Watch, look_after_the_dead
from ralph.adapters.sandbox.launching import STARTED
from ralph.adapters.sandbox.searching import out_of_reach
from ralph.adapters.sandbox.terrain import missing, survey
from ralph.adapters.sandbox.traps import Traps
from ralph.core.ending import Exit
from ralph.core.environment import without_secrets
from ralph.core.errors import CannotWrite, Unavailable
from ralph.core.fence import ALLOWED, Absent, Access, Fence, Network, Place, is_inside
from ralph.core.hidden import is_agents, obeyed_in
from ralph.ports.executor import Captured, Command, LimitedCaptures
from ralph.ports.sandbox import Sandbox

TRIES: Final = 5
"""While somebody takes a folder full of sockets away, there is one fewer at every look."""

RUNS_OUTSIDE: Final = (
    "settings.json",
    "settings.local.json",
    "config.toml",
    "hooks.json",
    "mcp.json",
    "hooks",
    "plugins",
    "commands",
    "agents",
    "skills",
)
"""In a person's own folder of an agent: what would run at its next start."""


class Around:
    """A command behind the wall."""

    def __init__(self, command: Command, temp: str = "") -> None:
        self.command = command
        self.warnings: list[str] = []
        self._mark = os.path.join(temp, STARTED) if temp else ""

    @property
    def has_started(self) -> bool:
        """Has the wall stood, and the command begun?"""
        return not self._mark or os.path.lexists(self._mark)


class CheckoutWall:
    """A `Wall`, as long as it is entered."""

    stands = True

    def __init__(
        self, sandbox: Sandbox, fence_at: Callable[[str], Fence], here: str, state: str
    ) -> None:
        self.sandbox = sandbox
        self.fence = fence_at(here)
        """Around the person's own checkout."""
        self.own_fence = self.fence
        """For short commands of our own, which share a temporary folder."""
        self.warnings: list[str] = []
        """What was found when it was built."""
        self._fence_at = fence_at
        self._fences: dict[tuple[str, int], Fence] = {}
        self._seen: dict[str, Traps] = {}
        """What was found in a checkout after the last command there."""
        self._state = state
        self._stack = contextlib.ExitStack()

    @property
    def name(self) -> str:
        return self.sandbox.name

    @property
    def gaps(self) -> Sequence[str]:
        """What it does not stop; what only a shared network lets through, where there is one."""
        is_open = self.fence.network is Network.ON
        return [gap for gap in self.sandbox.gaps if gap != LATER and (is_open or gap != NAMELESS)]

    @property
    def stands_in(self) -> bool:
        return self.sandbox.stands_in

    def __enter__(self) -> "CheckoutWall":
        """Make what must be there, and see to what the last one has left."""
        belongings.remove_abandoned()
        self.warnings += look_after_the_dead(self._state)
        self.warnings += look_after_desks(self._state)
        self._prepare(self.fence)
        folder = self._stack.enter_context(belongings.a_folder())
        self.own_fence = replace(self.fence, temp=os.path.join(folder, "tmp"))
        self.warnings += [
            f"{path} is a symbolic link, so a session could put another one in its place"
            for path in survey(self.fence, os.defpath).links
        ]
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""
        self._stack.close()

    def _prepare(self, fence: Fence) -> None:
        for place in fence.places:
            if place.planned:
                _make(place.path)
        holding = belongings.Holding(self._state)
        self._stack.callback(holding.give_back)
        holding.take(missing(fence, Absent.FOLDER))

    @contextlib.contextmanager
    def around(self, command: Command, *, home: str = "") -> Iterator[Around]:
        """With a temporary folder of its own, gone afterwards."""
        with belongings.a_folder() as folder:
            fence = self._own(self._fence_of(command.cwd), folder, home)
            seen = self._seen.get(fence.top)
            watch = Watch(self._state, fence, seen, is_weak=self.sandbox.stands_in)
            desk = Desk(self._state, fence) if self.sandbox.shows_others else None
            shown = desk.around(fence) if desk is not None else fence
            inside = Around(self.sandbox.wrap(command, shown), fence.temp)
            try:
                yield inside
            finally:
                inside.warnings += desk.clear() if desk is not None else ()
                warnings, self._seen[fence.top] = watch.end()
                inside.warnings += warnings

    def _fence_of(self, cwd: str) -> Fence:
        """Of the person's own checkout, or of one that was made for a session."""
        # A task's checkout may be removed, and made again at the same place.
        which = (cwd, os.stat(cwd).st_ino if os.path.isdir(cwd) else 0)
        if which not in self._fences:
            fence = self._fence_at(cwd)
            self._fences[which] = self.fence if fence.top == self.fence.top else fence
            if self._fences[which] is fence:
                self._prepare(fence)
        return self._fences[which]

    def guards(self, path: str) -> bool:
        """May sessions not change it?"""
        return self.fence.access(os.path.join(self.fence.top, path)) is not Access.WRITE

    def may_add(self, path: str) -> bool:
        """May a session put a file of that name into git?"""
        if obeyed_in(path) is None and not is_agents(path):
            return True
        place = self.fence.place(os.path.join(self.fence.top, path))
        return place is not None and place.why == ALLOWED

    def has_failed(self, exit_: Exit) -> str:
        """Could the wall itself not be built?"""
        return self.sandbox.has_failed(exit_)

    def _own(self, fence: Fence, folder: str, home: str) -> Fence:
        """The fence with what belongs to one command alone."""
        fence = replace(fence, temp=os.path.join(folder, "tmp"))
        if home:
            fence = fence.with_places(*_home(home, self._state))
        if fence.network is Network.PROXY:
            net = os.path.join(folder, "net")
            os.mkdir(net, 0o700)
            fence = replace(
                fence,
                proxy=os.path.join(net, "proxy"),
                port=_free_port(),
                doors=(*fence.doors, net),
            ).with_places(Place(path=net, access=Access.READ, why="the way to the proxy"))
        return fence


def _home(home: str, state: str) -> Iterator[Place]:
    why = "this session's folder for its agent"
    yield Place(path=home, access=Access.WRITE, why=why)
    if is_inside(home, state):
        return
    # A login in the key chain belongs to the folder's name: then it is the person's own.
    for beside in (f"{home}.json", f"{home}.json.backup"):
        yield Place(path=beside, access=Access.WRITE, why=why)
    for name in RUNS_OUTSIDE:
        path = os.path.join(home, name)
        yield Place(path=path, access=Access.READ, why="it runs when you start the agent")


def _make(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


class NoWall:
    """A `Wall` that is none. What would stop git is taken away after each command all the same, if
    it is known where to look."""

    name = "off"
    stands = False

    def __init__(
        self, fence_at: Callable[[str], Fence | None] = lambda _: None, state: str = ""
    ) -> None:
        self.warnings: Sequence[str] = look_after_the_dead(state) if state else ()
        self._fence_at = fence_at
        self._state = state
        self._seen: dict[str, Traps] = {}

    @contextlib.contextmanager
    def around(self, command: Command, *, home: str = "") -> Iterator[Around]:
        """As it is."""
        del home
        inside = Around(command)
        fence = self._fence_at(command.cwd)
        if fence is None:
            yield inside
            return
        watch = Watch(self._state, fence, self._seen.get(fence.top), is_open=True)
        try:
            yield inside
        finally:
            warnings, self._seen[fence.top] = watch.end()
            inside.warnings += warnings

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


class Inside:
    """Short commands of ours behind the wall: git, in a tree that an agent wrote.

    Its configuration, attributes and nested repositories may name programs, and git runs them.
    """

    def __init__(self, executor: LimitedCaptures, sandbox: Sandbox, fence: Fence) -> None:
        self._executor = executor
        self._sandbox = sandbox
        self._fence = fence

    def capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 120.0,
    ) -> Captured:
        """Behind the wall."""
        # What an agent planted may run in there, and would look around.
        kept = without_secrets(os.environ if env is None else env)
        kept["PATH"] = out_of_reach(kept.get("PATH", os.defpath), self._fence)
        command = Command(argv=tuple(argv), cwd=cwd, env=kept, stdin=stdin)
        why = ""
        for _ in range(TRIES):
            got, why = self._try(command, timeout_s)
            if not why:
                return got
            # Something that we had seen is gone meanwhile, so look again.
            survey.cache_clear()
        raise Unavailable(f"the sandbox cannot start: {why}")

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        """As ever."""
        self._executor.wait(why, seconds, is_over)

    def _try(self, command: Command, timeout_s: float) -> tuple[Captured, str]:
        inside = self._sandbox.wrap(command, self._fence)
        got = self._executor.capture(
            inside.argv,
            cwd=inside.cwd,
            env=inside.env,
            stdin=inside.stdin,
            timeout_s=timeout_s,
            limits=inside.limits,
        )
        if got.code == 0:
            return got, ""
        said = got.stderr.decode("utf-8", "replace")
        return got, self._sandbox.has_failed(Exit(code=got.code, stderr=said))
