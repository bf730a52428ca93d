"""Which private checkouts there are, and what room they take."""

import os
from contextlib import suppress
from enum import StrEnum

import msgspec

from ralph.adapters.workspace.held import is_held
from ralph.adapters.workspace.rooms import BROKEN, READY
from ralph.adapters.workspace.throw_away import PREFIX
from ralph.files import walk


class Kind(StrEnum):
    """What a folder is there for."""

    TASK = "task"
    """A task's own checkout."""
    LOOK = "look"
    """For one who looks at work; gone afterwards."""
    BROKEN = "broken"
    """Put aside, since a session has broken its repository; its files are saved nowhere else."""
    UNFINISHED = "unfinished"
    """Being made or removed, or left over from that."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One folder."""

    name: str
    kind: Kind
    path: str
    since_s: float
    """When it was made, in seconds since the epoch."""
    size_bytes: int
    in_use: bool


def census(folder: str) -> list[Found]:
    """Everything in the folder, in order."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    found = []
    for name in names:
        path = os.path.join(folder, name)
        # Whoever works there may remove it at any moment.
        with suppress(FileNotFoundError, NotADirectoryError):
            if os.path.isdir(path) and not os.path.islink(path):
                found.append(_found(path, name, is_ready=f"{name}{READY}" in names))
    return found


def _found(path: str, name: str, *, is_ready: bool) -> Found:
    if name.startswith(PREFIX):
        kind = Kind.LOOK
    elif name.startswith(BROKEN):
        kind = Kind.BROKEN
    else:
        kind = Kind.TASK if is_ready else Kind.UNFINISHED
    return Found(
        name=name,
        kind=kind,
        path=path,
        since_s=os.stat(path + READY if kind is Kind.TASK else path).st_mtime,
        size_bytes=_size(path),
        in_use=is_held(path),
    )


def _size(path: str) -> int:
    """What it takes on disk, borrowed objects aside."""
    total = 0
    for folder, folders, names in walk(path):
        for name in (*folders, *names):
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
    return total
