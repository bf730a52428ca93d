"""Promises about the workers of a run, and the iterations that they share."""

import pytest

from ralph.core.errors import Missing
from ralph.core.events import WorkerLeft, WorkMerged
from ralph.core.ids import RunId, WorkerId
from ralph.core.run import RunOutcome
from ralph.core.transitions import Accepted, Conflicted, Rejected
from ralph.store.runs import SlotResults, TeamResults
from ralph.store.store import Store
from tests.contracts.store_test_helpers import (
    LEASE_S,
    OTHER,
    RUN,
    WORKER,
    Contract,
    add,
    an_owner,
    begin,
    claim,
    join,
    start,
)

THIRD = WorkerId("agent-00000003")


class WorkersContract(Contract):
    """Who works in a run."""

    def test_everyone_who_joined_a_run_is_known_by_slot(self, store: Store) -> None:
        begin(store)
        store.workers.join(THIRD, RUN, an_owner(3), LEASE_S, "teammate-2")
        store.workers.join(OTHER, RUN, an_owner(2), LEASE_S)
        store.workers.join(WorkerId("agent-elsewhere"), RunId("run-2"), an_owner(4), LEASE_S)
        team = store.workers.of_run(RUN)
        assert [(one.worker, one.slot, one.owner.pid) for one in team] == [
            (WORKER, "", 1),
            (THIRD, "teammate-2", 3),
            (OTHER, "teammate-1", 2),
        ]
        assert {one.run_id for one in team} == {RUN}
        assert store.workers.of_run(RunId("run-3")) == []

    def test_whoever_joins_again_keeps_its_place_in_the_order(self, store: Store) -> None:
        join(store, WORKER)
        join(store, OTHER)
        store.workers.join(WORKER, RUN, an_owner(9), LEASE_S, "teammate-7")
        team = store.workers.of_run(RUN)
        assert [(one.worker, one.slot, one.owner.pid) for one in team] == [
            (WORKER, "teammate-7", 9),
            (OTHER, "teammate-1", 1),
        ]

    def test_what_a_team_came_to_is_counted_by_slot(self, store: Store) -> None:
        begin(store)
        store.workers.join(THIRD, RUN, an_owner(3), LEASE_S, "teammate-2")
        store.workers.join(OTHER, RUN, an_owner(2), LEASE_S)
        for name, worker, transition in (
            ("a", OTHER, Accepted()),
            ("b", THIRD, Rejected("no")),
            ("c", OTHER, Conflicted("no fit")),
        ):
            task = add(store, name)
            taken = claim(store, worker)
            assert taken.task.id == task
            start(store, taken)
            merged = WorkMerged(task_id=task, branch="main", commit="c1")
            done = (merged,) if name == "a" else ()
            store.claims.settle(
                taken, transition, message="a word", fail_fast=False, run=RUN, events=done
            )
            if name != "a":
                store.tasks.force_done(task)
        for outcome in (None, RunOutcome.COMPLETE):
            left = WorkerLeft(run_id=RUN, worker=THIRD, slot="teammate-2", outcome=outcome)
            store.events.record(left, RUN)
        assert store.workers.results(RUN) == TeamResults(
            merges=1,
            conflicts=1,
            deaths=1,
            shares=(
                SlotResults(slot="teammate-1", sessions=2, accepted=1),
                SlotResults(slot="teammate-2", sessions=1, rejected=1),
            ),
        )
        assert store.workers.results(RunId("run-2")) == TeamResults()

    def test_iterations_of_a_run_are_numbered_across_its_workers(self, store: Store) -> None:
        begin(store)
        begin(store, RunId("run-2"), OTHER)
        assert [store.runs.begin_iteration(RUN, 0) for _ in range(3)] == [1, 2, 3]
        assert store.runs.begin_iteration(RunId("run-2"), 0) == 1

    def test_a_limit_ends_them(self, store: Store) -> None:
        begin(store)
        assert [store.runs.begin_iteration(RUN, 2) for _ in range(4)] == [1, 2, None, None]
        assert store.runs.begin_iteration(RUN, 3) == 3

    def test_what_was_cut_short_does_not_count_but_keeps_its_number(self, store: Store) -> None:
        begin(store)
        store.runs.uncount_iteration(RUN)
        assert store.runs.begin_iteration(RUN, 1) == 1
        store.runs.uncount_iteration(RUN)
        assert [store.runs.begin_iteration(RUN, 1) for _ in range(2)] == [2, None]

    def test_an_unknown_run_has_no_iterations(self, store: Store) -> None:
        with pytest.raises(Missing, match="there is no run run-1"):
            store.runs.begin_iteration(RUN, 0)
        with pytest.raises(Missing, match="there is no run run-1"):
            store.runs.uncount_iteration(RUN)
