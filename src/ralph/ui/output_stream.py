"""An output stream whose reader may be slow or gone."""

import contextlib
import errno
import os
import select
from typing import Final, TextIO

GONE: Final = frozenset({errno.EPIPE, errno.EIO, errno.ENXIO, errno.EBADF})
"""The reader will not come back. A full disk may, so then only what was written is lost."""


class OutputStream:
    """Writes and flushes; writes nothing more when the reader is gone."""

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
            self.is_open = error.errno not in GONE
            self._drop_unwritten()

    def write_if_ready(self, text: str) -> bool:
        """Write it unless the reader is not reading: a terminal held by Ctrl-S holds no loop."""
        if self.is_open and self.fd >= 0 and not _is_writable(self.fd):
            return False
        self.write(text)
        return True

    def _encodable(self, text: str) -> str:
        if self._is_unicode:
            return text
        return text.encode(self._encoding, "replace").decode(self._encoding)

    def _drop_unwritten(self) -> None:
        """Empty the buffer: it would fail again with the next line, and when Python exits."""
        if self.fd < 0:
            return
        with contextlib.suppress(OSError):
            nowhere, before = os.open(os.devnull, os.O_WRONLY), os.dup(self.fd)
            os.dup2(nowhere, self.fd)
            self._stream.flush()
            if self.is_open:
                os.dup2(before, self.fd)
            os.close(nowhere)
            os.close(before)


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
