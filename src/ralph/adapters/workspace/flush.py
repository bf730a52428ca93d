"""Writes what git has written through to the disk, before the store relies on it.

SQLite syncs its file with every transaction, git does not: after a power cut a task could be done
and its commit nowhere. So before each mark in the store (`Store.before_mark`) every new object, ref
and index, whoever made it, is synced together with the folders that name it. An agent's git, an
older git or another program that writes a repository need not cooperate.
"""

import ctypes
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final

from ralph.adapters.workspace.layout import Layout
from ralph.core.errors import CannotWrite
from ralph.files import walk

BEFORE_US_S: Final = 60.0
"""What was written before this process began counts as new for so long. The kernel writes
everything to the disk within a minute by itself."""
COARSE_NS: Final = 2_000_000_000
"""Some file systems count times in seconds."""
TICK_NS: Final = 50_000_000
"""A file that is younger may change once more without looking younger."""
MANY: Final = 2000
"""More files than this are not synced one by one; the whole file system is."""
SINGLE: Final = ("packed-refs", "HEAD", "index", "shallow", "config", "commondir", "gitdir")
OPENING: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""A session may put links and pipes in the place of files."""


class Flush:
    """Remembers what it has synced, so that the next call only costs a look at the folders."""

    def __init__(self) -> None:
        self._since = time.time_ns() - int(BEFORE_US_S * 1e9)
        self._synced: dict[str, tuple[int, int]] = {}

    def __call__(self, where: Layout, files: Sequence[str] = ()) -> None:
        """Sync all that is new in a repository, and among other files. CannotWrite if the disk
        fails."""
        began = time.time_ns()
        if began < self._since:
            self._since = 0  # the clock was set back: nothing is known to be old
        found = chain(
            (one for path in files for one in _itself(path, self._since)),
            _younger(where, self._since),
        )
        new = [one for one in found if self._synced.get(one[0]) != one[1]]
        try:
            if len(new) > MANY:
                _sync_all(where.common_dir)
            else:
                for path, _ in new:
                    _sync(path)
        except OSError as error:
            raise CannotWrite(
                f"what git wrote in {where.common_dir} cannot be synced: {error.strerror}",
                hint="look at the disk; nothing was recorded as done",
            ) from error
        settled = {path: mark for path, mark in new if mark[1] < began - TICK_NS}
        since = began - COARSE_NS
        self._synced = {
            path: mark for path, mark in (self._synced | settled).items() if mark[1] >= since
        }
        self._since = since


def _younger(where: Layout, since: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Files and folders that changed: files before the folder that names them."""
    objects = os.path.join(where.common_dir, "objects")
    # An object is never changed, only added: a folder that is old has nothing new in it.
    for folder in _folders(objects):
        yield from _in_folder(folder, since)
    yield from _itself(objects, since)
    for root in dict.fromkeys((where.common_dir, where.git_dir)):
        yield from _below(os.path.join(root, "refs"), since)
        for name in SINGLE:
            yield from _itself(os.path.join(root, name), since)
        # A private checkout has just been made: the folders above it name it.
        folder = root
        for _ in range(4):
            yield from _itself(folder, since)
            folder = os.path.dirname(folder)


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [one.path for one in entries if one.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _in_folder(folder: str, since: int) -> Iterator[tuple[str, tuple[int, int]]]:
    itself = list(_itself(folder, since))
    if not itself:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            yield from _itself(entry.path, since)
    yield from itself


def _below(folder: str, since: int) -> Iterator[tuple[str, tuple[int, int]]]:
    for deeper, _, _ in reversed([*walk(folder)]):
        yield from _in_folder(deeper, since)


def _itself(path: str, since: int) -> Iterator[tuple[str, tuple[int, int]]]:
    with suppress(OSError):
        found = os.lstat(path)
        if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
            changed = max(found.st_ctime_ns, found.st_mtime_ns)
            if changed >= since:
                yield path, (found.st_ino, changed)


def _sync(path: str) -> None:
    try:
        handle = os.open(path, OPENING)
    except OSError:
        return  # gone, or replaced by something that is no file
    try:
        if stat.S_ISREG(mode := os.fstat(handle).st_mode) or stat.S_ISDIR(mode):
            os.fsync(handle)
    finally:
        os.close(handle)


def _sync_all(path: str) -> None:
    """The whole file system, in one call."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "syncfs"):
        os.sync()
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if libc.syncfs(handle) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(handle)
