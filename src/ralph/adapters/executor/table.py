"""The machine's processes, as far as we may see them: /proc on Linux, psutil elsewhere."""

import contextlib
import os
import signal
import sys
from typing import Final, NamedTuple, Protocol

FLAGS: Final = 6
"""Of /proc/PID/stat, behind the name."""
EXITING: Final = 0x4
KILLED: Final = 1 << (signal.SIGKILL - 1)


class Process(NamedTuple):
    """One process. Its pid alone can be another one's tomorrow; with its start it cannot."""

    pid: int
    parent: int
    group: int
    session: int
    start: str
    zombie: bool


class Table(Protocol):
    """Who is there. What has gone, or is not ours to see, is left out."""

    exact: bool
    """A process's start never changes, whatever becomes of the clock."""

    def look(self, pid: int) -> Process | None: ...
    def pids(self) -> list[int]: ...
    def children(self, pid: int) -> list[int]: ...
    def environ(self, pid: int) -> bytes:
        """`NAME=value` entries, each followed by NUL; empty if they cannot be read."""
        ...

    def is_dying(self, pid: int) -> bool:
        """Is it on its way out already, so that nobody has left it behind?"""
        ...


class ProcFs:
    """Linux."""

    exact = True

    def __init__(self) -> None:
        # Some kernels are built without it.
        self._lists_children = os.path.exists(f"/proc/self/task/{os.getpid()}/children")

    def look(self, pid: int) -> Process | None:
        """Read /proc/PID/stat."""
        stat = _read(f"/proc/{pid}/stat")
        # The name may hold anything, blanks and parentheses too; after its last one come numbers.
        fields = stat[stat.rfind(b")") + 2 :].split()
        if len(fields) < 20:
            return None
        return Process(
            pid=pid,
            parent=int(fields[1]),
            group=int(fields[2]),
            session=int(fields[3]),
            start=fields[19].decode(),
            zombie=fields[0] in (b"Z", b"X"),
        )

    def pids(self) -> list[int]:
        """Everyone in this pid namespace."""
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]

    def children(self, pid: int) -> list[int]:
        """Of all its threads."""
        if not self._lists_children:
            return [p.pid for p in map(self.look, self.pids()) if p is not None and p.parent == pid]
        found: list[int] = []
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                found += map(int, _read(f"/proc/{pid}/task/{task}/children").split())
        return found

    def environ(self, pid: int) -> bytes:
        """As it was when the program started."""
        return _read(f"/proc/{pid}/environ")

    def is_dying(self, pid: int) -> bool:
        """Exiting, or killed and not told yet: what ends with its parent is that for a moment."""
        stat = _read(f"/proc/{pid}/stat")
        fields = stat[stat.rfind(b")") + 2 :].split()
        if len(fields) > FLAGS and int(fields[FLAGS]) & EXITING:
            return True
        for line in _read(f"/proc/{pid}/status").splitlines():
            if line.startswith((b"SigPnd:", b"ShdPnd:")) and int(line[7:], 16) & KILLED:
                return True
        return False


class Psutil:
    """macOS and the rest."""

    # psutil moves start times along when the clock is set.
    exact = False

    def look(self, pid: int) -> Process | None:
        """Ask psutil, and the kernel for group and session."""
        import psutil  # type: ignore[import-untyped]

        try:
            process = psutil.Process(pid)
            with process.oneshot():
                return Process(
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
        """Everyone."""
        import psutil

        return list(psutil.pids())

    def children(self, pid: int) -> list[int]:
        """Direct ones."""
        import psutil

        try:
            return [child.pid for child in psutil.Process(pid).children()]
        except psutil.Error:
            return []

    def environ(self, pid: int) -> bytes:
        """Of our own user's processes; the system's own programs do not show theirs."""
        import psutil

        try:
            variables = psutil.Process(pid).environ()
        except (psutil.Error, OSError):
            return b""
        return b"".join(os.fsencode(f"{name}={value}\0") for name, value in variables.items())

    def is_dying(self, pid: int) -> bool:
        """Cannot tell."""
        del pid
        return False


class Nobody:
    """When /proc is another pid namespace's: its numbers would name the wrong processes."""

    exact = False

    def look(self, pid: int) -> Process | None:
        """Cannot tell."""
        del pid
        return None

    def pids(self) -> list[int]:
        """Cannot tell."""
        return []

    def children(self, pid: int) -> list[int]:
        """Cannot tell."""
        del pid
        return []

    def environ(self, pid: int) -> bytes:
        """Cannot tell."""
        del pid
        return b""

    def is_dying(self, pid: int) -> bool:
        """Cannot tell."""
        del pid
        return False


def this_table() -> Table:
    """The one that works here."""
    if not sys.platform.startswith("linux"):
        return Psutil()
    try:
        seen_as = os.readlink("/proc/self")
    except OSError:
        return Nobody()
    return ProcFs() if seen_as == str(os.getpid()) else Nobody()


def descendants(table: Table, roots: list[Process]) -> list[Process]:
    """The roots and everyone below them."""
    found: dict[int, Process] = {}
    left = list(roots)
    while left:
        process = left.pop()
        if process.pid not in found:
            found[process.pid] = process
            left += filter(None, map(table.look, table.children(process.pid)))
    return list(found.values())


def ancestors(table: Table) -> set[int]:
    """This process and everyone above it."""
    above: set[int] = set()
    pid = os.getpid()
    while pid > 0 and pid not in above:
        above.add(pid)
        process = table.look(pid)
        pid = process.parent if process is not None else 0
    return above


def holds(environ: bytes, entry: bytes) -> bool:
    """Is `entry` one of the variables?"""
    return entry in environ and b"\0" + entry + b"\0" in b"\0" + environ


def _read(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        data = chunk = os.read(fd, 65536)
        while chunk:
            chunk = os.read(fd, 65536)
            data += chunk
    except OSError:
        # It ended while we read.
        return b""
    else:
        return data
    finally:
        os.close(fd)
