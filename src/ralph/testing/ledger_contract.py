"""What every store promises about costs."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.events import SessionEnded
from ralph.core.ids import RunId, TaskId
from ralph.core.moment import iso
from ralph.core.spent import Spent, one_session
from ralph.core.transitions import Rejected
from ralph.ports.ledger import Asked, By
from ralph.ports.store import Store
from ralph.testing.clock import FrozenClock
from ralph.testing.store_words import RUN, Contract, add, begin, claim, settle, start

LATER = RunId("run-2")
DAY_S = 86_400.0


def pay(
    store: Store, clock: FrozenClock, *, run: RunId = RUN, agent: str = "a", **ending: Any
) -> TaskId:
    """A session of whatever is ready, which costs something and is rejected."""
    taken = claim(store)
    session = start(store, taken, run_id=run, agent=agent, model="asked")
    clock.advance(10)
    ended = replace(
        session,
        ended_at=iso(clock.now()),
        ending=Ending(ended=Ended.FINISHED, **ending),
    )
    event = SessionEnded(session_id=session.id, task_id=taken.task.id, ended=Ended.FINISHED)
    store.end_session(ended, event)
    settle(store, taken, Rejected("once more"))
    return taken.task.id


class LedgerContract(Contract):
    """What was spent, and on what."""

    @pytest.fixture
    def zone(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Far from Greenwich, where it is another day for half of the time."""
        with monkeypatch.context() as patch:
            patch.setenv("TZ", "XXX-13")
            time.tzset()
            yield
        time.tzset()

    def test_nothing_is_spent_before_a_session_has_ended(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        start(store, claim(store))
        assert store.spent(Asked()) == Spent()
        assert store.costs(By.RUN, Asked()) == []

    def test_a_sum_tells_reported_estimated_and_unknown_apart(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        add(store, "a", max_retries=9)
        pay(store, clock, cost_usd=0.5, input_tokens=100, cached_tokens=60, output_tokens=10)
        pay(store, clock, cost_usd=0.25, estimated=True, input_tokens=50, output_tokens=5)
        pay(store, clock, output_tokens=7)
        pay(store, clock)
        assert store.spent(Asked()) == Spent(
            sessions=4,
            reported=1,
            estimated=1,
            unknown=2,
            reported_usd=0.5,
            estimated_usd=0.25,
            counted=3,
            input_tokens=150,
            cached_tokens=60,
            output_tokens=22,
        )

    def test_costs_are_put_together_by_what_is_asked(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        begin(store, LATER)
        a = add(store, "a", max_retries=9)
        pay(store, clock, agent="x", model="small", cost_usd=1.0)
        pay(store, clock, agent="y", model="large", cost_usd=4.0)
        pay(store, clock, agent="x", run=LATER, cost_usd=0.5)
        one, four, half = one_session(1.0), one_session(4.0), one_session(0.5)
        assert store.costs(By.RUN, Asked()) == [(LATER, half), (RUN, one + four)]
        assert store.costs(By.TASK, Asked()) == [(a, one + four + half)]
        assert store.costs(By.AGENT, Asked()) == [("y", four), ("x", one + half)]
        by_model = [("large", four), ("small", one), ("asked", half)]
        assert store.costs(By.MODEL, Asked()) == by_model
        assert store.costs(By.MODEL, Asked(), limit=1) == [("large", four)]
        assert store.costs(By.AGENT, Asked(run=LATER)) == [("x", half)]

    def test_odd_names_of_models_are_made_safe(self, store: Store, clock: FrozenClock) -> None:
        begin(store)
        add(store, "a")
        pay(store, clock, model="big\x1b[31m\udcff" + "x" * 500)
        ((name, _),) = store.costs(By.MODEL, Asked())
        assert name.isprintable()
        assert len(name) <= 200

    @pytest.mark.usefixtures("zone")
    def test_a_day_is_one_of_this_place(self, store: Store, clock: FrozenClock) -> None:
        begin(store)
        add(store, "a", max_retries=9)
        midnight = clock.now() - (clock.now() + 13 * 3600) % DAY_S
        clock.jump(midnight - clock.now() - 60)
        pay(store, clock, cost_usd=1.0)
        clock.jump(60)
        pay(store, clock, cost_usd=0.5)
        days = [time.strftime("%Y-%m-%d", time.gmtime(midnight + 13 * 3600 + n)) for n in (-1, 0)]
        before, after = one_session(1.0), one_session(0.5)
        assert store.costs(By.DAY, Asked()) == [(days[1], after), (days[0], before)]
        assert store.spent(Asked(since=iso(midnight))) == after

    def test_a_tasks_costs_are_those_of_all_below_it(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        leaf = add(store, "leaf", under=middle)
        add(store, "other", priority=1)
        assert pay(store, clock, cost_usd=1.0) == leaf
        store.force_done(leaf)
        pay(store, clock, cost_usd=8.0)
        for task in (top, middle, leaf):
            assert store.spent(Asked(task=task)) == one_session(1.0)
        assert store.costs(By.TASK, Asked(task=top)) == [(leaf, one_session(1.0))]

    def test_what_was_paid_for_a_deleted_task_stays_on_record(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        a = add(store, "a")
        pay(store, clock, cost_usd=1.0)
        store.delete_task(a)
        assert store.spent(Asked(task=a)) == one_session(1.0)
        assert store.costs(By.TASK, Asked()) == [(a, one_session(1.0))]

    def test_a_session_whose_end_is_told_twice_is_paid_once(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store))
        event = SessionEnded(session_id=session.id, task_id=a, ended=Ended.FINISHED)
        ended = replace(session, ended_at=iso(clock.now()))
        for cost in (1.0, 2.0):
            ending = Ending(ended=Ended.FINISHED, cost_usd=cost)
            store.end_session(replace(ended, ending=ending), event)
        assert store.spent(Asked()) == one_session(2.0)
