"""Indexes of our own: scratch copies, and changing a person's index in one step.

A person's index is never given to a git command that writes. A copy is changed and put in its
place while we hold `index.lock`, as git itself does it, so that whatever is killed in between,
the index is the old one or the new one.
"""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from ralph.adapters.workspace.git import Git, raw
from ralph.adapters.workspace.locks import MARK
from ralph.adapters.workspace.status import Entry
from ralph.core.errors import Busy, CannotWrite
from ralph.files import open_regular, write_regular

STALE_S: Final = 3600.0
TRIES: Final = 10
"""Whoever waits for a lock may find that somebody else has it next."""
ABSENT: Final = "000000"
UNLED: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""Neither led elsewhere by a link, nor waiting for whoever writes into a pipe."""


class Scratch:
    """An index that nobody else sees."""

    def __init__(self, git: Git, file: str) -> None:
        self.file = file
        self.git = git.with_env(GIT_INDEX_FILE=file)

    def put(self, entries: Iterable[Entry]) -> None:
        """Set or remove entries, whatever is on disk."""
        # Removals first: a file may take the place of a directory, or the other way round.
        ordered = sorted(entries, key=lambda entry: entry.mode != ABSENT)
        lines = b"".join(
            f"{entry.mode} {entry.oid}\t".encode() + raw(entry.path) + b"\0" for entry in ordered
        )
        if lines:
            self.git.run("update-index", "-z", "--index-info", stdin=lines)

    def add(self, paths: Iterable[str]) -> None:
        """Take files as they are on disk. A pipe or a device in the place of one is none."""
        kept: list[bytes] = []
        gone: list[bytes] = []
        for path in paths:
            is_special = _is_special(os.path.join(self.git.top, path))
            (gone if is_special else kept).append(raw(path) + b"\0")
        if gone:
            self.git.run("update-index", "--force-remove", "-z", "--stdin", stdin=b"".join(gone))
        if kept:
            args = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
            self.git.run(*args, stdin=b"".join(kept))

    def read(self, tree: str) -> None:
        """Hold exactly that tree."""
        self.git.run("read-tree", tree)

    def refresh(self) -> None:
        """Learn the files' times and sizes, so that the next status need not read them."""
        # Its exit code says that some file differs, which is no error.
        self.git.ask("update-index", "-q", "--refresh", ok=(0, 1))

    def tree(self) -> str:
        """Its content as a tree object."""
        return self.git.word("write-tree")


def _is_special(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode))


def absent(path: str, oid: str) -> Entry:
    """An entry that removes; `oid` gives the length of the repository's names."""
    return Entry(ABSENT, "0" * len(oid), path)


@contextmanager
def scratch(git: Git, *, copy: bool = True) -> Iterator[Scratch]:
    """A scratch index, a copy of the real one so that it knows the files' times already."""
    # In the git directory: a sandboxed git sees it there, and /tmp may be another one for it.
    folder = os.path.join(git.git_dir, "ralph")
    file = os.path.join(folder, f"index-{os.urandom(6).hex()}")
    try:
        os.makedirs(folder, exist_ok=True)
        _sweep(folder)
        if copy:
            _copy(os.path.join(git.git_dir, "index"), file)
    except OSError as error:
        raise CannotWrite(
            f"cannot write in {folder}: {error.strerror}",
            hint="free some space, or look at its permissions; `ralph run` goes on where it was",
        ) from error
    try:
        yield Scratch(git, file)
    finally:
        for leftover in (file, f"{file}.lock"):
            with suppress(FileNotFoundError):
                os.unlink(leftover)


def _copy(source: str, target: str) -> None:
    try:
        # An agent may have put a link to a file of yours in its place, or a pipe.
        existing = open_regular(source, os.O_NOFOLLOW)
    except FileNotFoundError:
        return  # nothing was ever staged here
    with existing:
        age, content = os.fstat(existing.fileno()).st_mtime_ns, existing.read()
    write_regular(target, content)
    # git believes a file's size and time only if the index is younger than the file: a copy that
    # looked younger than it is would hide what changed within one tick of the clock.
    os.utime(target, ns=(age, age))


def _sweep(folder: str) -> None:
    """Remove what a Ralph that was killed has left behind."""
    now = time.time()
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.name.startswith("index-") and now - entry.stat().st_mtime > STALE_S:
                    os.unlink(entry.path)


@contextmanager
def index_lock(git: Git, *, waits: bool = True) -> Iterator[None]:
    """Keep every other git from changing the index meanwhile. Busy if somebody else does that; not
    before they have had some time to end, unless it is said not to wait."""
    path = os.path.join(git.git_dir, "index.lock")
    handle = _create(path)
    for _ in range(TRIES):
        if handle is None:
            git.release(path, waits=waits)
            handle = _create(path)
    if handle is None:
        raise Busy(f"other git commands hold {path} all the time", hint="run it again")
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)
        os.close(handle)


def replace_index(git: Git, new: Scratch) -> None:
    """Put the scratch index in the place of the real one. Only while holding the lock."""
    if os.path.exists(new.file):
        # Synced first: a power cut may leave the new name and nothing in the file.
        with open(new.file, "rb") as written:
            os.fsync(written.fileno())
        os.replace(new.file, os.path.join(git.git_dir, "index"))


def _create(path: str) -> int | None:
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return None
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
    os.write(handle, MARK)
    return handle
