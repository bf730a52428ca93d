"""The raw log of a session: every byte as it comes, and no trouble with it ends the session."""

import os
from typing import Final

COPY_BYTES: Final = 1024 * 1024


class Log:
    """A file that is only ever appended to, without a buffer: a crash of Ralph loses nothing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self.trouble = ""
        """One line: the first thing that went wrong."""
        self._fd = self._open()

    def write(self, data: bytes) -> None:
        """Append it. Failing is noted, not raised: the child is worth more than its log."""
        if self._fd < 0:
            return
        try:
            _write_all(self._fd, data)
        except OSError as error:
            self._note(error)

    def mend(self) -> None:
        """Put the log back if someone removed it.

        `git clean -fdx` takes ignored folders away, and agents are fond of it.
        """
        if self._fd < 0:
            self._fd = self._open()
        elif os.fstat(self._fd).st_nlink == 0:
            new = self._open()
            if new >= 0:
                self._move_to(new)

    def close(self) -> None:
        """Mend it once more and let go."""
        if self._fd >= 0:
            self.mend()
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> int:
        # Readable, so that a removed log can be copied. In its place an agent may have put a link
        # to a file of yours, or a pipe that nobody reads: neither is followed or waited for.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        flags |= os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            try:
                return os.open(self._path, flags, 0o666)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
                return os.open(self._path, flags, 0o666)
        except OSError as error:
            self._note(error)
            return -1

    def _move_to(self, new: int) -> None:
        old, self._fd = self._fd, new
        try:
            os.lseek(old, 0, os.SEEK_SET)
            while data := os.read(old, COPY_BYTES):
                _write_all(new, data)
        except OSError as error:
            self._note(error)
        finally:
            os.close(old)

    def _note(self, error: OSError) -> None:
        self.trouble = self.trouble or f"log {self._path} is incomplete: {error.strerror}"


def _write_all(fd: int, data: bytes) -> None:
    written = os.write(fd, data)
    while written < len(data):
        data = data[written:]
        written = os.write(fd, data)
