"""The system's process table: /proc on Linux, psutil elsewhere. By it the processes that a session
left running are found, also outside of its process group, and ended."""

import contextlib
import functools
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple

FLAGS: Final = 6
"""Of /proc/PID/stat, behind the name."""
EXITING: Final = 0x4
KILLED: Final = 1 << (signal.SIGKILL - 1)


class ProcessInfo(NamedTuple):
    """One process. The pid alone may be reused; together with the start time it is unique."""

    pid: int
    parent: int
    group: int
    session: int
    start: str
    zombie: bool


class ProcessTable:
    """The processes of a machine; what has gone, or is not ours to see, is left out.

    This one sees nothing: for where /proc is another pid namespace's, and its numbers would name
    the wrong processes."""

    exact = False
    """Whether a process's start never changes, whatever becomes of the clock."""

    def look(self, pid: int) -> ProcessInfo | None:
        del pid
        return None

    def look_at(self, pids: Iterable[int]) -> list[ProcessInfo]:
        return list(filter(None, map(self.look, pids)))

    def pids(self) -> list[int]:
        return []

    def children(self, pid: int) -> list[int]:
        del pid
        return []

    def environ(self, pid: int) -> bytes:
        """Return `NAME=value` entries, each followed by NUL; empty if they cannot be read."""
        del pid
        return b""

    def is_dying(self, pid: int) -> bool:
        """Return whether it is exiting already, and so was not left behind."""
        del pid
        return False


class ProcFs(ProcessTable):
    """Linux."""

    exact = True

    def __init__(self) -> None:
        # Some kernels are built without it.
        self._lists_children = os.path.exists(f"/proc/self/task/{os.getpid()}/children")

    def look(self, pid: int) -> ProcessInfo | None:
        fields = self._stat(pid)
        if len(fields) < 20:
            return None
        return ProcessInfo(
            pid=pid,
            parent=int(fields[1]),
            group=int(fields[2]),
            session=int(fields[3]),
            start=fields[19].decode(),
            zombie=fields[0] in (b"Z", b"X"),
        )

    def pids(self) -> list[int]:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]

    def children(self, pid: int) -> list[int]:
        if not self._lists_children:
            return [one.pid for one in self.look_at(self.pids()) if one.parent == pid]
        found: list[int] = []
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                found += map(int, read_proc(f"/proc/{pid}/task/{task}/children").split())
        return found

    def environ(self, pid: int) -> bytes:
        return read_proc(f"/proc/{pid}/environ")

    def is_dying(self, pid: int) -> bool:
        # Exiting, or killed and not told yet: what ends with its parent is that for a moment.
        fields = self._stat(pid)
        if len(fields) > FLAGS and int(fields[FLAGS]) & EXITING:
            return True
        for line in read_proc(f"/proc/{pid}/status").splitlines():
            if line.startswith((b"SigPnd:", b"ShdPnd:")) and int(line[7:], 16) & KILLED:
                return True
        return False

    def _stat(self, pid: int) -> list[bytes]:
        stat = read_proc(f"/proc/{pid}/stat")
        # The name may hold anything, blanks and parentheses too; after its last one come numbers.
        return stat[stat.rfind(b")") + 2 :].split()


class Psutil(ProcessTable):
    """macOS and the rest."""

    # psutil moves start times along when the clock is set.
    exact = False

    def look(self, pid: int) -> ProcessInfo | None:
        import psutil  # type: ignore[import-untyped]

        try:
            process = psutil.Process(pid)
            with process.oneshot():
                return ProcessInfo(
                    pid=pid,
                    parent=process.ppid(),
                    group=os.getpgid(pid),
                    session=os.getsid(pid),
                    start=f"{process.create_time():.2f}",
                    zombie=process.status() == psutil.STATUS_ZOMBIE,
                )
        except (psutil.Error, OSError):
            return None

    def pids(self) -> list[int]:
        import psutil

        return list(psutil.pids())

    def children(self, pid: int) -> list[int]:
        import psutil

        try:
            return [child.pid for child in psutil.Process(pid).children()]
        except psutil.Error:
            return []

    def environ(self, pid: int) -> bytes:
        import psutil

        try:
            variables = psutil.Process(pid).environ()
        except (psutil.Error, OSError):
            return b""
        return b"".join(os.fsencode(f"{name}={value}\0") for name, value in variables.items())


def this_table() -> ProcessTable:
    """The one that works here."""
    if not sys.platform.startswith("linux"):
        return Psutil()
    try:
        seen_as = os.readlink("/proc/self")
    except OSError:
        return ProcessTable()
    return ProcFs() if seen_as == str(os.getpid()) else ProcessTable()


def descendants(table: ProcessTable, roots: list[ProcessInfo]) -> list[ProcessInfo]:
    """The roots and all processes below them."""
    found: dict[int, ProcessInfo] = {}
    left = list(roots)
    while left:
        process = left.pop()
        if process.pid not in found:
            found[process.pid] = process
            left += table.look_at(table.children(process.pid))
    return list(found.values())


def ancestors(table: ProcessTable) -> set[int]:
    """This process and all above it."""
    above: set[int] = set()
    pid = os.getpid()
    while pid > 0 and pid not in above:
        above.add(pid)
        process = table.look(pid)
        pid = process.parent if process is not None else 0
    return above


def has_variable(environ: bytes, entry: bytes) -> bool:
    return entry in environ and b"\0" + entry + b"\0" in b"\0" + environ


def read_proc(path: str) -> bytes:
    """The content of a file of the system; empty if it cannot be read, or its process has ended."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


PR_SET_CHILD_SUBREAPER: Final = 36


@functools.cache
def become_subreaper() -> bool:
    """Make this process the one that orphans below it fall to. Linux only."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    return prctl is not None and prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def first_dead() -> int | None:
    """A child that waits to be reaped; 0 if all are alive, None if there is none. One system call,
    so that a session that left nothing costs nothing."""
    try:
        dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return dead.si_pid if dead is not None else 0


def reap(pid: int) -> bool:
    """Reap a dead child. False: threads of it are still alive."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


MARKER: Final = "RALPH_SESSION"
TRIES: Final = (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL)
ROUNDS: Final = 50
"""How often processes that start again and again are looked for."""
REAPED_AT_ONCE: Final = 1000


class SessionTraces:
    """How to recognize a session's processes."""

    def __init__(self, table: ProcessTable, env_marker: str | None, *, adopting: bool) -> None:
        self._table = table
        self._marker = os.fsencode(env_marker) if env_marker is not None else None
        # No process can enter another session; those in one of these are not the child's.
        self.sessions = {os.getsid(0)}
        self._before: set[tuple[int, str]] = set()
        if adopting and first_dead() is not None:
            for process in table.look_at(table.children(os.getpid())):
                self._before.add((process.pid, process.start))
                self.sessions.add(process.session)

    def is_foreign(self, process: ProcessInfo) -> bool:
        """Is this child of ours none of the session's?"""
        # Its environment proves nothing: a session can give any to what it leaves behind.
        return (process.pid, process.start) in self._before or process.session in self.sessions

    def is_marked(self, process: ProcessInfo) -> bool:
        return self._marker is not None and has_variable(
            self._table.environ(process.pid), self._marker
        )


def signal_group(group: int, number: signal.Signals) -> None:
    """Signal a whole group, the stopped ones too."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        if number != signal.SIGKILL:
            # A stopped process gets no signal before it goes on.
            os.killpg(group, signal.SIGCONT)


LOOK_AGAIN_S: Final = 0.01
SignalToSend = tuple[ProcessInfo, signal.Signals]


def signal_and_wait(table: ProcessTable, notices: Sequence[SignalToSend], grace_s: float) -> None:
    """Send each its signal; return when all are gone, or when the grace is over."""
    signalled = [process for process, number in notices if _signal(table, process, number)]
    until = time.monotonic() + grace_s
    while signalled and time.monotonic() < until:
        time.sleep(LOOK_AGAIN_S)
        seen = ((process, table.look(process.pid)) for process in signalled)
        signalled = [old for old, now in seen if now and now.start == old.start and not now.zombie]


def _signal(table: ProcessTable, process: ProcessInfo, number: signal.Signals) -> bool:
    now = table.look(process.pid)
    if now is None or now.start != process.start:
        return False  # another one has its pid
    with contextlib.suppress(OSError):
        os.kill(process.pid, number)
        if number != signal.SIGKILL:
            os.kill(process.pid, signal.SIGCONT)
        return True
    return False


class LeftoverSweeper:
    def __init__(
        self, grace_s: float, table: ProcessTable | None = None, *, adopting: bool | None = None
    ) -> None:
        self._grace_s = grace_s
        self._table = this_table() if table is None else table
        self._adopting = become_subreaper() if adopting is None else adopting

    def before(self, env_marker: str | None) -> SessionTraces:
        """Take note of who is there, before the child is."""
        return SessionTraces(self._table, env_marker, adopting=self._adopting)

    def reap_orphans(self, child: int, traces: SessionTraces) -> None:
        """Reap orphans while the session goes on.

        Each `git commit` may leave a dead daemon to us; thousands would use up the machine's pids.
        """
        if not self._adopting:
            return
        for _ in range(REAPED_AT_ONCE):
            pid = first_dead()
            if not pid or pid == child:
                return
            process = self._table.look(pid)
            if process is None or traces.is_foreign(process) or not reap(pid):
                return

    def reap_orphans_of(self, children: Collection[int]) -> None:
        """Reap what short commands left dead: a sandbox leaves its first process to us."""
        if not self._adopting or not first_dead():
            return
        for process in self._table.look_at(self._table.children(os.getpid())):
            is_orphan = process.group in children and process.group != process.pid
            if is_orphan and process.zombie:
                reap(process.pid)

    def after(self, child: int, traces: SessionTraces) -> int:
        """End everything that the child left; return how many."""
        if type(self._table) is ProcessTable:
            # It sees nothing: the child's group is all that we can reach.
            signal_group(child, signal.SIGKILL)
        return self._end(lambda: self.left_by(child, traces))

    def left_by(self, child: int, traces: SessionTraces) -> list[ProcessInfo]:
        """Living processes of the child's session, wherever they went."""
        if not self._adopting:
            return self._all_processes(
                lambda one: child in (one.group, one.session) or traces.is_marked(one)
            )
        orphans: list[ProcessInfo] = []
        reaped = True
        # One that died while we looked has left its own children to us: look again.
        while reaped and first_dead() is not None:
            orphans, reaped = self._orphans(traces)
        # A dead process is reaped by its parent. A dead child of ours that cannot be reaped still
        # has threads at work, so it counts.
        left = descendants(self._table, orphans)
        return [process for process in left if not process.zombie or process in orphans]

    def _orphans(self, traces: SessionTraces) -> tuple[list[ProcessInfo], bool]:
        found, reaped = [], False
        for process in self._table.look_at(self._table.children(os.getpid())):
            if traces.is_foreign(process):
                continue
            if process.zombie and reap(process.pid):
                reaped = True
            else:
                found.append(process)
        return found, reaped

    def _all_processes(self, is_wanted: Callable[[ProcessInfo], bool]) -> list[ProcessInfo]:
        """Living processes and what they started; never us or those above us."""
        spared = ancestors(self._table)
        roots = [
            process
            for process in self._table.look_at(self._table.pids())
            if process.pid not in spared and not process.zombie and is_wanted(process)
        ]
        return [process for process in descendants(self._table, roots) if not process.zombie]

    def marked(self, marker: str) -> int:
        """End everything with this variable, and what it started."""
        entry = os.fsencode(marker)
        return self._end(
            lambda: self._all_processes(
                lambda one: has_variable(self._table.environ(one.pid), entry)
            )
        )

    def _end(self, find: Callable[[], list[ProcessInfo]]) -> int:
        tried: dict[tuple[int, str], int] = {}
        dying: set[tuple[int, str]] = set()
        for _ in range(ROUNDS):
            notices: list[SignalToSend] = []
            for process in find():
                key = (process.pid, process.start)
                if key not in tried and self._table.is_dying(process.pid):
                    dying.add(key)
                if (tries := tried.get(key, 0)) < len(TRIES):
                    notices.append((process, TRIES[tries]))
                    tried[key] = tries + 1
            if not notices:
                break
            signal_and_wait(self._table, notices, self._grace_s)
        # What ends with its parent was waited for, not left behind.
        return len(tried.keys() - dying)
