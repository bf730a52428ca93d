"""Files that a session or a person may have replaced by something else: pipes, devices, links,
folders without end. Every open, lock, walk and removal of such files is here, and none of them
waits for ever. Every command imports this, so it imports little itself."""

import contextlib
import io
import os
import stat
import time
from collections.abc import Iterator
from typing import Final

from ralph.core.errors import Busy, CannotWrite

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a file that is read as a whole."""
LOCK_S: Final = 10.0
PAUSE_S: Final = 0.02
REMOVALS: Final = 20

Path = str | bytes


class NotRegular(OSError):
    """There is something in a file's place that is none."""

    def __init__(self, path: Path | int) -> None:
        from errno import EINVAL

        super().__init__(EINVAL, "Not a regular file", os.fsdecode(str(path)))


def open_regular(path: Path, flags: int = 0, *, dir_fd: int | None = None) -> io.BufferedReader:
    """Open a file for reading. NotRegular for a pipe, a socket or a device; never waits for one."""
    flags |= os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    if "\0" in os.fsdecode(path):
        raise NotRegular(path)  # a session's text names it; Python would call that a wrong value
    return io.BufferedReader(io.FileIO(_checked(os.open(path, flags, dir_fd=dir_fd), path)))


def read_regular(path: Path, flags: int = 0, *, most: int = LARGEST) -> bytes:
    """The content of a file. OSError if it has more than `most` bytes, also if it grows."""
    with open_regular(path, flags) as file:
        data = file.read(most + 1)
    if len(data) > most:
        from errno import EOVERFLOW

        raise OSError(EOVERFLOW, f"Larger than {most >> 20} MB", os.fsdecode(path))
    return data


def read_start(path: Path, limit: int) -> bytes:
    """The beginning of a file; nothing of what is no file, or behind a link."""
    with contextlib.suppress(OSError), open_regular(path, os.O_NOFOLLOW) as file:
        return file.read(limit)
    return b""


def create_regular(path: Path, flags: int = os.O_TRUNC) -> io.FileIO:
    """Open a file for writing, and make it if need be. A link is not followed. Unbuffered."""
    flags |= os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return io.FileIO(_checked(os.open(path, flags, 0o666), path), "wb")


def append_regular(path: Path) -> io.FileIO:
    """Open a file for reading it and adding to it, and make it if need be. Unbuffered."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return io.FileIO(_checked(os.open(path, flags, 0o644), path), "rb+")


def write_regular(path: Path, data: bytes) -> None:
    """Replace the content of a file."""
    with create_regular(path) as file, io.BufferedWriter(file) as buffered:
        buffered.write(data)


def replace_file(path: str, data: bytes, *, mode: int | None = None, sync: bool = True) -> None:
    """Replace a file in one step: readers see the old content or the new one. `mode`: if it is
    not to keep its permissions. `sync`: the same after a power cut."""
    # A new file, under a name that cannot be guessed: a session may leave links.
    draft = f"{path}.{os.urandom(6).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(draft, flags, mode or 0o666), "wb") as file:
            file.write(data)
            file.flush()
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file.fileno(), mode or stat.S_IMODE(os.stat(path).st_mode))
            if sync:
                os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
    if sync:
        # A new name is on disk only when its folder is synced.
        with contextlib.suppress(OSError):
            sync_to_disk(os.path.dirname(path) or ".")


def sync_to_disk(path: str) -> None:
    """Write to disk what is in a file, or the names that are in a folder."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_all(*folders: str) -> None:
    """Write to disk what programs have written to the file systems of these folders, except for
    those that are gone. CannotWrite if a disk fails."""
    import ctypes

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:
        os.sync()
        return
    hint = "look at the disk; nothing was recorded as done"
    with or_cannot_write(f"sync what git wrote in {folders[0]}", hint):
        there = filter(os.path.isdir, folders)
        for folder in {os.stat(folder).st_dev: folder for folder in there}.values():
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                if syncfs(handle) != 0:
                    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            finally:
                os.close(handle)


def _checked(fd: int, path: Path) -> int:
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        from errno import EISDIR

        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), os.fsdecode(path))
    raise NotRegular(path)


@contextlib.contextmanager
def or_cannot_write(what: str, hint: str | None = None) -> Iterator[None]:
    """Turn a failure of the disk into an error for the user: `cannot WHAT: reason`."""
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"cannot {what}: {error.strerror}", hint=hint) from error


def try_lock(handle: int) -> bool:
    """Lock an open file or folder for this process; return whether that worked. The kernel releases
    the lock when the handle is closed, whatever happens to us."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def open_lock(path: str, mode: int = 0o644) -> int:
    """Open the file that stands for a lock, and make it if need be. A link is not followed: what
    its holder writes would be in another file."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return _checked(os.open(path, flags, mode), path)


@contextlib.contextmanager
def lock_file(path: str, patience_s: float = LOCK_S, mode: int = 0o644) -> Iterator[int]:
    """Hold the lock that a file stands for; the kernel gives it back, whatever happens to us.
    BlockingIOError if another process keeps it for longer than `patience_s`."""
    with _locked(open_lock(path, mode), patience_s) as handle:
        yield handle


@contextlib.contextmanager
def lock_folder(path: str, patience_s: float = LOCK_S) -> Iterator[None]:
    """The same for a folder that is there, with an error for a person."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with _or_busy(path, _locked(handle, patience_s)):
        yield


@contextlib.contextmanager
def _locked(handle: int, patience_s: float) -> Iterator[int]:
    try:
        until = time.monotonic() + patience_s
        while not try_lock(handle):
            if time.monotonic() > until:
                from errno import EAGAIN

                raise BlockingIOError(EAGAIN, os.strerror(EAGAIN))
            time.sleep(PAUSE_S)
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def lock_or_busy(path: str, patience_s: float = LOCK_S) -> Iterator[None]:
    """The same, with an error for a person. The file stays: removing it could take away what
    another process has just locked."""
    with _or_busy(path, lock_file(path, patience_s)):
        yield


@contextlib.contextmanager
def _or_busy(path: str, lock: contextlib.AbstractContextManager[object]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock)
        except BlockingIOError:
            hint = "nothing was changed: try again"
            raise Busy(f"another program holds {path}", hint=hint) from None
        yield


def names_in(folder: str) -> list[str]:
    """The names in a folder, sorted; none where it cannot be listed."""
    with contextlib.suppress(OSError, ValueError):
        return sorted(os.listdir(folder))
    return []


def walk(top: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Like `os.walk`, for folders of any depth: that one has a limit and fails beyond it."""
    left = [top]
    while left:
        folder = left.pop()
        folders: list[str] = []
        names: list[str] = []
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                (folders if is_folder else names).append(entry.name)
        yield folder, folders, names
        left += (os.path.join(folder, name) for name in reversed(folders))


def remove_tree(top: str) -> None:
    """Remove a folder of any depth, and what was made unreadable in it. Nothing if it is gone.

    Folders are moved to the top before they are emptied, so that neither the length of a path nor
    the number of open files sets a limit. Another process may remove the same folder, or still
    write in it.
    """
    from errno import ENOENT, ENOTEMPTY

    for attempt in range(1, REMOVALS + 1):
        try:
            _remove_tree(top)
            return
        except OSError as error:
            if error.errno not in (ENOENT, ENOTEMPTY) or attempt == REMOVALS:
                raise


def _remove_tree(top: str) -> None:
    try:
        _allow(top, None)
        folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        left = _empty(folder, folder)
        while left:
            name = left.pop()
            inner = os.open(
                name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder
            )
            try:
                left += _empty(inner, folder)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(top)


def _empty(folder: int, top: int) -> list[str]:
    """Remove the files of a folder, move its folders to the top and return their names there."""
    moved: list[str] = []
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
            continue
        _allow(name, folder)
        place = name
        if folder != top:
            place = f".{os.urandom(8).hex()}"
            os.rename(name, place, src_dir_fd=folder, dst_dir_fd=top)
        moved.append(place)
    return moved


def _allow(name: str, folder: int | None) -> None:
    """Some tools write folders that not even their owner may change (Go's module cache)."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IRWXU, dir_fd=folder)
