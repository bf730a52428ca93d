"""What a wall needs on disk while it stands: a temporary folder, and folders that hold places.

Everything here is gone afterwards; what a Ralph that was killed has left is removed by the next.
"""

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Final

from ralph.core.errors import CannotWrite
from ralph.files import lock_file, remove_tree

PREFIX: Final = "ralph~"
LONGEST: Final = 60
"""A socket's whole path may have a hundred bytes only, and some people's TMPDIR is longer."""
LIST: Final = "holding.json"
USERS: Final = "holding.lock"


def usual_temp() -> str:
    """Where temporary folders are made."""
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= LONGEST else "/tmp"


@contextlib.contextmanager
def a_folder() -> Iterator[str]:
    """A folder for one command, with `tmp` in it; locked, so that it is known to be in use."""
    where = usual_temp()
    try:
        folder = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir=where))
        os.mkdir(os.path.join(folder, "tmp"), 0o700)
        handle = locked(folder)
    except OSError as error:
        raise CannotWrite(
            f"no folder can be made in {where}: {error.strerror}", hint="set TMPDIR to another one"
        ) from error
    try:
        yield folder
    finally:
        remove(folder)
        os.close(handle)


def remove_abandoned() -> None:
    """What nobody holds any more."""
    where = usual_temp()
    with contextlib.suppress(OSError), os.scandir(where) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    handle = locked(entry.path)
                    remove(entry.path)
                    os.close(handle)


def locked(folder: str) -> int:
    """Taken, so that it is known to be in use; refused if it is."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def remove(folder: str) -> None:
    """A whole folder, also what was made unreadable in it."""
    with contextlib.suppress(OSError):
        remove_tree(folder)


class Holding:
    """Empty folders in places where nothing may be put, as long as any wall stands there.

    Shared with other walls around the same checkout: whoever goes last takes them away. Removed
    under another wall, they would open it.
    """

    def __init__(self, state: str) -> None:
        self._list = os.path.join(state, LIST)
        self._users = os.path.join(state, USERS)
        self._handle = -1

    def take(self, paths: Iterable[str]) -> None:
        """Make the folders that are missing."""
        try:
            os.makedirs(os.path.dirname(self._list), exist_ok=True)
            with self._editing() as file:
                held = self._held(file)
                for path in paths:
                    held.update(dict.fromkeys(_missing_above(path)))
                    os.makedirs(path, exist_ok=True)
                self._write(file, held)
                self._handle = os.open(self._users, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._handle, fcntl.LOCK_SH)
        except OSError as error:
            raise CannotWrite(f"cannot write {error.filename}: {error.strerror}") from error

    def give_back(self) -> None:
        """Remove them, unless another wall needs them."""
        if self._handle < 0:
            return
        with contextlib.suppress(OSError), self._editing() as file:
            # Refused as long as anybody else is a user.
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for path in sorted(self._held(file), key=len, reverse=True):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
            self._write(file, {})
        os.close(self._handle)
        self._handle = -1

    @contextlib.contextmanager
    def _editing(self) -> Iterator[int]:
        """One at a time."""
        with lock_file(self._list, mode=0o600) as handle:
            yield handle

    def _held(self, file: int) -> dict[str, None]:
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            return dict.fromkeys(json.loads(os.pread(file, 1 << 20, 0) or b"[]"))
        return {}

    def _write(self, file: int, paths: dict[str, None]) -> None:
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(list(paths)).encode(), 0)


def _missing_above(path: str) -> list[str]:
    """The folder and those around it that do not exist yet."""
    found = []
    while not os.path.lexists(path):
        found.append(path)
        path = os.path.dirname(path)
    return found
