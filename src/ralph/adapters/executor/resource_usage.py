"""Limits what a command uses: by control groups where possible, else by a watcher."""

import contextlib
import errno
import functools
import itertools
import math
import os
import stat
import time
from collections.abc import Iterator
from typing import Final

from ralph.adapters.executor.process_table import ProcessTable, read_proc, this_table
from ralph.core.resource_limits import (
    ResourceLimits,
    too_many_files,
    too_many_processes,
    too_much_disk,
    too_much_memory,
)

ROOT: Final = "/sys/fs/cgroup"
CONTROLLERS: Final = ("memory", "pids")
NUMBERS: Final = itertools.count(1)


class ControlGroup:
    def __init__(self, path: str, limits: ResourceLimits) -> None:
        self._path = path
        self._limits = limits

    @classmethod
    def create_for(
        cls, pid: int, limits: ResourceLimits, root: str = ROOT
    ) -> "ControlGroup | None":
        """A group with a process and all that it will start; None where there can be none."""
        if not (limits.memory or limits.processes):
            return None
        for parent in _parents(root):
            group = cls(os.path.join(parent, f"ralph-{os.getpid()}-{next(NUMBERS)}"), limits)
            try:
                _enable(parent)
                os.mkdir(group._path)
                group._fill(pid)
            except OSError:
                group.close()
            else:
                return group
        return None

    def _fill(self, pid: int) -> None:
        if self._limits.memory:
            _write(self._path, "memory.max", str(self._limits.memory))
            # All of it ends, not one process somewhere in the middle.
            _write(self._path, "memory.oom.group", "1")
        if self._limits.processes:
            _write(self._path, "pids.max", str(self._limits.processes))
        # What it has started meanwhile stays outside unless it is moved as well.
        moved: set[int] = set()
        while left := {pid, *_descendants(pid)} - moved:
            for one in left:
                with contextlib.suppress(ProcessLookupError):
                    _write(self._path, "cgroup.procs", f"{one}\n")
            moved |= left

    def over(self) -> str:
        """Which limit was hit, in words; empty if none was."""
        if _count(self._path, "pids.events", "max"):
            return too_many_processes(self._limits)
        if _count(self._path, "memory.events", "oom_kill"):
            return too_much_memory(self._limits)
        return ""

    def close(self) -> None:
        """End everything in it at once, and remove it."""
        with contextlib.suppress(OSError):
            _write(self._path, "cgroup.kill", "1")
        with contextlib.suppress(OSError):
            # Refused while a process in it is still exiting; an empty group does no harm.
            os.rmdir(self._path)


def _descendants(pid: int) -> Iterator[int]:
    for child in this_table().children(pid):
        yield child
        yield from _descendants(child)


def own_group() -> str:
    """The group of this process, from the root; empty if there is none."""
    lines = (
        line for line in read_proc("/proc/self/cgroup").splitlines() if line.startswith(b"0::")
    )
    return os.fsdecode(next(lines, b"")[3:]).strip()


def _parents(root: str) -> list[str]:
    """Where a group may be made: in our own, or beside it."""
    own = own_group()
    if not own:
        return []
    here = os.path.normpath(os.path.join(root, own.lstrip("/")))
    beside = os.path.dirname(here)
    found = [here, beside] if beside.startswith(root) else [here]
    return [path for path in found if os.path.exists(os.path.join(path, "cgroup.controllers"))]


def _enable(parent: str) -> None:
    """A group that holds processes itself cannot have groups with limits in it."""
    enabled = os.fsdecode(read_proc(os.path.join(parent, "cgroup.subtree_control"))).split()
    missing = [name for name in CONTROLLERS if name not in enabled]
    if missing:
        _write(parent, "cgroup.subtree_control", " ".join(f"+{name}" for name in missing))


def _count(path: str, file: str, name: str) -> int:
    return int(_values(os.path.join(path, file)).get(name.encode(), 0))


def _write(path: str, name: str, text: str) -> None:
    fd = os.open(os.path.join(path, name), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


EVERY_S: Final = 0.35
LOOK_AT_FILES_S: Final = 5.0
LOOK_ANYWAY_S: Final = 8.0
"""Others may free as much room as it takes. Doubled after each look."""
MOST_FILES: Final = 300_000
"""So many are counted; more are too many."""
INODE_SHARE: Final = 0.25
"""Of the files that a disk has room for; some file systems have no such number."""
CLOCK_S: Final = 1.0
"""The clock of a file system is a little behind ours."""
KIB: Final = 1024
Disks = dict[int, tuple[str, int, int]]
OF_A_CONTAINER: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class ResourceWatcher:
    """Watches one command, if it has limits."""

    def __init__(
        self, limits: ResourceLimits, pid: int, *, now: float, log: str = "", brief: bool = False
    ) -> None:
        """`brief`: it ends before the first check, so nothing is prepared."""
        is_limited = limits != ResourceLimits()
        brief = brief or not is_limited
        self._limits = limits
        self._pid = pid
        self._log = log
        self._group = None if brief else ControlGroup.create_for(pid, limits)
        # What is over at once has used nothing.
        self._next_at = now + EVERY_S if is_limited else math.inf
        self._next_files_at = now
        self._files_every_s = LOOK_AT_FILES_S
        self._anyway_at = now + LOOK_ANYWAY_S
        self._anyway_every_s = LOOK_ANYWAY_S
        self._began = time.time() - CLOCK_S
        self._shared = 0 if brief else _shared_memory()
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
    def _table(self) -> ProcessTable:
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
        if limits.memory and self._is_too_much(pids, memory):
            return too_much_memory(limits)
        return ""

    def _is_too_much(self, pids: list[int], memory: int) -> bool:
        """Also with files in memory that no process shows as its own."""
        most = self._limits.memory
        grown = _shared_memory() - self._shared
        if memory <= most and memory + grown <= most:
            return False
        # The hint is of the whole machine, and what processes share was counted for each of them.
        files = {
            found.st_ino: found.st_blocks * 512
            for found in (self._open_files() if grown > 0 else ())
            if found.st_dev not in (self._disks or {})
        }
        in_files = sum(files.values())
        if memory + in_files <= most:
            return False
        own, shared = _really(pids)
        return own + max(shared, in_files) > most

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
            added, made = self._added(device, may_add, (free - left, files - files_left))
            # Others write to the same disk: only its own files count.
            if (is_full or is_due) and (added > may_add or made > MOST_FILES):
                return too_much_disk(may_add)
            if is_crowded and made > files * INODE_SHARE:
                return too_many_files(files * INODE_SHARE)
        return ""

    def _added(self, device: int, may_add: float, missing: tuple[int, int]) -> tuple[int, int]:
        """Bytes and files on a disk that were written since it began, up to what is too much. What
        is `missing` there may be where Ralph cannot look."""
        size, made = 0, 0
        for found in (*self._open_files(), *self._files()):
            if found is None:
                size, made = size + missing[0], made + missing[1]
                missing = (0, 0)
            elif found.st_dev == device and found.st_ctime >= self._began:
                size += found.st_blocks * 512
                made += 1
                if size > may_add or made > MOST_FILES:
                    break
        return size, made

    def _files(self) -> Iterator[os.stat_result | None]:
        """Also folders. None stands for a folder that was hidden since it began: it cannot be
        listed, or is so deep that it has no path."""
        folders = dict.fromkeys(map(os.path.realpath, self._limits.folders))
        left = [(folder, 0.0) for folder in folders]
        if self._log:
            with contextlib.suppress(OSError):
                yield os.stat(self._log)
        seen: set[str] = set()
        while left:
            folder, changed_at = left.pop()
            if folder in seen:
                continue
            seen.add(folder)
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        with contextlib.suppress(FileNotFoundError):
                            found = entry.stat(follow_symlinks=False)
                            yield found
                            if stat.S_ISDIR(found.st_mode):
                                left.append((entry.path, found.st_ctime))
            except PermissionError:
                if changed_at >= self._began:
                    yield None
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    yield None

    def _open_files(self) -> Iterator[os.stat_result]:
        """Those that have no name any more."""
        for pid in self._family():
            with contextlib.suppress(OSError):
                for name in os.listdir(f"/proc/{pid}/fd"):
                    with contextlib.suppress(OSError):
                        found = os.stat(f"/proc/{pid}/fd/{name}")
                        if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                            yield found


def total_memory() -> int:
    """Bytes that this machine has, or the container that it is."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in OF_A_CONTAINER:
        found += (int(line) for line in read_proc(path).splitlines() if line.isdigit())
    return min(found)


def _room(folder: str) -> tuple[int, int]:
    """Bytes and files."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize, found.f_favail


def _read_status(pid: int) -> tuple[int, int]:
    """Threads, and bytes that are in memory and in no file."""
    values = _values(f"/proc/{pid}/status")
    used = sum(int(values.get(name, 0)) for name in (b"RssAnon:", b"RssShmem:"))
    return int(values.get(b"Threads:", 0)), used * KIB


def _really(pids: list[int]) -> tuple[int, int]:
    """Bytes of their own, and shared ones, for all of them together: each counts once."""
    own, shared = 0, 0
    for pid in pids:
        parts = _values(f"/proc/{pid}/smaps_rollup")
        own += int(parts.get(b"Pss_Anon:", 0)) * KIB if parts else _read_status(pid)[1]
        shared += int(parts.get(b"Pss_Shmem:", 0)) * KIB
    return own, shared


def _shared_memory() -> int:
    """Bytes of files in memory, of the whole machine: cheaper to ask than every process."""
    return int(_values("/proc/meminfo").get(b"Shmem:", 0)) * KIB


def _values(path: str) -> dict[bytes, bytes]:
    """The first value of each line, by its name."""
    lines = (line.split(None, 2) for line in read_proc(path).splitlines())
    return {words[0]: words[1] for words in lines if len(words) > 1}
