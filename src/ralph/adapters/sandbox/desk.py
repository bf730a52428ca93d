"""A session's desk: Ralph's folder as one session finds it, with the documents in it.

Most tools write a file by putting another one in its place. In a folder that is read-only that
fails, and a file that is a mount cannot be replaced. So a session gets a folder of its own in that
place; the documents in it are the real ones by another name, as long as they are written in place,
and what was put in their place is taken in afterwards. Nothing else comes back.
"""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.sandbox.belongings import locked
from ralph.core.errors import CannotWrite
from ralph.core.fence import Access, Fence, Place
from ralph.core.json_text import NOT_JSON
from ralph.files import lock_file, read_regular, remove_tree, write_regular

DESKS: Final = "desks"
ASIDE: Final = "planted"
UNSEEN: Final = (".lock", ".sock", "-wal", "-shm", "-journal", ".db")
"""Ends of names that nobody needs in there."""
LARGEST: Final = 16 * 1024 * 1024


class Desk:
    """One, made for one command."""

    def __init__(self, state: str, fence: Fence) -> None:
        self._folder = os.path.join(state, DESKS, os.urandom(6).hex())
        self._state = state
        self._home, self._names = fence.desk, fence.documents
        self._known = {place.path for place in fence.places}
        try:
            for part in ("", "top", "before"):
                os.makedirs(os.path.join(self._folder, part), mode=0o700)
            self._handle = locked(self._folder)
            what = msgspec.json.encode((os.fsencode(self._home), self._names))
            write_regular(os.path.join(self._folder, "what"), what)
            for name in self._names:
                self._lay_out(name)
        except OSError as error:
            raise CannotWrite(f"cannot write {self._folder}: {error.strerror}") from error

    def _lay_out(self, name: str) -> None:
        real = os.path.join(self._home, name)
        content = _read(real)
        if content is None:
            return
        write_regular(os.path.join(self._folder, "before", name), content)
        there = os.path.join(self._folder, "top", name)
        try:
            os.link(real, there, follow_symlinks=False)
        except OSError:
            # Some file systems have no second names: then it is a copy, and taken in.
            shutil.copy2(real, there)

    def around(self, fence: Fence) -> Fence:
        """The fence with the desk in it: what lies on it has no fence of its own."""
        papers = {os.path.join(self._home, name) for name in self._names}
        kept = (place for place in fence.places if place.path not in papers)
        return replace(fence, places=(*kept, *self.places()))

    def places(self) -> Iterator[Place]:
        """The desk, and on it all that is only to be looked at."""
        why = "documents, on a desk of the session's own"
        top = os.path.join(self._folder, "top")
        yield Place(path=self._home, access=Access.WRITE, why=why, source=top)
        with contextlib.suppress(OSError):
            for name in sorted(os.listdir(self._home)):
                path = os.path.join(self._home, name)
                is_said = name in self._names or path in self._known
                if not is_said and not name.endswith(UNSEEN):
                    yield Place(path=path, access=Access.READ, why="what judges", changes=True)

    def clear(self) -> list[str]:
        """Take in what was written, and remove the desk."""
        said = take_in(self._folder, self._state)
        os.close(self._handle)
        return said


def look_after_desks(state: str) -> list[str]:
    """The same for those of somebody who was killed."""
    said: list[str] = []
    with contextlib.suppress(OSError):
        for name in os.listdir(os.path.join(state, DESKS)):
            folder = os.path.join(state, DESKS, name)
            with contextlib.suppress(OSError):
                handle = locked(folder)
                said += take_in(folder, state)
                os.close(handle)
    return said


def take_in(folder: str, state: str) -> list[str]:
    """Every document that is another one now."""
    said: list[str] = []
    with contextlib.suppress(OSError, *NOT_JSON):
        what = read_regular(os.path.join(folder, "what"))
        home, names = msgspec.json.decode(what, type=tuple[bytes, tuple[str, ...]])
        for name in names:
            said += _take_in(folder, os.path.join(os.fsdecode(home), name), state)
    with contextlib.suppress(OSError):
        remove_tree(folder)
    return said


def _take_in(folder: str, real: str, state: str) -> list[str]:
    name = os.path.basename(real)
    left = os.path.join(folder, "top", name)
    if not os.path.lexists(left) or _is_same(left, real):
        return []
    before, now = _read(os.path.join(folder, "before", name)) or b"", _read(left)
    if now == before:
        return []
    try:
        if now is not None:
            # By the lock that everybody takes who writes a document.
            with lock_file(f"{real}.lock"):
                found = _read(real)
                merged = _merged(before, now, found)
                if merged is not None:
                    _replace(real, merged)
                    return []
        kept = os.path.join(state, ASIDE, f"{os.path.basename(folder)}-{name}")
        os.makedirs(os.path.dirname(kept), mode=0o700, exist_ok=True)
        os.rename(left, kept)
    except OSError as error:
        return [f"what a session wrote in {real} is lost: {error.strerror}"]
    why = "it is no file" if now is None else "it was changed at the same time"
    return [f"what a session wrote in {real} is {kept} now, since {why}"]


def _merged(before: bytes, now: bytes, found: bytes | None) -> bytes | None:
    """What a session made of a document and what others did meanwhile, together; None if that
    cannot be."""
    if found is None or found == before:
        return now
    if now.startswith(before):
        gap = b"\n" if found and not found.endswith(b"\n") else b""
        return found + gap + now[len(before) :]
    return found if found == now else None


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


def _read(path: str) -> bytes | None:
    """Of a file, and nothing but a file: neither behind a link, nor out of a pipe."""
    try:
        return read_regular(path, os.O_NOFOLLOW, most=LARGEST)
    except OSError:
        return None


def _replace(path: str, content: bytes) -> None:
    draft = f"{path}.{os.urandom(6).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(draft, flags, 0o644), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(os.stat(path).st_mode))
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
