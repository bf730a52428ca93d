"""The logs of iterations (`activity.log`, `errors.log`, `progress.md`), which only grow."""

import re
from collections.abc import Sequence
from typing import Final

from ralph.core.safe_text import one_line
from ralph.documents.markdown import line_end

LISTED: Final = 200
"""Files and commits in a list; others are counted."""
ERRORS_LOG: Final = ".ralph/errors.log"
FRESH_ERRORS_LOG: Final = "# Error Log\n\n> What failed. Read it before you try the same again.\n\n"
ACTIVITY_LOG: Final = ".ralph/activity.log"
SUMMARY: Final = "## Run Summary"
EVENTS: Final = "## Events"
SUMMARY_LINE: Final = re.compile(rf"^[ \t]*{SUMMARY}[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
EVENTS_LINE: Final = re.compile(rf"^[ \t]*{EVENTS}[ \t]*\r?$", re.MULTILINE)
FRESH_ACTIVITY_LOG: Final = f"# Activity Log\n\n{SUMMARY}\n\n{EVENTS}\n\n"
PROGRESS_LOG: Final = ".ralph/progress.md"
SIGIL: Final = re.compile(r"<(task-done|promise|next-model|phase-complete|knowledge|dismiss)\b")
LINES: Final = 20
WIDTH: Final = 500
"""Of a final message: the last lines, each cut to this width."""


def event_line(time: str, message: str) -> str:
    """`[2026-03-01 12:00:00] message`, a line of the activity log and of the errors log."""
    return f"[{time}] {one_line(message)}\n"


def with_summary(text: str, line: str) -> str:
    """The activity log with one more line on top of its summary."""
    text = text or FRESH_ACTIVITY_LOG
    end = line_end(text)
    if heading := SUMMARY_LINE.search(text):
        above = text[: heading.end()]
        below = text[heading.end() :].removeprefix(end)
        gap = end if below.startswith("#") else ""
        return f"{above}{'' if above.endswith(end) else end}{end}{line}{end}{gap}{below}"
    # A person has removed the section.
    events = EVENTS_LINE.search(text)
    above, below = (text[: events.start()], text[events.start() :]) if events else (text, "")
    above += "" if not above or above.endswith("\n") else end
    return f"{above}{SUMMARY}{end}{end}{line}{end}{end}{below}"


def listed(items: Sequence[str], indent: str = "") -> list[str]:
    more = [f"{indent}- and {len(items) - LISTED} more"] if len(items) > LISTED else []
    return [f"{indent}- {one_line(item)}" for item in items[:LISTED]] + more or [f"{indent}- none"]


def fresh_progress_log(date: str) -> str:
    return f"# Progress Log\nStarted: {date}\n\n## Codebase Patterns\n\n---\n\n"


def is_fresh_progress_log(text: str) -> bool:
    date = text.partition("Started: ")[2].partition("\n")[0]
    return text == fresh_progress_log(date)


def final_message_text(message: str) -> str:
    """The end of a final message, without its tags."""
    lines = _without_tags(message).strip().splitlines()[-LINES:]
    return "\n".join(one_line(line, WIDTH) if len(line) > WIDTH else line for line in lines)


def _without_tags(message: str) -> str:
    kept: list[str] = []
    at, open_ended = 0, set()
    for found in SIGIL.finditer(message):
        closing = f"</{found[1]}>"
        if found.start() < at or closing in open_ended:
            continue
        end = message.find(closing, found.end())
        if end < 0:
            # Searched once for each kind, however often it opens.
            open_ended.add(closing)
            continue
        kept.append(message[at : found.start()])
        at = end + len(closing)
    return "".join((*kept, message[at:]))
