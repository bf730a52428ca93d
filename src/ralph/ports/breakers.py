"""What the store keeps of each worker's breaker."""

from collections.abc import Mapping
from typing import Protocol

from ralph.core.breaker import Breaker
from ralph.core.events import Event
from ralph.core.ids import RunId


class Breakers(Protocol):
    """One for each seat: a run of its own sits on `teammate-1`."""

    def breaker(self, seat: str) -> Breaker:
        """Closed, where nothing is known."""
        ...

    def breakers(self) -> Mapping[str, Breaker]:
        """All that have ever counted anything."""
        ...

    def save_breaker(
        self, seat: str, breaker: Breaker, event: Event | None = None, run: RunId | None = None
    ) -> None:
        """Remember it, with the event that tells of it."""
        ...
