"""How screens say money, moments and numbers, so that all of them say it alike."""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from ralph.core import spent
from ralph.core.safe_text import one_line

REASON_WIDTH: Final = 200
WARNING_WIDTH: Final = 1000
SGR: Final = re.compile("\x1b\\[[0-9;:]*m")
"""The sequences that colour text."""


def moment(text: str) -> float | None:
    """Seconds since the epoch of a stored time; None where it cannot be read."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def time_of_day(at: float | None) -> str:
    """`15:04:05`, in the person's own time zone."""
    return "--:--:--" if at is None else time.strftime("%H:%M:%S", time.localtime(at))


def clock(at: float | None, now: float | None = None) -> str:
    """`14:05` today, `Fri 14:05` in the days around it, else with its date; in the person's own
    time zone. Empty where nobody knows, or where the number is no moment at all."""
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


def countdown(left_s: float) -> str:
    """`23:10`, `1:23:10`, `2d 1:23:10`"""
    left = max(0, int(left_s))
    days, left = divmod(left, 86400)
    hours, left = divmod(left, 3600)
    minutes = f"{left // 60:02}:{left % 60:02}" if hours or days else f"{left // 60}:{left % 60:02}"
    hours_too = f"{hours}:{minutes}" if hours or days else minutes
    return f"{days}d {hours_too}" if days else hours_too


def day(at: float | None) -> str:
    """`2026-07-30`, in the person's own time zone."""
    return "" if at is None else time.strftime("%Y-%m-%d", time.localtime(at))


def many(number: int, thing: str) -> str:
    """`1 task`, `2 tasks`, `2 processes`."""
    ending = "" if number == 1 else "es" if thing.endswith("s") else "s"
    return f"{number} {thing}{ending}"


def first_line(text: str | None) -> str:
    """The first line that says something, safe to show: the rest is for the log."""
    lines = (text or "")[:4000].lstrip().splitlines()
    return one_line(lines[0], REASON_WIDTH) if lines else ""


def whole(text: str) -> str:
    """Words of Ralph's own: at their end they often have the command that helps."""
    return one_line(text, WARNING_WIDTH)


def denials(tools: Mapping[str, int]) -> str:
    """`Bash (2), Write`: tool calls that were not permitted."""
    names = [
        f"{one_line(name, 40)} ({count})" if count > 1 else one_line(name, 40)
        for name, count in tools.items()
    ]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def dollars(cost_usd: float | None, *, estimated: bool = False) -> str:
    """`$0.12`, `~$0.12` for an estimate. Cost that nobody reported is unknown, never $0."""
    return "cost unknown" if cost_usd is None else spent.dollars(cost_usd, estimated=estimated)


def cost(sum_: spent.Spent) -> str:
    """A sum among other facts."""
    if not sum_.sessions:
        return "no cost"
    return "cost unknown" if sum_.unknown == sum_.sessions else str(sum_)


def uncoloured(text: str) -> str:
    """A program's output without its colours. Whatever else it would do to a terminal stays."""
    return SGR.sub("", text) if "\x1b" in text else text


def excerpt(lines: list[str], most: int) -> list[str]:
    """At most so many lines: the first, and as many of the last as fit."""
    if len(lines) <= most:
        return lines
    if most < 3:
        return lines[:most]
    return [lines[0], f"… {len(lines) - most + 1} more lines", *lines[2 - most :]]
