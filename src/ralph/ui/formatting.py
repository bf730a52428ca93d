"""Format money, times, numbers, tables and trees, alike on all screens."""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from ralph.core import cost
from ralph.core.safe_text import first_few, one_line

REASON_WIDTH: Final = 500
"""The way out comes last, so a reason is long before it is cut."""
SGR: Final = re.compile("\x1b\\[[0-9;:]*m")
"""The sequences that colour text."""
GAP: Final = "  "
NARROWEST: Final = 8
DEEPEST: Final = 40
COLORS: Final[Mapping[str, str]] = {
    "done": "32",
    "failed": "31",
    "blocked": "33",
    "in_progress": "36",
    "pending": "2",
}
"""The colour of a cell that is one of these words."""


def parse_time(text: str | None) -> float | None:
    """Seconds since the epoch of a stored time; None where there is none or it cannot be read."""
    try:
        read = datetime.fromisoformat(text or "")
    except ValueError:
        return None  # a person may open the database and write a time in another format
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def time_of_day(at: float | None) -> str:
    """`15:04:05`, in the person's own time zone."""
    return "--:--:--" if at is None else time.strftime("%H:%M:%S", time.localtime(at))


def format_time(at: float | None, now: float | None = None) -> str:
    """`14:05` today, `Fri 14:05` in the days around it, otherwise with its date; in the person's
    own time zone. Empty for None, and for a number that is no time."""
    try:
        then = time.localtime(at) if at is not None else None
    except (ValueError, OverflowError, OSError):
        then = None
    if at is None or then is None or then.tm_year > 9999:
        return ""
    if now is None or abs(at - now) > 6 * 86400:
        return time.strftime("%Y-%m-%d %H:%M", then)
    today = time.localtime(now)
    is_today = (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M" if is_today else "%a %H:%M", then)


def format_countdown(left_s: float) -> str:
    """`23:10`, `1:23:10`, `2d 1:23:10`"""
    left = max(0, int(left_s))
    days, left = divmod(left, 86400)
    hours, left = divmod(left, 3600)
    minutes = f"{left // 60:02}:{left % 60:02}" if hours or days else f"{left // 60}:{left % 60:02}"
    hours_too = f"{hours}:{minutes}" if hours or days else minutes
    return f"{days}d {hours_too}" if days else hours_too


def format_day(at: float | None) -> str:
    """`2026-07-30`, in the person's own time zone."""
    return "" if at is None else time.strftime("%Y-%m-%d", time.localtime(at))


def count_text(number: int, thing: str) -> str:
    """`1 task`, `2 tasks`, `2 processes`, `2 stories`."""
    if number != 1:
        stem = f"{thing[:-1]}ie" if thing.endswith("y") else thing
        thing = f"{stem}es" if thing.endswith("s") else f"{stem}s"
    return f"{number} {thing}"


def first_line(text: str | None) -> str:
    """The first line that says something, safe to show: the rest is for the log."""
    lines = (text or "")[:4000].lstrip().splitlines()
    return one_line(lines[0], REASON_WIDTH) if lines else ""


def denials(tools: Mapping[str, int]) -> str:
    """`Bash (2), Write`: tool calls that were not permitted."""
    names = [
        f"{one_line(name, 40)} ({count})" if count > 1 else one_line(name, 40)
        for name, count in tools.items()
    ]
    return first_few(names, 5)


def dollars(cost_usd: float | None, *, estimated: bool = False) -> str:
    """`$0.12`, `~$0.12` for an estimate. Cost that was not reported is unknown, never $0."""
    return "cost unknown" if cost_usd is None else cost.dollars(cost_usd, estimated=estimated)


def cost_text(sum_: cost.CostSummary) -> str:
    """A sum among other facts."""
    if not sum_.sessions:
        return "no cost"
    return "cost unknown" if sum_.unknown == sum_.sessions else str(sum_)


def without_colors(text: str) -> str:
    """A program's output without its colours. Whatever else it would do to a terminal stays."""
    return SGR.sub("", text) if "\x1b" in text else text


def excerpt(lines: list[str], most: int) -> list[str]:
    """At most so many lines: the first, and as many of the last as fit."""
    if len(lines) <= most:
        return lines
    if most < 3:
        return lines[:most]
    return [lines[0], f"… {len(lines) - most + 1} more lines", *lines[2 - most :]]


class TreeRow(NamedTuple):
    """A node of a tree. Parents come before their children."""

    key: str
    parent: str | None
    label: str
    status: str = ""


def table(
    rows: Iterable[Sequence[str]], headers: Sequence[str], *, width: int = 0, color: bool = False
) -> list[str]:
    """Aligned columns. With a width the widest column is cut until a line fits it."""
    cells = [[_safe(cell) for cell in row] for row in rows]
    widths = _widths([*cells, headers] if headers else cells, width)
    head = GAP.join(fit(cell, room) for cell, room in zip(headers, widths, strict=False)).rstrip()
    lines = [_paint(head, "1", wanted=color)] if headers else []
    for row in cells:
        painted = [
            _paint(fit(cell, room, pad=index < len(row) - 1), COLORS.get(cell, ""), wanted=color)
            for index, (cell, room) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(GAP.join(painted).rstrip())
    return lines


def tree(branches: Iterable[TreeRow], *, width: int = 0, color: bool = False) -> list[str]:
    """Nodes below their parents, with guides. A node whose parent is not there is a root."""
    below: dict[str | None, list[TreeRow]] = {}
    known: set[str] = set()
    for branch in branches:
        parent = branch.parent if branch.parent in known else None
        known.add(branch.key)
        below.setdefault(parent, []).append(branch)
    lines: list[str] = []
    # A stack and not recursion: a chain of tasks can be deeper than Python's own stack.
    stack = [(branch, "", "") for branch in reversed(below.get(None, ()))]
    while stack:
        branch, lead, guide = stack.pop()
        label = _safe(branch.label)
        if width:
            label = fit(label, max(NARROWEST, width - len(lead)), pad=False)
        lines.append(lead + _paint(label, COLORS.get(branch.status, ""), wanted=color))
        # Guides of a very deep chain would grow with the square of its length.
        deep = len(guide) >= len("│  ") * DEEPEST
        is_last = True
        for child in reversed(below.get(branch.key, ())):
            lead = f"{guide}{'└─ ' if is_last else '├─ '}"
            stack.append((child, lead, guide if deep else guide + ("   " if is_last else "│  ")))
            is_last = False
    return lines


def text_width(text: str) -> int:
    """How many columns a text fills: East Asian characters fill two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )


def fit(text: str, width: int, *, pad: bool = True) -> str:
    """Cut to a number of columns, and filled up to it where asked."""
    used = text_width(text)
    if used > width:
        while text and used > width - 1:
            used -= text_width(text[-1])
            text = text[:-1]
        text, used = f"{text}…", used + 1
    return text + " " * (width - used) if pad else text


def _safe(text: str) -> str:
    # Most cells are harmless, and lists are long.
    return text if len(text) < 1000 and text.isprintable() else one_line(text)


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - width if width else 0
    while excess > 0 and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
        excess -= 1
    return widths


def _paint(text: str, code: str, *, wanted: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if wanted and code and text.strip() else text
