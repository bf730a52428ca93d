"""Show the output of a session: its events in words, or its raw log."""

import os
import sys
from collections.abc import Callable
from typing import Final

from ralph.core.agent_events import Text, UnknownLine
from ralph.core.safe_text import multi_line
from ralph.files import open_regular
from ralph.ui.session_stream import FileTail, decode_events, stream_of
from ralph.ui.transcript import Transcript, TranscriptLine, transcript_lines

FIRST_BYTES: Final = 1 << 20
LAST_BYTES: Final = 4 * 1024 * 1024
"""How far back to look: one line of a log may be as long as it likes."""
WIDTH: Final = 2000
"""Longer lines are cut on the screen; `--raw` and the file have all of them."""
Paint = Callable[[str, str], str]
"""A text and a colour; on a screen without colours the text alone."""


def show_session(log: str, lines: int, paint: Paint, *, raw: bool) -> None:
    """Print the end of a session's output."""
    stream = stream_of(log)
    if raw or not _has_events(stream):
        _show_raw(log, lines, raw=raw)
        return
    with open_regular(stream) as file:
        found = transcript_lines(decode_events(file.read()))
    shown = found[-lines:]
    if shown:
        print()
    if left_out := len(found) - len(shown):
        print(paint(f"… {left_out} lines before these; -n {len(found)} has all", "2"))
    for line in shown:
        print(paint(line.marked, line.tone.code))


def _has_events(stream: str) -> bool | None:
    """Whether the agent reports events. None: it has not said anything yet.

    An agent that only prints begins with text. Its log says more then: it also has what went to
    standard error.
    """
    try:
        with open_regular(stream) as file:
            start = file.read(FIRST_BYTES)
    except OSError:
        return None
    for event in decode_events(start[: start.rfind(b"\n") + 1]):
        if not isinstance(event, UnknownLine):
            return not isinstance(event, Text)
    return False if len(start) == FIRST_BYTES else None


def _show_raw(path: str, lines: int, *, raw: bool) -> None:
    try:
        end = last_lines(path, lines)
    except FileNotFoundError:
        return
    if raw:
        sys.stdout.flush()
        sys.stdout.buffer.write(end)
    elif shown := safe_log(end).rstrip("\n"):
        print(f"\n{shown}")


def last_lines(path: str, lines: int) -> bytes:
    """The last lines of a file, without reading the rest of it."""
    with open_regular(path) as file:
        position = file.seek(0, os.SEEK_END)
        first = max(0, position - LAST_BYTES)
        tail = b""
        while position > first and tail.count(b"\n") <= lines:
            step = min(65536, position - first)
            position -= step
            file.seek(position)
            tail = file.read(step) + tail
    return b"".join(tail.splitlines(keepends=True)[-lines:]) if lines else b""


def safe_log(data: bytes) -> str:
    """Bytes of a log as text for a terminal: control characters visible, long lines cut."""
    lines = multi_line(data.decode("utf-8", "replace").replace("\r\n", "\n")).split("\n")
    return "\n".join(line if len(line) <= WIDTH else f"{line[:WIDTH]}…" for line in lines)


class SessionOutput:
    """Follows the output of a running session."""

    def __init__(
        self, log: str, paint: Paint, *, raw: bool, from_end: bool = False, who: str = ""
    ) -> None:
        """`who` begins each line, where there are several sessions."""
        self._paint = paint
        self._raw = raw
        self._who = who
        self._log = FileTail(log, from_end=from_end)
        self._stream = FileTail(stream_of(log), from_end=from_end)
        self._transcript = Transcript()
        self._has_events: bool | None = False if raw else None

    def print_new(self, *, is_over: bool = False) -> None:
        """Print new output; at the end also unfinished lines."""
        if self._has_events is None:
            self._has_events = _has_events(self._stream.path)
        if self._has_events:
            self._print_events(is_over=is_over)
        elif self._has_events is False or is_over:
            self._print_log(is_over=is_over)

    def _print_events(self, *, is_over: bool) -> None:
        while (more := self._stream.lines()) is not None:
            for event in decode_events(more):
                self._print_lines(self._transcript.add(event))
        if is_over:
            self._print_lines(self._transcript.end())

    def _print_lines(self, lines: list[TranscriptLine]) -> None:
        for line in lines:
            sys.stdout.write(self._who + self._paint(line.marked, line.tone.code) + "\n")

    def _print_log(self, *, is_over: bool) -> None:
        if self._raw:
            while more := self._log.more():
                sys.stdout.flush()
                sys.stdout.buffer.write(more)
            return
        while (lines := self._log.lines()) is not None:
            self._print_text(safe_log(lines))
        if is_over and (rest := self._log.rest()):
            self._print_text(safe_log(rest) + "\n")

    def _print_text(self, text: str) -> None:
        lines = text.splitlines(keepends=True) if self._who else [text]
        sys.stdout.write("".join(f"{self._who}{line}" for line in lines))
