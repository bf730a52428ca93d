"""Whether workers may start sessions."""

from collections.abc import Mapping

import msgspec

from ralph.adapters.store.ledger import LedgerPart
from ralph.adapters.store.part import reading, whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import as_json
from ralph.core.breaker import Breaker
from ralph.core.events import Event
from ralph.core.ids import RunId

SQL = Queries("breakers")


class BreakersPart(LedgerPart):
    """`Breakers` on the table of that name."""

    @reading
    def breaker(self, seat: str) -> Breaker:
        """Closed, where nothing is known."""
        data = self.db.value(SQL.breaker, {"seat": seat})
        return Breaker() if data is None else _breaker_of(data)

    @reading
    def breakers(self) -> Mapping[str, Breaker]:
        """All that have ever counted anything."""
        return {seat: _breaker_of(data) for seat, data in self.db.rows(SQL.breakers)}

    @whole
    def save_breaker(
        self, seat: str, breaker: Breaker, event: Event | None = None, run: RunId | None = None
    ) -> None:
        """Remember it, with the event that tells of it."""
        values = {"seat": seat, "state": breaker.state.value, "data": as_json(breaker)}
        self.db.execute(SQL.save, values)
        if event is not None:
            self.emit(event, run)


def _breaker_of(data: str) -> Breaker:
    return msgspec.json.decode(data, type=Breaker)
