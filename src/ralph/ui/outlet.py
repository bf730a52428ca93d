"""A stream whose reader may be slow or gone, which is no reason for a run to stop."""

import contextlib
import errno
import os
import select
from typing import Final, TextIO

GONE: Final = frozenset({errno.EPIPE, errno.EIO, errno.ENXIO, errno.EBADF})
"""The reader will not come back. A full disk may, so then only what was written is lost."""


class Outlet:
    """Writes and flushes; goes silent when nobody reads any more."""

    def __init__(self, stream: TextIO) -> None:
        self.is_open = True
        self._stream = stream
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._is_unicode = self._encoding.lower().replace("_", "-") in ("utf-8", "utf8")
        self.fd = _descriptor(stream)

    def write(self, text: str) -> None:
        """Write it now, waiting for the reader if need be."""
        if not self.is_open or self._stream.closed:
            return
        try:
            self._stream.write(self._encodable(text))
            self._stream.flush()
        except OSError as error:
            if error.errno in GONE:
                self._give_up()

    def offer(self, text: str) -> bool:
        """Write it unless the reader is not reading: a terminal held by Ctrl-S holds no loop."""
        if self.is_open and self.fd >= 0 and not _is_writable(self.fd):
            return False
        self.write(text)
        return True

    def _encodable(self, text: str) -> str:
        if self._is_unicode:
            return text
        return text.encode(self._encoding, "replace").decode(self._encoding)

    def _give_up(self) -> None:
        self.is_open = False
        if self.fd < 0:
            return
        # What is still buffered would fail once more when Python exits, and spoil the exit code.
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fd)
            os.close(nowhere)


def _descriptor(stream: TextIO) -> int:
    try:
        return stream.fileno()
    except (OSError, AttributeError, ValueError):
        return -1


def _is_writable(fd: int) -> bool:
    try:
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        return bool(poll.poll(0))
    except (OSError, ValueError):
        return True
