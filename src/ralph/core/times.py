"""Moments and durations as text: ISO 8601 in UTC, so that they sort by time; `30s`, `10m`, `8h`."""

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final


def to_iso(epoch_s: float) -> str:
    """`2026-11-15T08:43:00.123456Z`"""
    seconds, microseconds = divmod(round(epoch_s * 1_000_000), 1_000_000)
    return f"{_second(seconds)}.{microseconds:06}Z"


@lru_cache(maxsize=1)
def _second(epoch_s: int) -> str:
    # Kept, since a busy store asks for thousands of moments in each of them.
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def from_iso(text: str) -> float:
    """The inverse of `iso`."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC).timestamp()


def without_fraction(moment: str) -> str:
    """A moment as files have it that people read: without fractions."""
    whole, point, _ = moment.partition(".")
    return f"{whole}Z" if point else moment


UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DURATION: Final = re.compile(r"(\d*\.?\d+|\d+\.) *([smhd])")


def parse_duration(text: str) -> float:
    """`"10m"` is 600; an empty text is 0, which means without limit. Raises ValueError."""
    found = DURATION.fullmatch(text.strip())
    if not text.strip():
        return 0.0
    if found is None or float(found[1]) >= 1e9:
        raise ValueError(f"{text!r} is not a duration such as 30s, 10m or 8h")
    return float(found[1]) * UNITS[found[2]]


def format_duration(duration_s: float) -> str:
    """Format seconds: `95` becomes `1m 35s`."""
    total = round(duration_s)
    if duration_s < 10:
        return f"{duration_s:.1f}s"
    if total < 60:
        return f"{total}s"
    if total < 3600:
        return f"{total // 60}m {total % 60:02}s"
    return f"{total // 3600}h {total % 3600 // 60:02}m"
