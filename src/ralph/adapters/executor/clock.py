"""The machine's own clocks."""

import time


class SystemClock:
    """A `Clock` that tells the truth, as far as the machine knows it."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()
