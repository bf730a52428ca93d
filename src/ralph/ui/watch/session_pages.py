"""What a session said: its newest lines while it works, or all of it page by page.

Of a long session only some pages are in memory; a page is read from its bytes when it is needed.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rich.text import Text

from ralph.core.agent_events import AgentEvent
from ralph.ui.session_stream import (
    MOST_BYTES,
    FileTail,
    decode_events,
    find_bytes,
    read_page,
    read_page_before,
    start_of_line,
    stream_of,
)
from ralph.ui.transcript import Transcript, TranscriptLine, transcript_lines
from ralph.ui.watch.line_view import Line

PAGE: Final = 128 * 1024
KEPT: Final = 4
"""Pages in memory."""
MOST_LINES: Final = 2000
STYLES: Final = {
    "": "",
    "2": "dim",
    "31": "red",
    "33": "yellow",
    "36": "cyan",
    "2;3": "dim italic",
}
"""SGR codes as styles."""


def styled(line: TranscriptLine) -> Line:
    mark = line.tone.mark
    return Line(Text(f"{mark}{line.text}".rstrip(), STYLES[line.tone.code]), hang=len(mark))


class LiveTail:
    """Follows a session: `more` are the lines that came since the last time."""

    def __init__(self, log: str) -> None:
        self.log = log
        self._tail = FileTail(stream_of(log), newest=MOST_BYTES)
        self._transcript = Transcript()

    def more(self) -> list[Line]:
        data = self._tail.lines()
        return [
            styled(line)
            for event in decode_events(data or b"")
            for line in self._transcript.add(event)
        ]

    def begun(self) -> list[Line]:
        """Messages that are still being written."""
        return [styled(line) for line in self._transcript.begun()]


class _Page(NamedTuple):
    start: int
    next: int
    lines: list[Line]


class LogPages:
    """A window onto the whole of a session."""

    def __init__(self, log: str) -> None:
        self.log = log
        self._path = stream_of(log)
        self._pages: deque[_Page] = deque()

    def lines(self) -> list[Line]:
        return [line for page in self._pages for line in page.lines]

    def to_start(self) -> None:
        self._pages.clear()
        self.forward()

    def to_end(self) -> None:
        self._pages.clear()
        self._pages.append(self._before(-1))

    def has_grown(self) -> bool:
        try:
            return os.path.getsize(self._path) > (self._pages[-1].next if self._pages else 0)
        except OSError:
            return False

    def forward(self) -> int | None:
        """Take the page after the last one. How many lines have left at the top; None without such
        a page."""
        start = self._pages[-1].next if self._pages else 0
        page = read_page(self._path, start, PAGE)
        if page.next == start:
            return None
        found = _Page(start, page.next, _drawn(page.events))
        last = self._pages[-1] if self._pages else None
        if last is not None and found.next - last.start <= PAGE:
            # A session at work adds a line now and then: that is no page of its own.
            self._pages[-1] = _Page(last.start, found.next, last.lines + found.lines)
            return 0
        self._pages.append(found)
        return len(self._pages.popleft().lines) if len(self._pages) > KEPT else 0

    def backward(self) -> int | None:
        """Take the page before the first one. How many lines have come at the top; None without
        such a page."""
        if not self._pages or not self._pages[0].start:
            return None
        self._pages.appendleft(self._before(self._pages[0].start))
        if len(self._pages) > KEPT:
            self._pages.pop()
        return len(self._pages[0].lines)

    def _before(self, end: int) -> _Page:
        page = read_page_before(self._path, end, PAGE)
        return _Page(page.start, page.next, _drawn(page.events))

    def find(self, text: str, way: int) -> bool:
        """Go to the next page with a text that is not in memory, its line first; after one end of
        the session comes the other."""
        wanted = text.casefold()
        for start in self._found(text, way):
            page = read_page(self._path, start, PAGE)
            lines = _drawn(page.events)
            if any(wanted in line.text.plain.casefold() for line in lines):
                self._pages = deque([_Page(start, page.next, lines)])
                return True
        return False

    def _found(self, text: str, way: int) -> Iterator[int]:
        """Where the lines begin that have it."""
        first = self._pages[0].start if self._pages else 0
        last = self._pages[-1].next if self._pages else 0
        for begin, end in ((last, -1), (0, last)) if way > 0 else ((0, first), (first, -1)):
            start, stop = begin, end
            while (at := find_bytes(self._path, text, start, stop, way)) >= 0:
                line = start_of_line(self._path, at)
                yield line
                start, stop = (max(at + 1, line + PAGE), stop) if way > 0 else (start, line)


def _drawn(events: Iterable[AgentEvent]) -> list[Line]:
    return list(map(styled, transcript_lines(events)))
