"""A screen that reads along with sessions which other processes look after."""

import os
from contextlib import AbstractContextManager
from typing import Final

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.check_events import CheckEnded, CheckStarted
from ralph.core.events import Recorded, SessionEnded, SessionStarted
from ralph.core.handoff_events import SessionHandedOver
from ralph.core.ids import TaskId
from ralph.core.json_text import NOT_JSON
from ralph.files import open_regular
from ralph.ports.clock import Clock
from ralph.ports.sink import Sink

PAUSE_S: Final = 0.4
MOST_BYTES: Final = 64 * 1024
"""Of one session at each look; of a flood the newest is shown."""
LONGEST: Final = 1 << 20
"""A line that is longer is not waited for."""

_DECODE = msgspec.json.Decoder(AgentEvent).decode


class Stream:
    """What a session says, in the file beside its log, as far as it was read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._read_to = 0
        self._rest = b""

    def more(self) -> list[AgentEvent]:
        """What has come since the last look."""
        try:
            with open_regular(self._path) as file:
                behind = os.fstat(file.fileno()).st_size - self._read_to
                if behind > MOST_BYTES:
                    self._read_to += behind - MOST_BYTES
                    self._rest = b""
                file.seek(self._read_to)
                data = file.read(MOST_BYTES)
        except OSError:
            return []  # it is made when the session starts to speak
        self._read_to += len(data)
        whole, newline, rest = (self._rest + data).rpartition(b"\n")
        self._rest = rest[-LONGEST:]
        return _events(whole + newline)


def _events(data: bytes) -> list[AgentEvent]:
    found: list[AgentEvent] = []
    for line in data.splitlines():
        try:
            found.append(_DECODE(line))
        except NOT_JSON:
            continue  # cut off, or written by another version
    return found


class Overhearing:
    """Passes everything on to the screen, and what sessions write about themselves."""

    def __init__(self, screen: Sink, root: str, clock: Clock) -> None:
        self._screen = screen
        self._root = root
        self._clock = clock
        self._streams: dict[TaskId, Stream] = {}
        self._looked = float("-inf")

    def event(self, recorded: Recorded) -> None:
        """Sessions begin and end; what one said before its end is shown before it."""
        event = recorded.event
        if isinstance(event, SessionEnded | SessionHandedOver | CheckEnded):
            self._hear(event.task_id)
            self._streams.pop(event.task_id, None)
        self._screen.event(recorded)
        if isinstance(event, SessionStarted | CheckStarted):
            stream = os.path.splitext(os.path.join(self._root, event.log))[0] + ".jsonl"
            self._streams[event.task_id] = Stream(stream)

    def said(self, task: TaskId, event: AgentEvent) -> None:
        """In this very process."""
        self._screen.said(task, event)

    def tick(self) -> None:
        """Look into the files, a few times a second."""
        now = self._clock.monotonic()
        if now - self._looked >= PAUSE_S:
            self._looked = now
            for task in tuple(self._streams):
                self._hear(task)
        self._screen.tick()

    def _hear(self, task: TaskId) -> None:
        if stream := self._streams.get(task):
            for event in stream.more():
                self._screen.said(task, event)

    def aside(self) -> AbstractContextManager[None]:
        """Only the screen is in the way."""
        return self._screen.aside()

    def close(self) -> None:
        """Only the screen has a terminal."""
        self._screen.close()
