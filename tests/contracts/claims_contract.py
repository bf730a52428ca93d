"""What every store promises about claims: who works on what, and what settling it means."""

import pytest

from ralph.core.errors import ClaimLost
from ralph.core.events import Warned
from ralph.core.graph import Schedule
from ralph.core.ids import WorkerId
from ralph.core.run import AllTasks, OneFeature, Subtree
from ralph.core.task import TaskStatus
from ralph.core.transitions import (
    Accepted,
    Blocked,
    GaveUp,
    Postponed,
    Rejected,
    Released,
    Struck,
    Transition,
)
from ralph.store.claims import Counts
from ralph.store.sessions import Checkpoint
from ralph.store.store import Store
from tests.contracts.store_test_helpers import (
    OTHER,
    RUN,
    THIRD,
    WORKER,
    Contract,
    add,
    begin,
    claim,
    fail,
    may_claim,
    next_ready,
    settle,
    start,
    status,
    work,
)


class ClaimContract(Contract):
    """Handing tasks out."""

    def test_a_claim_takes_the_task_that_was_promised(self, store: Store) -> None:
        add(store, "b", priority=1)
        a = add(store, "a")
        assert next_ready(store) == a
        taken = claim(store)
        assert taken.task == store.tasks.find(a)
        assert taken.task.status is TaskStatus.IN_PROGRESS
        assert (taken.task.claimed_by, taken.worker) == (WORKER, WORKER)
        assert taken.attempt == taken.task.attempt == 1

    def test_no_task_is_handed_to_two(self, store: Store) -> None:
        for name in "abc":
            add(store, name)
        taken = [claim(store, worker).task.id for worker in (WORKER, OTHER, THIRD)]
        assert taken == ["t-a", "t-b", "t-c"]
        assert may_claim(store, WorkerId("agent-00000004")) is None

    def test_an_empty_store_has_nothing_to_hand_out(self, store: Store) -> None:
        assert next_ready(store) is None
        assert may_claim(store) is None

    def test_only_leaves_are_handed_out(self, store: Store) -> None:
        top = add(store, "top", priority=-5)
        add(store, "leaf", under=top)
        assert claim(store).task.id == "t-leaf"
        assert may_claim(store, OTHER) is None

    def test_a_task_waits_for_all_its_blockers(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        late = add(store, "late", after=[a, b], priority=-1)
        work(store, a)
        assert next_ready(store) == b
        work(store, b)
        assert next_ready(store) == late

    def test_a_task_does_not_wait_for_blockers_that_are_done(self, store: Store) -> None:
        a = add(store, "a")
        work(store, a)
        b = add(store, "b", after=[a])
        assert next_ready(store) == b

    def test_a_failed_blocker_is_not_a_done_one(self, store: Store) -> None:
        a = add(store, "a")
        add(store, "late", after=[a])
        fail(store, a)
        assert next_ready(store) is None

    def test_a_target_bounds_what_is_handed_out(self, store: Store) -> None:
        feature = store.features.add("search")
        add(store, "outside")
        inside = add(store, "inside", feature_id=feature.id, priority=5)
        top = add(store, "top", priority=9)
        leaf = add(store, "leaf", under=top, priority=9)
        assert next_ready(store, OneFeature(feature.id, "search")) == inside
        assert next_ready(store, Subtree(top)) == leaf
        assert next_ready(store, Subtree(inside)) == inside
        assert claim(store, target=Subtree(top)).task.id == leaf
        assert next_ready(store, Subtree(top)) is None

    def test_a_target_that_is_gone_holds_nothing(self, store: Store) -> None:
        gone = add(store, "gone")
        store.tasks.delete(gone)
        assert next_ready(store, Subtree(gone)) is None
        assert may_claim(store, target=Subtree(gone)) is None
        assert not store.claims.has_tasks(Subtree(gone))

    def test_the_longest_chain_comes_first_when_asked(self, store: Store) -> None:
        short = add(store, "short", priority=-1)
        head = add(store, "head")
        middle = add(store, "middle", after=[head])
        add(store, "tail", after=[middle])
        store.claims.rank_chains()
        assert next_ready(store) == short
        first = store.claims.next_ready(AllTasks(), Schedule.CRITICAL_PATH)
        assert first is not None
        assert first.id == head
        taken = store.claims.claim(WORKER, None, AllTasks(), Schedule.CRITICAL_PATH)
        assert taken is not None
        assert taken.task.id == head

    def test_a_chain_leads_through_parents(self, store: Store) -> None:
        add(store, "short", priority=-1)
        group = add(store, "group")
        head = add(store, "head", under=group)
        add(store, "tail", after=[group])
        store.claims.rank_chains()
        first = store.claims.next_ready(AllTasks(), Schedule.CRITICAL_PATH)
        assert first is not None
        assert first.id == head

    def test_chains_follow_the_graph_when_they_are_ranked_again(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        store.claims.rank_chains()
        add(store, "c", after=[b])
        store.claims.rank_chains()
        first = store.claims.next_ready(AllTasks(), Schedule.CRITICAL_PATH)
        assert first is not None
        assert first.id == b
        assert next_ready(store) == a


class SettleContract(Contract):
    """What a settled claim means."""

    def test_accepted_work_is_done(self, store: Store) -> None:
        add(store, "a")
        task = settle(store, claim(store))
        assert (task.status, task.claimed_by, task.attempt) == (TaskStatus.DONE, None, 1)

    def test_a_rejection_costs_a_retry_until_they_are_spent(self, store: Store) -> None:
        a = add(store, "a", max_retries=2)
        for spent in (1, 2):
            task = settle(store, claim(store), Rejected("red"))
            assert (task.status, task.retry_count) == (TaskStatus.PENDING, spent)
        task = settle(store, claim(store), Rejected("still red"))
        assert (task.status, task.retry_count, task.reason) == (TaskStatus.FAILED, 2, "still red")
        assert task.attempt == 3
        assert next_ready(store) is None
        assert status(store, a) is TaskStatus.FAILED

    def test_three_strikes_cost_a_retry(self, store: Store) -> None:
        add(store, "a", max_retries=1)
        seen = [settle(store, claim(store), Struck("silent")) for _ in range(3)]
        assert [(task.strikes, task.retry_count) for task in seen] == [(1, 0), (2, 0), (0, 1)]
        assert seen[-1].status is TaskStatus.PENDING

    def test_giving_back_costs_nothing_but_the_number(self, store: Store) -> None:
        add(store, "a")
        task = settle(store, claim(store), Released("interrupted"))
        assert (task.status, task.retry_count, task.strikes) == (TaskStatus.PENDING, 0, 0)
        assert task.attempt == 1
        assert claim(store).attempt == 2

    def test_giving_back_keeps_the_reason_of_the_last_attempt(self, store: Store) -> None:
        a = add(store, "a")
        settle(store, claim(store), Rejected("red"))
        settle(store, claim(store), Released("interrupted"))
        assert store.tasks.find(a).reason == "red"

    def test_giving_up_fails_the_task(self, store: Store) -> None:
        add(store, "a")
        task = settle(store, claim(store), GaveUp("cannot be done"))
        assert (task.status, task.reason) == (TaskStatus.FAILED, "cannot be done")

    def test_a_settled_claim_cannot_be_settled_again(self, store: Store) -> None:
        add(store, "a")
        taken = claim(store)
        settle(store, taken)
        with pytest.raises(ClaimLost, match="task t-a is no longer held"):
            settle(store, taken, Rejected("red"))

    def test_an_older_attempt_of_the_same_worker_settles_nothing(self, store: Store) -> None:
        a = add(store, "a")
        old = claim(store)
        store.tasks.reset(a)
        claim(store)
        with pytest.raises(ClaimLost, match="task t-a is no longer held"):
            settle(store, old)
        assert status(store, a) is TaskStatus.IN_PROGRESS

    def test_a_deleted_task_cannot_be_settled(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        store.tasks.delete(a)
        with pytest.raises(ClaimLost, match="task t-a is no longer held"):
            settle(store, taken)

    def test_a_lost_claim_leaves_no_trace(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        store.tasks.reset(a)
        seq = store.events.last_seq()
        with pytest.raises(ClaimLost, match="task t-a is no longer held"):
            store.claims.settle(
                taken,
                Accepted(),
                message="done",
                fail_fast=False,
                events=[Warned(message="odd")],
            )
        assert store.events.last_seq() == seq
        assert store.tasks.logs(a) == []

    def test_a_task_that_was_split_up_is_given_back_instead_of_done(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        child = add(store, "child", under=a)
        task = settle(store, taken)
        assert (task.status, task.claimed_by) == (TaskStatus.PENDING, None)
        assert next_ready(store) == child
        work(store, child)
        assert status(store, a) is TaskStatus.DONE

    @pytest.mark.parametrize("transition", [Rejected("no"), Struck("no")])
    def test_rejecting_a_task_that_was_split_up_does_not_hold_what_is_below(
        self, store: Store, transition: Transition
    ) -> None:
        a = add(store, "a", max_retries=0)
        taken = claim(store)
        child = add(store, "child", under=a)
        assert settle(store, taken, transition).status is TaskStatus.PENDING
        assert next_ready(store) == child

    def test_a_task_whose_children_are_all_done_is_done_when_accepted(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        store.tasks.force_done(add(store, "child", under=a))
        assert settle(store, taken).status is TaskStatus.DONE

    def test_settling_writes_the_log_line_and_the_events(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        begin(store)
        seq = store.events.last_seq()
        store.claims.settle(
            taken,
            Accepted(),
            message="it works",
            fail_fast=False,
            run=RUN,
            events=[Warned(message="but slowly", task_id=a)],
        )
        assert [entry.message for entry in store.tasks.logs(a)] == ["it works"]
        recorded = store.events.select(after=seq)
        assert Warned(message="but slowly", task_id=a) in [one.event for one in recorded]
        assert {one.run_id for one in recorded} == {RUN}

    def test_settling_leaves_the_last_mark_on_the_session(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        settle(store, taken)
        session = store.sessions.get(a, 1)
        assert session is not None
        assert (session.checkpoint, session.verdict) == (Checkpoint.SETTLED, "a word about it")

    def test_a_postponed_session_waits_for_its_judge(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        store.sessions.save_checkpoint(session.id, Checkpoint.ENDED, taken)
        task = settle(store, taken, Postponed("stopped before it was judged"))
        assert (task.status, task.retry_count, task.strikes) == (TaskStatus.PENDING, 0, 0)
        kept = store.sessions.get(a, 1)
        assert kept is not None
        assert kept.checkpoint is Checkpoint.ENDED
        assert store.claims.base(a) is not None

    def test_a_session_that_is_judged_late_gets_the_last_mark_too(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        store.sessions.save_checkpoint(session.id, Checkpoint.ENDED, taken)
        settle(store, taken, Postponed("stopped before it was judged"))
        settle(store, claim(store), Rejected("red"))
        kept = store.sessions.get(a, 1)
        assert kept is not None
        assert kept.checkpoint is Checkpoint.SETTLED


class CountsContract(Contract):
    """Questions about a target."""

    def test_counts_are_told_by_status_and_target(self, store: Store) -> None:
        feature = store.features.add("search")
        in_feature = OneFeature(feature.id, "search")
        assert store.claims.counts(AllTasks()) == Counts()
        done = add(store, "done", feature_id=feature.id, priority=-3)
        failed = add(store, "failed", priority=-2)
        top = add(store, "top", priority=-1)
        running = add(store, "running", under=top, priority=-1)
        held = add(store, "held", feature_id=feature.id)
        work(store, done)
        fail(store, failed)
        assert claim(store).task.id == running
        store.tasks.apply(held, [Blocked("later")])
        assert store.claims.counts(AllTasks()) == Counts(
            pending=1, in_progress=1, done=1, failed=1, blocked=1
        )
        assert store.claims.counts(in_feature) == Counts(done=1, blocked=1)
        assert store.claims.counts(Subtree(top)) == Counts(pending=1, in_progress=1)
        assert store.claims.counts(AllTasks()).total == 5
        assert store.claims.counts(AllTasks()).open == 3
        assert store.claims.in_progress(AllTasks()) == store.claims.in_progress(Subtree(top)) == 1
        assert store.claims.in_progress(in_feature) == 0

    def test_open_means_not_settled(self, store: Store) -> None:
        feature = store.features.add("search")
        target = OneFeature(feature.id, "search")
        assert not store.claims.has_tasks(AllTasks())
        assert not store.claims.has_open(AllTasks())
        a = add(store, "a")
        b = add(store, "b", feature_id=feature.id)
        assert store.claims.has_tasks(target)
        assert store.claims.has_open(target)
        store.tasks.force_done(b)
        assert store.claims.has_tasks(target)
        assert not store.claims.has_open(target)
        assert store.claims.has_open(Subtree(a))
        store.tasks.force_failed(a, "no")
        assert not store.claims.has_open(AllTasks())
        store.tasks.reset(b)
        store.tasks.apply(b, [Blocked("held")])
        assert store.claims.has_open(target)


class ClaimsContract(ClaimContract, SettleContract, CountsContract):
    """All of `Claims`."""
