"""Time, so that tests can hold it still."""

from typing import Protocol


class Clock(Protocol):
    """Two kinds of time: one for people, one for measuring."""

    def now(self) -> float:
        """Seconds since the epoch. May jump."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back. Timeouts use only these."""
        ...
