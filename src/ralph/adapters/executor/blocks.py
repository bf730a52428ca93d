"""Bytes in, blocks of whole lines out, in bounded memory."""

from collections.abc import Callable


class Blocks:
    """Cuts a stream at its newlines, many lines at a time: no work is done for each line."""

    def __init__(self, line_limit: int, deliver: Callable[[bytes], None]) -> None:
        self._limit = max(1, line_limit)
        self._deliver = deliver
        # An unfinished line, in parts: joining at every chunk would copy a long line again and
        # again.
        self._held: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Deliver the lines that are whole now; hold the rest back."""
        taken = line = 0
        room = self._limit - self._size
        # The last newline within a limit's reach is enough to know that no line up to there is
        # too long, so this turns once for each limit, not once for each line.
        while len(chunk) - line > room:
            newline = chunk.rfind(b"\n", line, line + room)
            if newline >= 0:
                line = newline + 1
            else:
                self._hand_over(chunk, taken, line)
                taken = line
                line += room
                self._hand_over(chunk, taken, line, piece=True)
                taken = line
            room = self._limit
        end = chunk.rfind(b"\n", line) + 1
        self._hand_over(chunk, taken, end or line)
        self._hold(chunk, max(taken, end or line))

    def flush(self) -> None:
        """The stream is over: what is held is a line without an end."""
        if self._held:
            self._hand_over(b"", 0, 0, piece=True)

    def _hand_over(self, chunk: bytes, start: int, end: int, *, piece: bool = False) -> None:
        if start == end and not piece:
            return
        whole = start == 0 and end == len(chunk)
        block = chunk if whole else chunk[start:end]
        if self._held:
            block = b"".join((*self._held, block))
            self._held.clear()
            self._size = 0
        self._deliver(block)

    def _hold(self, chunk: bytes, start: int) -> None:
        if start < len(chunk):
            part = chunk[start:] if start else chunk
            self._held.append(part)
            self._size += len(part)
