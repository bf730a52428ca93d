"""Moments as text: ISO 8601, UTC, to the microsecond, so that text order is time order."""

from datetime import UTC, datetime


def iso(epoch_s: float) -> str:
    """`2026-11-15T08:43:00.123456Z`"""
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def epoch(text: str) -> float:
    """The inverse of `iso`."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC).timestamp()
