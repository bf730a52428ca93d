"""Project files in a folder. Files that a session left are not trusted: links out of the project,
pipes and huge files are refused."""

import contextlib
import errno
import io
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ralph.core.errors import CannotWrite, UnusableData
from ralph.core.task import LARGEST_DOCUMENT
from ralph.files import LOCK_S, NotRegular, append_regular, lock_or_busy, open_regular, replace_file
from ralph.ports.project_files import FileText

TAIL: Final = 64 * 1024
DRAFTS: Final = ".ralph/.tmp"
KEPT: Final = ".ralph/runs"
"""Where a folder is moved that is in the place of a file."""
MOST: Final = 1000
"""Names of a folder that are listed."""


class FolderFiles:
    def __init__(self, root: str, patience_s: float = LOCK_S) -> None:
        self.root = os.path.realpath(root)
        self.patience_s = patience_s
        """How long to wait for other writers."""

    def read(self, path: str) -> FileText:
        """The text of a file. Bytes that are no text become question marks."""
        try:
            data = self._bytes(path)
        except _Refused as refused:
            return FileText(trouble=f"{path} {refused}")
        if data is None:
            return FileText()
        if b"\0" in data:
            return FileText(trouble=f"{path} is not text")
        return FileText(text=data.decode("utf-8-sig", "replace").replace("\r\n", "\n"))

    def read_bytes(self, path: str) -> bytes | None:
        try:
            return self._bytes(path)
        except _Refused as refused:
            raise _unusable(path, refused) from refused

    def exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.root, path))

    def write(self, path: str, content: bytes) -> None:
        """Replace a file atomically. A link that leads elsewhere is replaced, a folder is moved."""
        with _reported(path):
            real = os.path.join(self.root, *self._place(path))
            os.makedirs(os.path.dirname(real), exist_ok=True)
            if os.path.isdir(real):
                kept = os.path.join(self.root, KEPT, f"{os.path.basename(real)}.{_letters()}")
                os.makedirs(os.path.dirname(kept), exist_ok=True)
                os.rename(real, kept)
            replace_file(real, content)

    def write_view(self, path: str, pieces: Iterable[bytes]) -> None:
        with _reported(path):
            real = os.path.join(self.root, *self._place(path))
            # In another folder: one who lists this one must not see drafts.
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

    def append_after(self, path: str, more: Callable[[bytes], Iterable[bytes]]) -> None:
        with _reported(path), self._locked(path) as real, append_regular(real) as file:
            fd = file.fileno()
            size = os.fstat(fd).st_size
            tail = os.pread(fd, TAIL, max(0, size - TAIL))
            # A writer that died may have left its line open.
            gap = b"\n" if tail and not tail.endswith(b"\n") else b""
            for piece in more(tail):
                file.write(gap + piece)
                gap = b""

    def append(self, path: str, text: str, *, fresh: str) -> None:
        with _reported(path), self._locked(path) as real, append_regular(real) as file:
            fd = file.fileno()
            size = os.fstat(fd).st_size
            is_open = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            before = "\n" if is_open else "" if size else fresh
            # In one piece, so that other writers come before or after it.
            file.write((before + text).encode("utf-8", "replace"))
            os.fsync(fd)

    def change(self, path: str, edit: Callable[[str], str]) -> None:
        with _reported(path), self._locked(path) as real:
            # Line ends and odd bytes stay as they are.
            before = (self._bytes(path) or b"").decode("utf-8", "surrogateescape")
            after = edit(before)
            if after != before:
                replace_file(real, after.encode("utf-8", "surrogateescape"))

    @contextlib.contextmanager
    def _locked(self, path: str) -> Iterator[str]:
        real = os.path.join(self.root, *self._real(path))
        os.makedirs(os.path.dirname(real), exist_ok=True)
        with lock_or_busy(f"{real}.lock", self.patience_s):
            yield real

    def remove(self, path: str) -> None:
        """Remove a file, or the link in its place."""
        with contextlib.suppress(_Refused, OSError, ValueError):
            folder, name = os.path.split(os.path.normpath(path))
            beside = self._real(os.path.join(folder, f"beside-{name}"))
            os.unlink(os.path.join(self.root, *beside[:-1], name))

    def changed_at(self, path: str) -> float | None:
        try:
            return os.lstat(os.path.join(self.root, path)).st_mtime
        except (OSError, ValueError):
            return None

    def _bytes(self, path: str) -> bytes | None:
        """The content of a file; None if there is none."""
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
        """Open a file of the project. When it is known where all links lead, open folder by folder
        without following links: a session may exchange one in between."""
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
        """Where to write a file: at the target of a link to a document; others are replaced."""
        try:
            return self._real(path)
        except _Refused:
            if not os.path.islink(os.path.join(self.root, path)):
                raise
            folder, name = os.path.split(os.path.normpath(path))
            beside = self._real(os.path.join(folder, f"beside-{name}"))
            return [*beside[:-1], name]

    def _real(self, path: str) -> list[str]:
        """The names of the folders and the file, after following links."""
        try:
            real = os.path.realpath(os.path.join(self.root, path))
        except (OSError, ValueError) as error:
            raise _Refused("has a name that cannot be") from error
        if os.path.commonpath([self.root, real]) != self.root or real == self.root:
            raise _Refused("leads out of the project")
        names = os.path.relpath(real, self.root).split(os.sep)
        asked = os.path.normpath(path).split(os.sep)
        if names != asked and _is_no_document(asked, names):
            raise _Refused(f"leads to {'/'.join(names)}")
        return names

    def folders(self, path: str) -> list[str]:
        return self._names(path, lambda entry: entry.is_dir())

    def files(self, path: str, suffix: str) -> list[str]:
        return self._names(path, lambda entry: entry.name.endswith(suffix) and entry.is_file())

    def _names(self, path: str, wanted: Callable[["os.DirEntry[str]"], bool]) -> list[str]:
        try:
            with os.scandir(os.path.join(self.root, path)) as entries:
                names = [entry.name for entry in entries if wanted(entry)]
        except (OSError, ValueError):
            return []
        # Hidden files belong to editors. A name that cannot be printed is no document's.
        shown = [name for name in names if not name.startswith(".") and name.isprintable()]
        return sorted(shown)[:MOST]


class _Refused(Exception):
    """Why a file is not used, as the end of a sentence."""


def _is_no_document(asked: list[str], names: list[str]) -> bool:
    """Whether a link leads to something else than a document: settings and git's own files have
    hidden names, and a program may have another suffix."""
    hidden = {name for name in names if name.startswith(".")}
    return not hidden <= {*asked} or _ending(asked) != _ending(names)


def _ending(names: list[str]) -> str:
    return os.path.splitext(names[-1])[1].lower()


@contextlib.contextmanager
def _reported(path: str) -> Iterator[None]:
    """Report what keeps a file from being written."""
    try:
        yield
    except NotRegular as error:
        raise _unusable(path, "is not a file") from error
    except _Refused as refused:
        raise _unusable(path, refused) from refused
    except OSError as error:
        raise CannotWrite(
            f"cannot write {path}: {_why(error)}",
            hint="look at its permissions, those of its folder, and the disk",
        ) from error


def _unusable(path: str, refused: _Refused | str) -> UnusableData:
    return UnusableData(f"{path} {refused}", hint="look at what is in its place")


def _why(error: OSError) -> str:
    return (error.strerror or "unknown error").lower()


def _letters() -> str:
    """A part of a name that cannot be guessed."""
    return os.urandom(6).hex()
