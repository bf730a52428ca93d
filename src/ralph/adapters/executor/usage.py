"""Watches what a command uses, and says which limit it is over.

Looked at a few times a second. Reading /proc costs some ten microseconds for each of its processes;
files are counted only once the disk has lost more than it may use.
"""

import contextlib
import functools
import os
import stat
import time
from collections.abc import Iterator
from typing import Final

from ralph.adapters.executor.control_group import ControlGroup
from ralph.adapters.executor.table import Table, this_table
from ralph.core.resources import (
    Resources,
    too_many_files,
    too_many_processes,
    too_much_disk,
    too_much_memory,
)

EVERY_S: Final = 0.35
LOOK_AT_FILES_S: Final = 5.0
LOOK_ANYWAY_S: Final = 8.0
"""Others may free as much room as it takes. Doubled after each look."""
MOST_FILES: Final = 300_000
"""So many are counted; whoever has made more has made too many."""
INODE_SHARE: Final = 0.25
"""Of the files that a disk has room for; some file systems have no such number."""
CLOCK_S: Final = 1.0
"""The clock of a file system is a little behind ours."""
KIB: Final = 1024

Disks = dict[int, tuple[str, int, int]]
OF_A_CONTAINER: Final = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


class Usage:
    """Of one command, from its start to its end."""

    def __init__(
        self, limits: Resources, pid: int, *, now: float, log: str = "", brief: bool = False
    ) -> None:
        """`brief`: it is over before anybody looks, so nothing is prepared."""
        self._limits = limits
        self._pid = pid
        self._log = log
        self._group = None if brief else ControlGroup.around(pid, limits)
        # What is over at once has used nothing.
        self._next_at = now + EVERY_S
        self._next_files_at = now
        self._files_every_s = LOOK_AT_FILES_S
        self._anyway_at = now + LOOK_ANYWAY_S
        self._anyway_every_s = LOOK_ANYWAY_S
        self._began = time.time() - CLOCK_S
        self._disks: Disks | None = None if brief else self._look_at_disks()

    def over(self, now: float) -> str:
        """Which limit is passed, in words; empty if none is."""
        if now < self._next_at:
            return ""
        self._next_at = now + EVERY_S
        if self._disks is None:
            self._disks = self._look_at_disks()
        said = self._group.over() if self._group is not None else self._processes()
        return said or self._disk(now)

    def close(self) -> str:
        """End what is left in its group; which limit the kernel ended it for."""
        if self._group is None:
            return ""
        said = self._group.over()
        self._group.close()
        return said

    @functools.cached_property
    def _table(self) -> Table:
        return this_table()

    def _look_at_disks(self) -> Disks:
        """By their number: a folder on each, and how much room there is."""
        found: Disks = {}
        for folder in (*self._limits.folders, *filter(None, (os.path.dirname(self._log),))):
            with contextlib.suppress(OSError):
                found[os.stat(folder).st_dev] = (folder, *_room(folder))
        return found

    def _processes(self) -> str:
        limits = self._limits
        if not (limits.processes or limits.memory):
            return ""
        count, memory, pids = 0, 0, []
        for pid in self._family():
            threads, used = _read_status(pid)
            count += threads
            memory += used
            pids.append(pid)
            if limits.processes and count > limits.processes:
                return too_many_processes(limits)
        if limits.memory and memory > limits.memory and _really(pids) > limits.memory:
            return too_much_memory(limits)
        return ""

    def _family(self) -> Iterator[int]:
        """The command and everything below it, also what was left to us as its parent ended."""
        seen: set[int] = set()
        left = [self._pid, *self._orphans()]
        while left:
            pid = left.pop()
            if pid not in seen:
                seen.add(pid)
                yield pid
                left += self._table.children(pid)

    def _orphans(self) -> Iterator[int]:
        own = os.getsid(0)
        for pid in self._table.children(os.getpid()):
            process = self._table.look(pid)
            if process is not None and process.session != own and not process.zombie:
                yield pid

    def _disk(self, now: float) -> str:
        limits = self._limits
        is_due = now >= self._anyway_at
        if is_due:
            self._anyway_every_s *= 2
            self._anyway_at = now + self._anyway_every_s
        for device, (folder, free, files) in (self._disks or {}).items():
            may_add = limits.disk or limits.disk_share * free
            left, files_left = _room(folder)
            is_full = may_add and free - left > may_add
            is_crowded = may_add and files - files_left > files * INODE_SHARE > 0
            is_asked = (is_full or is_crowded) and now >= self._next_files_at
            if not may_add or not (is_asked or is_due):
                continue
            if is_asked:
                self._next_files_at = now + self._files_every_s
                self._files_every_s *= 2
            added, made = self._added(device, may_add)
            # Others write to the same disk: only its own files count.
            if (is_full or is_due) and (added > may_add or made > MOST_FILES):
                return too_much_disk(may_add)
            if is_crowded and made > files * INODE_SHARE:
                return too_many_files(files * INODE_SHARE)
        return ""

    def _added(self, device: int, may_add: float) -> tuple[int, int]:
        """Bytes and files on a disk that were written since it began, up to what is too much."""
        size, made = 0, 0
        for found in (*self._open_files(), *self._files()):
            if found.st_dev == device and found.st_ctime >= self._began:
                size += found.st_blocks * 512
                made += 1
                if size > may_add or made > MOST_FILES:
                    break
        return size, made

    def _files(self) -> Iterator[os.stat_result]:
        left = list(dict.fromkeys(map(os.path.realpath, self._limits.folders)))
        if self._log:
            with contextlib.suppress(OSError):
                yield os.stat(self._log)
        seen: set[str] = set()
        while left:
            folder = left.pop()
            if folder in seen:
                continue
            seen.add(folder)
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    else:
                        yield entry.stat(follow_symlinks=False)

    def _open_files(self) -> Iterator[os.stat_result]:
        """Those that have no name any more."""
        for pid in self._family():
            with contextlib.suppress(OSError):
                for name in os.listdir(f"/proc/{pid}/fd"):
                    with contextlib.suppress(OSError):
                        found = os.stat(f"/proc/{pid}/fd/{name}")
                        if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                            yield found


class Unlimited:
    """Nothing is watched."""

    def over(self, now: float) -> str:
        """Never."""
        del now
        return ""

    def close(self) -> str:
        """Nothing is held."""
        return ""


def watch_usage(
    limits: Resources, pid: int, *, now: float, log: str = "", brief: bool = False
) -> Usage | Unlimited:
    """Whoever watches a command."""
    if limits == Resources():
        return Unlimited()
    return Usage(limits, pid, now=now, log=log, brief=brief)


def total_memory() -> int:
    """Bytes that this machine has, or the container that it is."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in OF_A_CONTAINER:
        found += (int(line) for line in _lines(path) if line.isdigit())
    return min(found)


def _room(folder: str) -> tuple[int, int]:
    """Bytes and files."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize, found.f_favail


def _read_status(pid: int) -> tuple[int, int]:
    """Threads, and bytes that are in memory and in no file."""
    threads, used = 0, 0
    for line in _lines(f"/proc/{pid}/status"):
        if line.startswith((b"RssAnon:", b"RssShmem:")):
            used += int(line.split()[1]) * KIB
        elif line.startswith(b"Threads:"):
            threads = int(line.split()[1])
    return threads, used


def _really(pids: list[int]) -> int:
    """The same for all of them together: what they share counts once."""
    total = 0
    for pid in pids:
        parts = [
            int(line.split()[1]) * KIB
            for line in _lines(f"/proc/{pid}/smaps_rollup")
            if line.startswith((b"Pss_Anon:", b"Pss_Shmem:"))
        ]
        total += sum(parts) if parts else _read_status(pid)[1]
    return total


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read().splitlines()
    except OSError:
        return []  # it has ended meanwhile
