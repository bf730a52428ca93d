"""How screens say money, moments and numbers, so that all of them say it alike."""

import time
from datetime import UTC, datetime

from ralph.core.safe_text import one_line

REASON_WIDTH = 200


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


def dollars(cost_usd: float | None) -> str:
    """Cost that nobody reported is unknown, never $0."""
    if cost_usd is None:
        return "cost unknown"
    return "under $0.01" if 0 < cost_usd < 0.01 else f"${cost_usd:.2f}"
