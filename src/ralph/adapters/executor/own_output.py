"""The files that receive this process's own output: a log that grows while a run is at work."""

import os
import stat
from collections.abc import Iterator

WRITING = os.O_WRONLY | os.O_RDWR


def output_files() -> list[str]:
    """The paths behind standard output and error, and those that a `tee` behind a pipe writes.

    What cannot be found out is left out: there is no list of open files on every system.
    """
    found, pipes = [], set()
    for fd in (1, 2):
        try:
            is_file, is_pipe = (
                stat.S_ISREG(os.fstat(fd).st_mode),
                stat.S_ISFIFO(os.fstat(fd).st_mode),
            )
        except OSError:
            continue
        if is_file and (path := _path_of(fd)):
            found.append(path)
        elif is_pipe:
            pipes.add(_link(f"/proc/self/fd/{fd}"))
    return list(dict.fromkeys([*found, *_behind(pipes - {""})]))


def _path_of(fd: int) -> str:
    if path := _link(f"/proc/self/fd/{fd}"):
        return path
    try:
        from fcntl import F_GETPATH, fcntl  # type: ignore[attr-defined]

        return os.fsdecode(fcntl(fd, F_GETPATH, bytes(1024)).rstrip(b"\0"))
    except (ImportError, OSError):
        return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _behind(pipes: set[str]) -> Iterator[str]:
    """What the readers of some pipes write, and the readers of theirs."""
    seen: set[str] = set()
    others = [name for name in _names("/proc") if name.isdigit() and int(name) != os.getpid()]
    while new := pipes - seen:
        seen |= new
        for name in others:
            open_ones = [(fd, _link(f"/proc/{name}/fd/{fd}")) for fd in _names(f"/proc/{name}/fd")]
            if not any(target in new and not _writes(name, fd) for fd, target in open_ones):
                continue
            for fd, target in open_ones:
                if target.startswith("pipe:"):
                    pipes = pipes | ({target} if _writes(name, fd) else set())
                elif target.startswith("/") and os.path.isfile(target) and _writes(name, fd):
                    yield target


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _writes(process: str, fd: str) -> bool:
    try:
        with open(f"/proc/{process}/fdinfo/{fd}") as file:
            lines = file.read().splitlines()
    except OSError:
        return False
    flags = next((line.split()[1] for line in lines if line.startswith("flags:")), "0")
    return bool(int(flags, 8) & WRITING)
