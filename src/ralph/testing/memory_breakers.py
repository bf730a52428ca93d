"""The memory store's breakers."""

from collections.abc import Mapping

from ralph.core.breaker import Breaker
from ralph.core.events import Event
from ralph.core.ids import RunId
from ralph.testing.memory_state import State


class MemoryBreakers:
    """`Breakers` on a dict."""

    def __init__(self, state: State) -> None:
        self._state = state

    def breaker(self, seat: str) -> Breaker:
        return self._state.breakers.get(seat, Breaker())

    def breakers(self) -> Mapping[str, Breaker]:
        return dict(self._state.breakers)

    def save_breaker(
        self, seat: str, breaker: Breaker, event: Event | None = None, run: RunId | None = None
    ) -> None:
        with self._state.transaction():
            self._state.breakers[seat] = breaker
            if event is not None:
                self._state.emit(event, run)
