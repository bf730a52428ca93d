"""How long a child may go on: hard, idle, and after its result."""

import math

from ralph.core.ending import Stop
from ralph.ports.executor import Listener, Timeouts


class Timers:
    """Three timeouts on monotonic time; 0 switches one off."""

    def __init__(self, timeouts: Timeouts, now: float) -> None:
        self._hard_at = now + timeouts.hard_s if timeouts.hard_s > 0 else math.inf
        self._idle_s = timeouts.idle_s if timeouts.idle_s > 0 else math.inf
        self._after_result_s = timeouts.after_result_s
        self._quiet_since = now
        self._result_at = math.inf

    def heard(self, now: float) -> None:
        """It said something: not idle."""
        self._quiet_since = now

    def due(self, now: float, listener: Listener) -> Stop | None:
        """The timeout that has passed, if one has."""
        if self._after_result_s > 0 and listener.has_result:
            # The work is done and paid for: running out of the hard time now must not undo it.
            self._result_at = min(self._result_at, now)
            return Stop.AFTER_RESULT if now >= self._result_at + self._after_result_s else None
        if listener.is_busy:
            self._quiet_since = now
        if now >= self._hard_at:
            return Stop.HARD
        return Stop.IDLE if now >= self._quiet_since + self._idle_s else None

    def next_at(self) -> float:
        """When to look again."""
        if self._result_at < math.inf:
            return self._result_at + self._after_result_s
        return min(self._hard_at, self._quiet_since + self._idle_s)
