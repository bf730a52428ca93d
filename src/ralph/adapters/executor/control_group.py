"""Linux, control groups of version 2: the kernel itself keeps a command within its limits.

A group can be made where this user may: next to our own in a session of systemd, or anywhere for
root. Where there is none, `usage.py` looks at processes one by one.
"""

import contextlib
import itertools
import os
from typing import Final

from ralph.core.resources import Resources, too_many_processes, too_much_memory

ROOT: Final = "/sys/fs/cgroup"
CONTROLLERS: Final = ("memory", "pids")
NUMBERS: Final = itertools.count(1)


class ControlGroup:
    """A group of processes, from its making to its end."""

    def __init__(self, path: str, limits: Resources) -> None:
        self._path = path
        self._limits = limits

    @classmethod
    def around(cls, pid: int, limits: Resources, root: str = ROOT) -> "ControlGroup | None":
        """A group with a process and all that it will start; None where there can be none."""
        if not (limits.memory or limits.processes):
            return None
        for parent in _parents(root):
            path = os.path.join(parent, f"ralph-{os.getpid()}-{next(NUMBERS)}")
            try:
                _enable(parent)
                os.mkdir(path)
            except OSError:
                continue
            group = cls(path, limits)
            try:
                group._fill(pid)
            except OSError:
                group.close()
                continue
            return group
        return None

    def _fill(self, pid: int) -> None:
        if self._limits.memory:
            _write(self._path, "memory.max", str(self._limits.memory))
            # All of it ends, not one process somewhere in the middle.
            _write(self._path, "memory.oom.group", "1")
        if self._limits.processes:
            _write(self._path, "pids.max", str(self._limits.processes))
        _write(self._path, "cgroup.procs", str(pid))

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
            # Refused while somebody in it is still dying: it is empty then, and of no weight.
            os.rmdir(self._path)


def own_group() -> str:
    """The group of this process, from the root; empty if there is none."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            return next(line[3:].strip() for line in file if line.startswith("0::"))
    except (OSError, StopIteration):
        return ""


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
    enabled = _read(parent, "cgroup.subtree_control").split()
    missing = [name for name in CONTROLLERS if name not in enabled]
    if missing:
        _write(parent, "cgroup.subtree_control", " ".join(f"+{name}" for name in missing))


def _count(path: str, file: str, name: str) -> int:
    try:
        lines = _read(path, file).splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name} ")), 0)


def _read(path: str, name: str) -> str:
    with open(os.path.join(path, name), encoding="utf-8") as file:
        return file.read()


def _write(path: str, name: str, text: str) -> None:
    fd = os.open(os.path.join(path, name), os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
