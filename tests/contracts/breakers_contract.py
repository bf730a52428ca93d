"""What every store promises about breakers."""

from ralph.core.breaker import Breaker, BreakerCause, BreakerState
from ralph.core.events import BreakerClosed
from ralph.core.ids import TaskId
from ralph.store.store import Store
from tests.contracts.store_test_helpers import RUN, Contract

OPEN = Breaker(
    state=BreakerState.OPEN,
    cause=BreakerCause.FAILURES,
    failures=3,
    stagnation=1,
    reason="no claim",
    task=TaskId("t-000001"),
    trials=1,
    at=1234.5,
)


class BreakersContract(Contract):
    """One for each slot."""

    def test_a_breaker_that_nobody_knows_is_closed(self, store: Store) -> None:
        assert store.breakers.get("teammate-1") == Breaker()
        assert store.breakers.all() == {}

    def test_a_breaker_comes_back_as_it_was(self, store: Store) -> None:
        store.breakers.save("teammate-1", OPEN)
        assert store.breakers.get("teammate-1") == OPEN

    def test_slots_have_breakers_of_their_own(self, store: Store) -> None:
        store.breakers.save("teammate-2", OPEN)
        store.breakers.save("teammate-1", Breaker(failures=1))
        assert store.breakers.get("teammate-1").failures == 1
        assert store.breakers.all() == {"teammate-1": Breaker(failures=1), "teammate-2": OPEN}

    def test_the_newest_counts_and_its_event_comes_with_it(self, store: Store) -> None:
        store.breakers.save("teammate-1", OPEN)
        event = BreakerClosed(slot="teammate-1")
        store.breakers.save("teammate-1", Breaker(), event, RUN)
        assert store.breakers.get("teammate-1") == Breaker()
        assert [one.event for one in store.events.select()] == [event]
