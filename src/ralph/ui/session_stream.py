"""Read the files that a session at work writes: its raw log, and its events beside it."""

import os
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.events import Event
from ralph.core.ids import TaskId
from ralph.core.json_text import NOT_JSON
from ralph.files import open_regular
from ralph.ui.team_view import SessionBegins, SessionEnds

CHUNK: Final = 1 << 20
LONGEST_LINE: Final = 16 * CHUNK
MOST_BYTES: Final = 64 * 1024
"""Of one session at each look of a screen; of a flood the newest is shown."""

_DECODE = msgspec.json.Decoder(AgentEvent).decode


def stream_of(log: str) -> str:
    """The file with a session's events, beside its raw log."""
    return os.path.splitext(log)[0] + ".jsonl"


def decode_events(data: bytes) -> Iterator[AgentEvent]:
    """Lines as events; a line that was cut off or that another version wrote is left out."""
    for line in data.splitlines():
        try:
            yield _DECODE(line)
        except NOT_JSON:
            continue


class EventsPage(NamedTuple):
    events: list[AgentEvent]
    next: int
    """The byte where the next page begins."""
    is_last: bool
    """The file has no more whole lines yet."""


def read_page(path: str, start: int, most: int = CHUNK) -> EventsPage:
    """The events of a session from a byte on: so many bytes of whole lines, however long the file
    is. A single line that is longer is left out."""
    try:
        with open_regular(path) as file:
            file.seek(start)
            data = file.read(most)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return EventsPage([], start, is_last=True)
    end = data.rfind(b"\n") + 1
    if not end and len(data) == most:
        end = most
    is_last = start + len(data) >= size
    return EventsPage([*decode_events(data[:end])], start + end, is_last=is_last)


class PageBefore(NamedTuple):
    events: list[AgentEvent]
    start: int
    """The byte where it begins; 0 is the beginning of the file."""
    next: int


def read_page_before(path: str, end: int, most: int = CHUNK) -> PageBefore:
    """The events of a session up to a byte, or (-1) to its end: so many bytes of whole lines."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            end = size if end < 0 else min(end, size)
            start = max(0, end - most)
            file.seek(start)
            data = file.read(end - start)
    except OSError:
        return PageBefore([], 0, 0)
    if start:
        # The line that was begun before belongs to the page before, unless it is the only one.
        whole = data.find(b"\n") + 1
        start, data = (start + whole, data[whole:]) if whole < len(data) else (start, b"")
    last = data.rfind(b"\n") + 1
    return PageBefore([*decode_events(data[:last])], start, start + last)


def find_bytes(path: str, text: str, start: int, end: int, way: int) -> int:
    """Where a session's file has a text, as its JSON has it: the first place between two bytes, or
    (`way` -1) the last; -1 without one. An `end` of -1 is that of the file."""
    import re

    needle = msgspec.json.encode(text)[1:-1]
    pattern = re.compile(re.escape(needle), re.IGNORECASE)
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            stop = size if end < 0 else min(end, size)
            for at in range(start, stop, CHUNK)[::way]:
                file.seek(at)
                data = file.read(min(CHUNK + len(needle), stop - at))
                found = pattern.search(data)
                if found is not None and way < 0:
                    *_, found = pattern.finditer(data)
                if found is not None:
                    return at + found.start()
    except OSError:
        pass
    return -1


def start_of_line(path: str, at: int) -> int:
    """Where the line of a byte begins; of a very long one, some place in it."""
    start = max(0, at - CHUNK)
    with open_regular(path) as file:
        file.seek(start)
        return start + file.read(at - start).rfind(b"\n") + 1


class FileTail:
    """Remembers how far it has read; a file that does not exist yet is empty."""

    def __init__(self, path: str, *, from_end: bool = False, newest: int = 0) -> None:
        """Where more than `newest` bytes have come since the last look, the first are skipped."""
        self.path = path
        self._read_to = 0
        self._newest = newest
        self._rest = b""
        if from_end:
            try:
                self._read_to = os.path.getsize(path)
            except OSError:
                self._read_to = 0

    def more(self) -> bytes:
        """Some of what has come since the last look; nothing when that was all."""
        try:
            with open_regular(self.path) as file:
                new = os.fstat(file.fileno()).st_size - self._read_to
                if self._newest and new > self._newest:
                    self._read_to += new - self._newest
                    self._rest = b""
                file.seek(self._read_to)
                data = file.read(CHUNK)
        except OSError:
            # It is made when the session starts to speak.
            return b""
        self._read_to += len(data)
        return data

    def lines(self) -> bytes | None:
        """The same in whole lines, perhaps none yet; None when that was all."""
        more = self.more()
        if not more:
            return None
        whole, newline, rest = (self._rest + more).rpartition(b"\n")
        # A line without an end must not be kept for ever.
        self._rest = rest if len(rest) < LONGEST_LINE else b""
        return whole + newline

    def rest(self) -> bytes:
        """The last line, if nothing has ended it."""
        rest, self._rest = self._rest, b""
        return rest


class SessionTails:
    """What the sessions at work say, by their tasks; sessions are followed from start to end."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._tails: dict[TaskId, FileTail] = {}

    def open(self, task: TaskId, log: str) -> None:
        if log:
            path = stream_of(os.path.join(self._root, log))
            self._tails[task] = FileTail(path, newest=MOST_BYTES)

    def begin(self, event: Event) -> None:
        """After the event is shown: follow the session that it begins."""
        if isinstance(event, SessionBegins):
            self.open(event.task_id, event.log)

    def end(self, event: Event) -> Iterator[tuple[TaskId, AgentEvent]]:
        """Before the event is shown: the last that the session said that it ends."""
        if isinstance(event, SessionEnds):
            yield from self._read(event.task_id)
            self._tails.pop(event.task_id, None)

    def more(self) -> Iterator[tuple[TaskId, AgentEvent]]:
        """What has come since the last time; of a flood the newest."""
        for task in tuple(self._tails):
            yield from self._read(task)

    def _read(self, task: TaskId) -> Iterator[tuple[TaskId, AgentEvent]]:
        if tail := self._tails.get(task):
            for event in decode_events(tail.lines() or b""):
                yield task, event
