"""The clock, so that tests can control the time."""

from typing import Protocol


class Clock(Protocol):
    """Wall-clock time for people, monotonic time for measuring."""

    def now(self) -> float:
        """Seconds since the epoch. May jump."""

    def monotonic(self) -> float:
        """Seconds that never go back. Timeouts use only these."""
