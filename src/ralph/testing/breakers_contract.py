"""What every store promises about breakers."""

from ralph.core.breaker import Breaker, Cause, State
from ralph.core.events import BreakerClosed
from ralph.core.ids import TaskId
from ralph.ports.store import Store
from ralph.testing.store_words import RUN, Contract

OPEN = Breaker(
    state=State.OPEN,
    cause=Cause.FAILURES,
    failures=3,
    stagnation=1,
    reason="no claim",
    task=TaskId("t-000001"),
    trials=1,
    at=1234.5,
)


class BreakersContract(Contract):
    """One for each seat."""

    def test_a_breaker_that_nobody_knows_is_closed(self, store: Store) -> None:
        assert store.breaker("teammate-1") == Breaker()
        assert store.breakers() == {}

    def test_a_breaker_comes_back_as_it_was(self, store: Store) -> None:
        store.save_breaker("teammate-1", OPEN)
        assert store.breaker("teammate-1") == OPEN

    def test_seats_have_breakers_of_their_own(self, store: Store) -> None:
        store.save_breaker("teammate-2", OPEN)
        store.save_breaker("teammate-1", Breaker(failures=1))
        assert store.breaker("teammate-1").failures == 1
        assert store.breakers() == {"teammate-1": Breaker(failures=1), "teammate-2": OPEN}

    def test_the_newest_counts_and_its_event_comes_with_it(self, store: Store) -> None:
        store.save_breaker("teammate-1", OPEN)
        event = BreakerClosed(seat="teammate-1")
        store.save_breaker("teammate-1", Breaker(), event, RUN)
        assert store.breaker("teammate-1") == Breaker()
        assert [one.event for one in store.events()] == [event]
