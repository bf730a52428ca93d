"""After a command: has anything changed that no wall let it change?

A mount protects a file until somebody outside replaces that file: then it is open to whoever runs
inside. A file that is not there cannot be protected by a mount at all. So we look.
"""

import contextlib
import fcntl
import json
import os
import time
from typing import Final

from ralph.adapters.sandbox.terrain import frozen, missing
from ralph.core.errors import CannotWrite
from ralph.core.fence import Absent, Fence

Seen = tuple[int, int, int]

ASIDE: Final = "planted"
WATCHED: Final = "watched-"


class Watch:
    """What protected places were like before a command. Whoever is killed before they have looked
    leaves a list of what was not there: the next one looks in their place."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._list = os.path.join(state, f"{WATCHED}{os.urandom(4).hex()}.json")
        self._absent: list[str] = []
        self._before: dict[str, Seen | None] = {}
        try:
            os.makedirs(state, exist_ok=True)
            self._handle = os.open(self._list, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise CannotWrite(f"cannot write {self._list}: {error.strerror}") from error
        fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def begin(self, fence: Fence) -> None:
        """Take note."""
        self._absent = missing(fence, Absent.CLEAR)
        self._before = {path: _see(path) for path in frozen(fence)}
        self._write(self._absent)

    def end(self) -> list[str]:
        """Take away what was planted; say what has changed."""
        said = _take_away(self._absent, self._state)
        said += [
            f"{path} was changed meanwhile, by you or from inside: look at it"
            for path, before in self._before.items()
            if _see(path) != before
        ]
        self._absent, self._before = [], {}
        self._write([])
        return said

    def close(self) -> None:
        """No longer needed."""
        with contextlib.suppress(OSError):
            os.unlink(self._list)
        os.close(self._handle)

    def _write(self, paths: list[str]) -> None:
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, json.dumps(paths).encode(), 0)


def look_after_the_dead(state: str) -> list[str]:
    """Take away what was planted under somebody who was killed."""
    said: list[str] = []
    with contextlib.suppress(OSError):
        for name in os.listdir(state):
            if name.startswith(WATCHED):
                said += _look_once(os.path.join(state, name), state)
    return said


def _look_once(path: str, state: str) -> list[str]:
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        paths = json.loads(os.read(handle, 1 << 20) or b"[]")
        said = _take_away(paths, state)
        os.unlink(path)
        return said
    except (OSError, ValueError):
        return []
    finally:
        os.close(handle)


def _take_away(paths: list[str], state: str) -> list[str]:
    said = []
    for path in paths:
        if not os.path.lexists(path):
            continue
        aside = os.path.join(state, ASIDE)
        kept = os.path.join(aside, f"{time.time_ns()}-{os.path.basename(path)}")
        try:
            os.makedirs(aside, mode=0o700, exist_ok=True)
            os.rename(path, kept)
        except OSError as error:
            said.append(f"{path} appeared, and cannot be taken away: {error.strerror}")
        else:
            said.append(f"{path} appeared, where nothing may be put: it is {kept} now")
    return said


def _see(path: str) -> Seen | None:
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        # A folder's time changes with what is in it, which is protected by itself.
        return (found.st_ino, found.st_dev, 0 if os.path.isdir(path) else found.st_mtime_ns)
    return None
