"""The library on a folder. What a session has left in it is not trusted: neither links that lead
out of the project, nor pipes that never end, nor files without measure."""

import contextlib
import errno
import io
import os
import stat
from collections.abc import Callable, Iterable
from typing import Final

from ralph.core.errors import CannotWrite, UnusableData
from ralph.core.lengths import LARGEST_DOCUMENT
from ralph.files import LOCK_S, NotRegular, append_regular, lock_or_busy, open_regular
from ralph.ports.library import Page

TAIL: Final = 64 * 1024
DRAFTS: Final = ".ralph/.tmp"
KEPT: Final = ".ralph/runs"
"""Where folders go that stand in the place of a file."""
MOST: Final = 1000
"""Names in a folder that anybody looks at."""


class FolderLibrary:
    """`Library` on the project's folder."""

    def __init__(self, root: str, patience_s: float = LOCK_S) -> None:
        self.root = os.path.realpath(root)
        self.patience_s = patience_s
        """How long to wait for others who write."""

    def read(self, path: str) -> Page:
        """The text of a file; bytes that are no text become question marks."""
        try:
            data = self._bytes(path)
        except _Refused as refused:
            return Page(trouble=f"{path} {refused}")
        if data is None:
            return Page()
        if b"\0" in data:
            return Page(trouble=f"{path} is not text")
        return Page(text=data.decode("utf-8-sig", "replace").replace("\r\n", "\n"))

    def content(self, path: str) -> bytes | None:
        """A file byte for byte."""
        try:
            return self._bytes(path)
        except _Refused as refused:
            raise _unusable(path, refused) from refused

    def exists(self, path: str) -> bool:
        """Is anything there?"""
        return os.path.lexists(os.path.join(self.root, path))

    def put(self, path: str, content: bytes) -> None:
        """Write a file, whole or not at all. A link that leads elsewhere makes room for it, and so
        does a folder, which is kept."""
        try:
            real = os.path.join(self.root, *self._place(path))
            os.makedirs(os.path.dirname(real), exist_ok=True)
            if os.path.isdir(real):
                kept = os.path.join(self.root, KEPT, f"{os.path.basename(real)}.{_letters()}")
                os.makedirs(os.path.dirname(kept), exist_ok=True)
                os.rename(real, kept)
            _replace(real, content)
        except _Refused as refused:
            raise _unusable(path, refused) from refused
        except OSError as error:
            raise _unwritten(path, error) from error

    def draw(self, path: str, pieces: Iterable[bytes]) -> None:
        """Whole or not at all. Nobody waits for the disk: it can be made again."""
        try:
            real = os.path.join(self.root, *self._place(path))
            # Not beside it: who lists that folder must not find what is gone in a moment.
            drafts = os.path.join(self.root, DRAFTS)
            os.makedirs(drafts, exist_ok=True)
            os.makedirs(os.path.dirname(real), exist_ok=True)
            draft = os.path.join(drafts, f"{_letters()}.draft")
            try:
                with open(draft, "xb") as file:
                    file.writelines(pieces)
                os.replace(draft, real)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(draft)
                raise
        except _Refused as refused:
            raise _unusable(path, refused) from refused
        except OSError as error:
            raise _unwritten(path, error) from error

    def extend(self, path: str, more: Callable[[bytes], Iterable[bytes]]) -> None:
        """Read the end, and add to it, while others wait."""
        try:
            real = os.path.join(self.root, *self._real(path))
            os.makedirs(os.path.dirname(real), exist_ok=True)
            with lock_or_busy(f"{real}.lock", self.patience_s), append_regular(real) as file:
                fd = file.fileno()
                size = os.fstat(fd).st_size
                tail = os.pread(fd, TAIL, max(0, size - TAIL))
                # Whoever died in the middle of a line has left it open.
                gap = b"\n" if tail and not tail.endswith(b"\n") else b""
                for piece in more(tail):
                    file.write(gap + piece)
                    gap = b""
        except NotRegular as error:
            raise _unusable(path, "is not a file") from error
        except _Refused as refused:
            raise _unusable(path, refused) from refused
        except OSError as error:
            raise _unwritten(path, error) from error

    def remove(self, path: str) -> None:
        """Take a file away, or the link in its place."""
        with contextlib.suppress(_Refused, OSError, ValueError):
            folder, name = os.path.split(os.path.normpath(path))
            beside = self._real(os.path.join(folder, f"beside-{name}"))
            os.unlink(os.path.join(self.root, *beside[:-1], name))

    def changed_at(self, path: str) -> float | None:
        """When it was last written; of a link, when that was made."""
        try:
            return os.lstat(os.path.join(self.root, path)).st_mtime
        except (OSError, ValueError):
            return None

    def append(self, path: str, text: str, *, fresh: str) -> None:
        """Add to a log; what is in it is not even read."""
        try:
            real = os.path.join(self.root, *self._real(path))
            os.makedirs(os.path.dirname(real), exist_ok=True)
            with lock_or_busy(f"{real}.lock", self.patience_s), append_regular(real) as file:
                _add_lines(file, text, fresh)
                os.fsync(file.fileno())
        except NotRegular as error:
            raise _unusable(path, "is not a file") from error
        except _Refused as refused:
            raise _unusable(path, refused) from refused
        except OSError as error:
            raise _unwritten(path, error) from error

    def _bytes(self, path: str) -> bytes | None:
        """None: there is no such file."""
        file = self._open(path)
        if file is None:
            return None
        with file:
            try:
                data = file.read(LARGEST_DOCUMENT + 1)
            except OSError as error:
                raise _Refused(f"cannot be read: {_why(error)}") from error
        if len(data) > LARGEST_DOCUMENT:
            raise _Refused(f"is larger than {LARGEST_DOCUMENT // 1024} KiB")
        return data

    def _open(self, path: str) -> io.BufferedReader | None:
        """Open a file of the project. Folder by folder and without following links, once it is
        known where all links lead: nobody can exchange one in between."""
        names = self._real(path)
        try:
            folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                for name in names[:-1]:
                    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                    deeper = os.open(name, flags, dir_fd=folder)
                    os.close(folder)
                    folder = deeper
                return open_regular(names[-1], os.O_NOFOLLOW, dir_fd=folder)
            finally:
                os.close(folder)
        except (NotRegular, IsADirectoryError) as error:
            raise _Refused("is not a file") from error
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return None
            raise _Refused(f"cannot be read: {_why(error)}") from error

    def _place(self, path: str) -> list[str]:
        """Where a file is to be put: behind a link to another document, or instead of any other."""
        try:
            return self._real(path)
        except _Refused:
            if not os.path.islink(os.path.join(self.root, path)):
                raise
            folder, name = os.path.split(os.path.normpath(path))
            beside = self._real(os.path.join(folder, f"beside-{name}"))
            return [*beside[:-1], name]

    def _real(self, path: str) -> list[str]:
        """The names on the way from the project's folder to the file itself."""
        try:
            real = os.path.realpath(os.path.join(self.root, path))
        except (OSError, ValueError) as error:
            raise _Refused("has a name that cannot be") from error
        if os.path.commonpath([self.root, real]) != self.root or real == self.root:
            raise _Refused("leads out of the project")
        names = os.path.relpath(real, self.root).split(os.sep)
        asked = os.path.normpath(path).split(os.sep)
        if names != asked and _is_led_astray(asked, names):
            raise _Refused(f"leads to {'/'.join(names)}")
        return names

    def folders(self, path: str) -> list[str]:
        """The names of the folders in a folder."""
        return self._names(path, lambda entry: entry.is_dir())

    def files(self, path: str, suffix: str) -> list[str]:
        """The names of the files in a folder that end like this."""
        return self._names(path, lambda entry: entry.name.endswith(suffix) and entry.is_file())

    def _names(self, path: str, wanted: Callable[["os.DirEntry[str]"], bool]) -> list[str]:
        try:
            with os.scandir(os.path.join(self.root, path)) as entries:
                names = [entry.name for entry in entries if wanted(entry)]
        except (OSError, ValueError):
            return []
        # Hidden ones are an editor's, and what cannot be written down cannot be read either.
        shown = [name for name in names if not name.startswith(".") and name.isprintable()]
        return sorted(shown)[:MOST]

    def change(self, path: str, edit: Callable[[str], str]) -> None:
        """Read, edit and replace the file while others wait."""
        try:
            real = os.path.join(self.root, *self._real(path))
            os.makedirs(os.path.dirname(real), exist_ok=True)
            with lock_or_busy(f"{real}.lock", self.patience_s):
                data = self._bytes(path) or b""
                # Line ends and odd bytes stay as they are.
                before = data.decode("utf-8", "surrogateescape")
                after = edit(before)
                if after != before:
                    _replace(real, after.encode("utf-8", "surrogateescape"))
        except _Refused as refused:
            raise _unusable(path, refused) from refused
        except OSError as error:
            raise _unwritten(path, error) from error


class _Refused(Exception):
    """Why a file is left alone, as the end of a sentence about it."""


def _is_led_astray(asked: list[str], names: list[str]) -> bool:
    """A link may lead to another document. Behind hidden names are settings, and git's own files;
    what ends otherwise may be a program: no session is to have them written by us."""
    hidden = {name for name in names if name.startswith(".")}
    return not hidden <= {*asked} or _ending(asked) != _ending(names)


def _ending(names: list[str]) -> str:
    return os.path.splitext(names[-1])[1].lower()


def _add_lines(file: io.FileIO, text: str, fresh: str) -> None:
    size = os.fstat(file.fileno()).st_size
    before = fresh if size == 0 else ""
    if size:
        # Whoever wrote the last line may have left it open.
        os.lseek(file.fileno(), -1, os.SEEK_END)
        before = "" if os.read(file.fileno(), 1) == b"\n" else "\n"
    # In one piece, so that agents who write at the same time come before or after it.
    file.write((before + text).encode("utf-8", "replace"))


def _unusable(path: str, refused: _Refused | str) -> UnusableData:
    return UnusableData(f"{path} {refused}", hint="look at what is in its place")


def _unwritten(path: str, error: OSError) -> CannotWrite:
    return CannotWrite(
        f"cannot write {path}: {_why(error)}",
        hint="look at its permissions, those of its folder, and the disk",
    )


def _why(error: OSError) -> str:
    return (error.strerror or "unknown error").lower()


def _letters() -> str:
    """For a name that nobody has, and nobody could foresee."""
    return os.urandom(6).hex()


def _replace(path: str, data: bytes) -> None:
    """Whole or not at all, also when the machine stops in the middle."""
    partial = f"{path}.{_letters()}.tmp"
    try:
        # New, under a name that nobody could foresee: a session may lay links where we write.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(partial, flags, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.chmod(partial, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(partial, path)
        _sync_folder(os.path.dirname(path))
    except BaseException:
        if os.path.exists(partial):
            os.unlink(partial)
        raise


def _sync_folder(path: str) -> None:
    """A new name is on disk only when its folder is."""
    with contextlib.suppress(OSError):
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
