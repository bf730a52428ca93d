"""A session's log: what the agent said and did, as messages and calls of tools."""

import os
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from ralph.core import agent_events as agent
from ralph.files import open_regular
from ralph.ui.attempt_view import Attempt
from ralph.ui.formatting import without_colors
from ralph.ui.session_stream import MOST_BYTES, FileTail, decode_events, read_page, stream_of
from ralph.ui.transcript import Transcript

PAGE: Final = 256 * 1024
"""Bytes of a session's events on one page."""
LONGEST_TEXT: Final = 20_000
RAW: Final = 8 * 1024 * 1024
MOST_FOUND: Final = 200
MOST_SEARCHED: Final = 64 * 1024 * 1024
"""Bytes that one search reads; the next goes on there."""


class SessionLog(NamedTuple):
    """One session of an attempt."""

    name: str
    """What it was for."""
    log: str
    is_open: bool
    """It is at work."""


def logs_of(attempt: Attempt) -> list[SessionLog]:
    session = attempt.session
    return [
        *(SessionLog(f"part {one.number}", one.log, is_open=False) for one in attempt.segments),
        SessionLog("work", session.log, is_open=session.ended_at is None),
        *(
            SessionLog(f"{one.role.value} {one.number}", one.log, is_open=one.ended_at is None)
            for one in attempt.checks
        ),
    ]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A message, or a call of a tool with its answer."""

    kind: str
    """text, thinking, tool, answer, failure, problem or note."""
    title: str = ""
    text: str = ""
    at: int = 0
    """The page on which it was found: the byte where that begins."""


class SearchResult(NamedTuple):
    entries: list[Entry]
    next: int
    """The byte where the search goes on."""
    is_last: bool


def search(log: str, start: int, words: str) -> SearchResult:
    """The entries that contain the words, in whatever case; a part of a long log."""
    found: list[Entry] = []
    at, is_last, wanted = start, False, words.casefold()
    while not is_last and len(found) < MOST_FOUND and at - start < MOST_SEARCHED:
        page = read_page(stream_of(log), at, PAGE)
        found += (
            msgspec.structs.replace(one, at=at)
            for one in entries_of(page.events)
            if wanted in f"{one.title} {one.text}".casefold()
        )
        at, is_last = page.next, page.is_last
    return SearchResult(found, at, is_last)


def newest_page(log: str) -> int:
    """Where the last page of a log begins. Half a page, so that what comes next fits on it."""
    try:
        return max(0, os.path.getsize(stream_of(log)) - PAGE // 2)
    except OSError:
        return 0


def entries_of(events: Iterable[agent.AgentEvent]) -> Iterator[Entry]:
    """Pieces of a message that is still being written are left out: the whole follows."""
    for event in events:
        match event:
            case agent.Text(partial=False, text=text):
                yield Entry(kind="text", text=text[:LONGEST_TEXT])
            case agent.Thinking(partial=False, text=text):
                yield Entry(kind="thinking", title="thinks", text=text[:LONGEST_TEXT])
            case agent.ToolUse(name=name, summary=summary):
                yield Entry(kind="tool", title=name, text=summary[:LONGEST_TEXT])
            case agent.ToolResult(text=text, error=error):
                kind = "failure" if error else "answer"
                title = "fails" if error else "answers"
                yield Entry(kind=kind, title=title, text=without_colors(text[:LONGEST_TEXT]))
            case agent.ToolDenied(name=name, summary=summary):
                yield Entry(kind="problem", title=f"{name} was not permitted", text=summary)
            case agent.AgentProblem(message=text) | agent.AgentRetry(message=text):
                yield Entry(kind="problem", title="trouble", text=text[:LONGEST_TEXT])
            case agent.SessionResultEvent(text=text, error=error, detail=detail):
                title = "ended with an error" if error else "ended"
                yield Entry(kind="note", title=title, text=(detail or text)[:LONGEST_TEXT])
            case _:
                continue


def last_lines(log: str, most: int = 6) -> list[str]:
    """The newest lines of a session that is at work."""
    transcript = Transcript()
    tail = FileTail(stream_of(log), newest=MOST_BYTES)
    events = decode_events(tail.lines() or b"")
    lines = [line for event in events for line in transcript.add(event)]
    return [line.marked for line in [*lines, *transcript.end()][-most:] if line.text.strip()]


def read_raw(log: str) -> bytes:
    """The raw log; of a very long one the end."""
    with open_regular(log) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - RAW))
        return file.read(RAW)
