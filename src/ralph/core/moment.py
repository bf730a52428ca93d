"""Moments as text: ISO 8601, UTC, to the microsecond, so that text order is time order."""

from datetime import UTC, datetime
from functools import lru_cache


def iso(epoch_s: float) -> str:
    """`2026-11-15T08:43:00.123456Z`"""
    seconds, microseconds = divmod(round(epoch_s * 1_000_000), 1_000_000)
    return f"{_second(seconds)}.{microseconds:06}Z"


@lru_cache(maxsize=1)
def _second(epoch_s: int) -> str:
    # Kept, since a busy store asks for thousands of moments in each of them.
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def epoch(text: str) -> float:
    """The inverse of `iso`."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC).timestamp()


def to_the_second(moment: str) -> str:
    """A moment as files have it that people read: without fractions."""
    whole, point, _ = moment.partition(".")
    return f"{whole}Z" if point else moment
