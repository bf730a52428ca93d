"""A file that grows, read as far as it goes."""

import os
from typing import Final

from ralph.files import open_regular

CHUNK: Final = 1 << 20


class Tail:
    """Remembers how far it has read; a file that is not there yet is empty."""

    def __init__(self, path: str, *, from_end: bool = False) -> None:
        self.path = path
        self.read_to = 0
        self._rest = b""
        if from_end:
            try:
                self.read_to = os.path.getsize(path)
            except OSError:
                self.read_to = 0

    def more(self) -> bytes:
        """Some of what has come since the last look; nothing when that was all."""
        try:
            with open_regular(self.path) as file:
                file.seek(self.read_to)
                more = file.read(CHUNK)
        except OSError:
            # It is made when the session starts to speak.
            return b""
        self.read_to += len(more)
        return more

    def lines(self) -> bytes | None:
        """The same in whole lines, perhaps none yet; None when that was all."""
        more = self.more()
        if not more:
            return None
        whole, newline, rest = (self._rest + more).rpartition(b"\n")
        # A line without an end must not be kept for ever.
        self._rest = rest if len(rest) < 16 * CHUNK else b""
        return whole + newline

    def rest(self) -> bytes:
        """The last line, if nothing has ended it."""
        rest, self._rest = self._rest, b""
        return rest
