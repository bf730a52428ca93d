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

import msgspec

from ralph.adapters.sandbox.terrain import frozen, missing
from ralph.adapters.sandbox.traps import Traps, is_repository, look, odd_settings
from ralph.core.errors import CannotWrite
from ralph.core.fence import Absent, Fence

Seen = tuple[int, int, int]

ASIDE: Final = "planted"
WATCHED: Final = "watched-"


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What was not there before a command, and what was; as it is written down."""

    absent: tuple[str, ...] = ()
    top: str = ""
    known: tuple[str, ...] = ()
    """Places that have a fence of their own."""
    traps: Traps = {}

    def take_away(self, state: str) -> list[str]:
        """Take away what was planted; say so."""
        said = [said for path in self.absent if (said := _take_away(path, state))]
        if not self.top:
            return said
        for path, runs in look(self.top, frozenset(self.known)).items():
            if path not in self.traps and not is_repository(path):
                said.append(_take_away(path, state))
            elif not {*runs} <= {*self.traps.get(path, ())}:
                said.append(_disarm(path, state))
        return said


class Watch:
    """What protected places were like before a command. Whoever is killed before they have looked
    leaves a list of what was not there: the next one looks in their place."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._list = os.path.join(state, f"{WATCHED}{os.urandom(4).hex()}.json")
        self._kept = Kept()
        self._before: dict[str, Seen | None] = {}
        self._config = ""
        self._odd: frozenset[str] = frozenset()
        try:
            os.makedirs(state, exist_ok=True)
            self._handle = os.open(self._list, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise CannotWrite(f"cannot write {self._list}: {error.strerror}") from error
        fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def begin(self, fence: Fence) -> None:
        """Take note."""
        known = {place.path for place in fence.places if place.path != fence.top}
        self._kept = Kept(
            absent=tuple(missing(fence, Absent.CLEAR)),
            top=fence.top,
            known=tuple(known),
            traps=look(fence.top, known),
        )
        self._before = {path: _see(path) for path in frozen(fence)}
        self._config = os.path.join(fence.git, "config")
        self._odd = frozenset(odd_settings(self._config))
        self._write()

    def end(self) -> list[str]:
        """Take away what was planted; say what has changed."""
        said = self._kept.take_away(self._state)
        said += [
            f"{path} was changed meanwhile, by you or from inside: look at it{self._news(path)}"
            for path, before in self._before.items()
            if _see(path) != before
        ]
        self._kept, self._before = Kept(), {}
        self._write()
        return said

    def _news(self, path: str) -> str:
        """What git may run now, and might not before."""
        new = [one for one in odd_settings(path) if one not in self._odd]
        return f" before you use git ({'; '.join(new)})" if path == self._config and new else ""

    def close(self) -> None:
        """No longer needed."""
        with contextlib.suppress(OSError):
            os.unlink(self._list)
        os.close(self._handle)

    def _write(self) -> None:
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, json.dumps(msgspec.to_builtins(self._kept)).encode(), 0)


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
        with os.fdopen(handle, "rb", closefd=False) as file:
            # Not by msgspec: names of files need not be text.
            kept = msgspec.convert(json.loads(file.read() or b"{}"), Kept)
        said = kept.take_away(state)
        os.unlink(path)
        return said
    except (OSError, ValueError):
        return []
    finally:
        os.close(handle)


def _take_away(path: str, state: str) -> str:
    """Move it aside; nothing to say if there is nothing."""
    if not os.path.lexists(path):
        return ""
    kept = _aside(path, state)
    if kept:
        return f"{path} appeared, where nothing may be put: it is {kept} now"
    return f"{path} appeared, and cannot be taken away: remove it"


def _disarm(repository: str, state: str) -> str:
    """Without its HEAD a folder is no repository. A `.git` goes as a whole: git stumbles over what
    is left of one."""
    is_all = os.path.basename(repository) == ".git"
    part = repository if is_all else os.path.join(repository, "HEAD")
    kept = _aside(part, state)
    what = f"git would run something in {repository}, which was not so before"
    if kept:
        return f"{what}: {'it' if is_all else part} is {kept} now"
    return f"{what}, and {part} cannot be taken away: remove it"


def _aside(path: str, state: str) -> str:
    aside = os.path.join(state, ASIDE)
    kept = os.path.join(aside, f"{time.time_ns()}-{os.path.basename(path)}")
    try:
        os.makedirs(aside, mode=0o700, exist_ok=True)
        os.rename(path, kept)
    except OSError:
        return ""
    return kept


def _see(path: str) -> Seen | None:
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        # A folder's time changes with what is in it, which is protected by itself.
        return (found.st_ino, found.st_dev, 0 if os.path.isdir(path) else found.st_mtime_ns)
    return None
