"""What every store promises about costs."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from ralph.core.cost import CostSummary, session_cost
from ralph.core.errors import ClaimLost
from ralph.core.events import SessionEnded
from ralph.core.ids import RunId, TaskId
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.times import to_iso
from ralph.core.transitions import Rejected
from ralph.store.costs import CostFilter, CostGrouping
from ralph.store.store import Store
from tests.contracts.store_test_helpers import RUN, Contract, add, begin, claim, settle, start
from tests.doubles.clock import FrozenClock

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
        ended_at=to_iso(clock.now()),
        ending=SessionEnding(ended=EndingKind.FINISHED, **ending),
    )
    event = SessionEnded(session_id=session.id, task_id=taken.task.id, ended=EndingKind.FINISHED)
    store.sessions.end(ended, taken, event)
    settle(store, taken, Rejected("once more"))
    return taken.task.id


class CostsContract(Contract):
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
        assert store.costs.total(CostFilter()) == CostSummary()
        assert store.costs.sums(CostGrouping.RUN, CostFilter()) == []

    def test_a_sum_tells_reported_estimated_and_unknown_apart(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        add(store, "a", max_retries=9)
        pay(store, clock, cost_usd=0.5, input_tokens=100, cached_tokens=60, output_tokens=10)
        pay(store, clock, cost_usd=0.25, estimated=True, input_tokens=50, output_tokens=5)
        pay(store, clock, output_tokens=7)
        pay(store, clock)
        assert store.costs.total(CostFilter()) == CostSummary(
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
        one, four, half = session_cost(1.0), session_cost(4.0), session_cost(0.5)
        assert store.costs.sums(CostGrouping.RUN, CostFilter()) == [
            (LATER, half),
            (RUN, one + four),
        ]
        assert store.costs.sums(CostGrouping.TASK, CostFilter()) == [(a, one + four + half)]
        assert store.costs.sums(CostGrouping.AGENT, CostFilter()) == [
            ("y", four),
            ("x", one + half),
        ]
        by_model = [("large", four), ("small", one), ("asked", half)]
        assert store.costs.sums(CostGrouping.MODEL, CostFilter()) == by_model
        assert store.costs.sums(CostGrouping.MODEL, CostFilter(), limit=1) == [("large", four)]
        assert store.costs.sums(CostGrouping.AGENT, CostFilter(run=LATER)) == [("x", half)]

    def test_odd_names_of_models_are_made_safe(self, store: Store, clock: FrozenClock) -> None:
        begin(store)
        add(store, "a")
        pay(store, clock, model="big\x1b[31m\udcff" + "x" * 500)
        ((name, _),) = store.costs.sums(CostGrouping.MODEL, CostFilter())
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
        before, after = session_cost(1.0), session_cost(0.5)
        assert store.costs.sums(CostGrouping.DAY, CostFilter()) == [
            (days[1], after),
            (days[0], before),
        ]
        assert store.costs.total(CostFilter(since=to_iso(midnight))) == after

    def test_a_tasks_costs_are_those_of_all_below_it(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        leaf = add(store, "leaf", under=middle)
        add(store, "other", priority=1)
        assert pay(store, clock, cost_usd=1.0) == leaf
        store.tasks.force_done(leaf)
        pay(store, clock, cost_usd=8.0)
        for task in (top, middle, leaf):
            assert store.costs.total(CostFilter(task=task)) == session_cost(1.0)
        assert store.costs.sums(CostGrouping.TASK, CostFilter(task=top)) == [
            (leaf, session_cost(1.0))
        ]

    def test_what_was_paid_for_a_deleted_task_stays_on_record(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        a = add(store, "a")
        pay(store, clock, cost_usd=1.0)
        store.tasks.delete(a)
        assert store.costs.total(CostFilter(task=a)) == session_cost(1.0)
        assert store.costs.sums(CostGrouping.TASK, CostFilter()) == [(a, session_cost(1.0))]

    def test_a_session_whose_end_is_told_twice_is_paid_once(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        event = SessionEnded(session_id=session.id, task_id=a, ended=EndingKind.FINISHED)
        ended = replace(session, ended_at=to_iso(clock.now()))
        one, other = (SessionEnding(ended=EndingKind.FINISHED, cost_usd=usd) for usd in (1.0, 2.0))
        store.sessions.end(replace(ended, ending=one), taken, event)
        with pytest.raises(ClaimLost, match="session t-a:1 is over"):
            store.sessions.end(replace(ended, ending=other), taken, event)
        assert store.costs.total(CostFilter()) == session_cost(2.0)

    def test_what_done_tasks_have_taken_leaves_out_plans_and_open_tasks(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        for number, needs_change in enumerate((True, False, True)):
            add(store, f"t{number}", needs_change=needs_change)
            done = pay(store, clock, cost_usd=1.0)
            if number == 0:
                assert pay(store, clock, cost_usd=None) == done
            if number < 2:
                store.tasks.force_done(done)
        count, spent = store.costs.of_done_tasks()
        assert (count, spent.sessions, spent.known_usd, spent.unknown) == (1, 2, 1.0, 1)
