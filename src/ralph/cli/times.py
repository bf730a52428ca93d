"""Moments as people read them."""

import time

from ralph.core.moment import epoch


def local(text: str | None) -> str:
    """A stored moment in the person's own time zone: `2026-11-15 09:43:00`."""
    at = moment(text)
    return "" if at is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def moment(text: str | None) -> float | None:
    """Seconds since the epoch; None where there is no moment, or none that can be read."""
    try:
        return epoch(text) if text else None
    except ValueError:
        # Anyone may open the database and write a time in another format.
        return None


def since(text: str | None, now: float) -> float | None:
    """How many seconds ago it was."""
    at = moment(text)
    return None if at is None else max(0.0, now - at)
