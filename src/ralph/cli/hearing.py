"""What a session says: its events in words, or its log where it does not speak in events."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from ralph.cli.raw_log import safe, show_end
from ralph.cli.tail import Tail
from ralph.core.agent_events import AgentEvent, Text, Unknown
from ralph.core.json_text import NOT_JSON
from ralph.files import open_regular
from ralph.ui.transcript import Line, Transcript, transcript

FIRST_BYTES: Final = 1 << 20

Paint = Callable[[str, str], str]
"""A text and a colour; on a screen without colours the text alone."""

_DECODE = msgspec.json.Decoder(AgentEvent).decode


def stream_of(log: str) -> str:
    """The file with a session's events, beside its raw log."""
    return os.path.splitext(log)[0] + ".jsonl"


def events_of(data: bytes) -> Iterator[AgentEvent]:
    """Whole lines as events; a line that another version wrote is left out."""
    for line in data.splitlines():
        try:
            yield _DECODE(line)
        except NOT_JSON:
            continue


def speaks(stream: str) -> bool | None:
    """Does the agent speak in events? None: it has not said anything yet.

    One that only prints has text from the first word. Its log is the better story then: it also
    has what went to standard error.
    """
    try:
        with open_regular(stream) as file:
            start = file.read(FIRST_BYTES)
    except OSError:
        return None
    for event in events_of(start[: start.rfind(b"\n") + 1]):
        if not isinstance(event, Unknown):
            return not isinstance(event, Text)
    return False if len(start) == FIRST_BYTES else None


def show_session(log: str, lines: int, paint: Paint, *, raw: bool) -> None:
    """Print the end of what a session said."""
    stream = stream_of(log)
    if raw or not speaks(stream):
        show_end(log, lines, raw=raw)
        return
    with open_regular(stream) as file:
        told = transcript(events_of(file.read()))
    shown = told[-lines:]
    if shown:
        print()
    if len(told) > len(shown):
        print(paint(f"… {len(told) - len(shown)} lines before these; -n {len(told)} has all", "2"))
    for line in shown:
        print(paint(line.marked, line.tone.code))


class Hearing:
    """A session at work, followed."""

    def __init__(
        self, log: str, paint: Paint, *, raw: bool, from_end: bool = False, who: str = ""
    ) -> None:
        self.paint = paint
        self.raw = raw
        self.who = who
        """What each line begins with, where several speak."""
        self.log = Tail(log, from_end=from_end)
        self.stream = Tail(stream_of(log), from_end=from_end)
        self.transcript = Transcript()
        self.speaks: bool | None = False if raw else None

    def drain(self, *, is_over: bool = False) -> None:
        """Show what has come since the last look; at the end also what was not finished."""
        if self.speaks is None:
            self.speaks = speaks(self.stream.path)
        if self.speaks:
            self._drain_stream(is_over=is_over)
        elif self.speaks is False or is_over:
            self._drain_log(is_over=is_over)

    def _drain_stream(self, *, is_over: bool) -> None:
        while (more := self.stream.lines()) is not None:
            for event in events_of(more):
                self._show(self.transcript.take(event))
        if is_over:
            self._show(self.transcript.end())

    def _show(self, lines: list[Line]) -> None:
        for line in lines:
            sys.stdout.write(self.who + self.paint(line.marked, line.tone.code) + "\n")

    def _named(self, text: str) -> str:
        lines = text.splitlines(keepends=True) if self.who else ()
        return "".join(f"{self.who}{line}" for line in lines) or text

    def _drain_log(self, *, is_over: bool) -> None:
        if self.raw:
            while more := self.log.more():
                sys.stdout.flush()
                sys.stdout.buffer.write(more)
            return
        while (lines := self.log.lines()) is not None:
            sys.stdout.write(self._named(safe(lines)))
        if is_over and (rest := self.log.rest()):
            sys.stdout.write(self._named(safe(rest)) + "\n")
