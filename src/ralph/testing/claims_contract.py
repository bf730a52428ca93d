"""What every store promises about claims: who works on what, and what settling it means."""

import pytest

from ralph.core.errors import ClaimLost
from ralph.core.events import TaskClaimed, Warned
from ralph.core.order import Schedule
from ralph.core.target import Everything, OneFeature, Subtree
from ralph.core.task import Status
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
from ralph.ports.claims import Counts
from ralph.ports.history import Mark
from ralph.ports.store import Store
from ralph.testing.clock import FrozenClock
from ralph.testing.store_words import (
    LEASE_S,
    OTHER,
    RUN,
    WORKER,
    Contract,
    add,
    an_owner,
    begin,
    claim,
    fail,
    join,
    may_claim,
    next_ready,
    settle,
    start,
    status,
    work,
)


class ClaimingContract(Contract):
    """Handing tasks out."""

    def test_a_claim_takes_the_task_that_was_promised(self, store: Store) -> None:
        add(store, "b", priority=1)
        a = add(store, "a")
        assert next_ready(store) == a
        taken = claim(store)
        assert taken.task == store.find(a)
        assert taken.task.status is Status.IN_PROGRESS
        assert (taken.task.claimed_by, taken.worker) == (WORKER, WORKER)
        assert taken.attempt == taken.task.attempt == 1

    def test_no_task_is_handed_to_two(self, store: Store) -> None:
        for name in "abc":
            add(store, name)
        taken = [claim(store, worker).task.id for worker in (WORKER, OTHER, WORKER)]
        assert taken == ["t-a", "t-b", "t-c"]
        assert may_claim(store, OTHER) is None

    def test_an_empty_store_has_nothing_to_hand_out(self, store: Store) -> None:
        assert next_ready(store) is None
        assert may_claim(store) is None

    def test_only_leaves_are_handed_out(self, store: Store) -> None:
        top = add(store, "top", priority=-5)
        add(store, "leaf", under=top)
        assert claim(store).task.id == "t-leaf"
        assert may_claim(store) is None

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
        feature = store.add_feature("search")
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
        store.delete_task(gone)
        assert next_ready(store, Subtree(gone)) is None
        assert may_claim(store, target=Subtree(gone)) is None
        assert not store.has_tasks(Subtree(gone))

    def test_the_longest_chain_comes_first_when_asked(self, store: Store) -> None:
        short = add(store, "short", priority=-1)
        head = add(store, "head")
        middle = add(store, "middle", after=[head])
        add(store, "tail", after=[middle])
        store.rank_chains()
        assert next_ready(store) == short
        first = store.next_ready(Everything(), Schedule.CRITICAL_PATH)
        assert first is not None
        assert first.id == head
        taken = store.claim(WORKER, None, Everything(), Schedule.CRITICAL_PATH)
        assert taken is not None
        assert taken.task.id == head

    def test_a_chain_leads_through_parents(self, store: Store) -> None:
        add(store, "short", priority=-1)
        group = add(store, "group")
        head = add(store, "head", under=group)
        add(store, "tail", after=[group])
        store.rank_chains()
        first = store.next_ready(Everything(), Schedule.CRITICAL_PATH)
        assert first is not None
        assert first.id == head

    def test_chains_follow_the_graph_when_they_are_ranked_again(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        store.rank_chains()
        add(store, "c", after=[b])
        store.rank_chains()
        first = store.next_ready(Everything(), Schedule.CRITICAL_PATH)
        assert first is not None
        assert first.id == b
        assert next_ready(store) == a


class LeasingContract(Contract):
    """Leases, and what happens when a worker dies."""

    def test_a_claim_holds_until_it_is_settled(self, store: Store) -> None:
        add(store, "a")
        taken = claim(store)
        assert store.holds(taken)
        settle(store, taken, Released("interrupted"))
        assert not store.holds(taken)

    def test_an_old_claim_does_not_hold_when_the_same_worker_claims_again(
        self, store: Store
    ) -> None:
        add(store, "a")
        old = claim(store)
        settle(store, old, Released("interrupted"))
        new = claim(store)
        assert not store.holds(old)
        assert store.holds(new)

    def test_others_claims_are_shown_with_their_owners(self, store: Store) -> None:
        join(store, WORKER, pid=11)
        join(store, OTHER, pid=22)
        a, b = add(store, "a"), add(store, "b")
        claim(store, WORKER)
        claim(store, OTHER)
        (seen,) = store.stale(WORKER)
        assert (seen.task.id, seen.owner, seen.expired) == (b, an_owner(22), False)
        (seen,) = store.stale(OTHER)
        assert (seen.task.id, seen.owner) == (a, an_owner(11))

    def test_a_lease_ends_unless_it_is_renewed(self, store: Store, clock: FrozenClock) -> None:
        join(store)
        add(store, "a")
        clock.advance(LEASE_S * 10)
        claim(store)
        clock.advance(LEASE_S - 1)
        assert [seen.expired for seen in store.stale(OTHER)] == [False]
        store.heartbeat(WORKER, LEASE_S)
        clock.advance(LEASE_S - 1)
        assert [seen.expired for seen in store.stale(OTHER)] == [False]
        clock.advance(2)
        assert [seen.expired for seen in store.stale(OTHER)] == [True]

    def test_a_claim_is_a_sign_of_life_for_all_its_worker_holds(
        self, store: Store, clock: FrozenClock
    ) -> None:
        join(store)
        add(store, "a")
        add(store, "b")
        claim(store)
        clock.advance(LEASE_S + 1)
        assert [seen.expired for seen in store.stale(OTHER)] == [True]
        claim(store)
        assert [seen.expired for seen in store.stale(OTHER)] == [False, False]

    def test_a_run_makes_its_worker_known(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        claim(store)
        (seen,) = store.stale(OTHER)
        assert (seen.owner, seen.expired) == (an_owner(), False)

    def test_an_attempt_is_taken_over_under_its_number(self, store: Store) -> None:
        join(store)
        join(store, OTHER)
        a = add(store, "a")
        dead = claim(store)
        mine = store.take_over(a, dead.attempt, OTHER)
        assert (mine.worker, mine.attempt) == (OTHER, dead.attempt)
        assert mine.task == store.find(a)
        assert store.holds(mine)
        assert not store.holds(dead)
        assert store.stale(OTHER) == []
        last = store.events(after=store.last_seq() - 1)[0].event
        assert isinstance(last, TaskClaimed)
        assert (last.worker, last.attempt) == (OTHER, dead.attempt)

    def test_the_dead_cannot_settle_what_was_taken_over(self, store: Store) -> None:
        a = add(store, "a")
        dead = claim(store)
        mine = store.take_over(a, dead.attempt, OTHER)
        with pytest.raises(ClaimLost):
            settle(store, dead)
        assert settle(store, mine).status is Status.DONE

    def test_an_attempt_that_is_over_cannot_be_taken_over(self, store: Store) -> None:
        a = add(store, "a")
        settle(store, claim(store), Released("interrupted"))
        with pytest.raises(ClaimLost):
            store.take_over(a, 1, OTHER)
        claim(store)
        with pytest.raises(ClaimLost):
            store.take_over(a, 1, OTHER)
        store.delete_task(a)
        with pytest.raises(ClaimLost):
            store.take_over(a, 2, OTHER)


class SettlingContract(Contract):
    """What a settled claim means."""

    def test_accepted_work_is_done(self, store: Store) -> None:
        add(store, "a")
        task = settle(store, claim(store))
        assert (task.status, task.claimed_by, task.attempt) == (Status.DONE, None, 1)

    def test_a_rejection_costs_a_retry_until_they_are_spent(self, store: Store) -> None:
        a = add(store, "a", max_retries=2)
        for spent in (1, 2):
            task = settle(store, claim(store), Rejected("red"))
            assert (task.status, task.retry_count) == (Status.PENDING, spent)
        task = settle(store, claim(store), Rejected("still red"))
        assert (task.status, task.retry_count, task.reason) == (Status.FAILED, 2, "still red")
        assert task.attempt == 3
        assert next_ready(store) is None
        assert status(store, a) is Status.FAILED

    def test_three_strikes_cost_a_retry(self, store: Store) -> None:
        add(store, "a", max_retries=1)
        seen = [settle(store, claim(store), Struck("silent")) for _ in range(3)]
        assert [(task.strikes, task.retry_count) for task in seen] == [(1, 0), (2, 0), (0, 1)]
        assert seen[-1].status is Status.PENDING

    def test_giving_back_costs_nothing_but_the_number(self, store: Store) -> None:
        add(store, "a")
        task = settle(store, claim(store), Released("interrupted"))
        assert (task.status, task.retry_count, task.strikes) == (Status.PENDING, 0, 0)
        assert task.attempt == 1
        assert claim(store).attempt == 2

    def test_giving_back_keeps_the_reason_of_the_last_attempt(self, store: Store) -> None:
        a = add(store, "a")
        settle(store, claim(store), Rejected("red"))
        settle(store, claim(store), Released("interrupted"))
        assert store.find(a).reason == "red"

    def test_giving_up_fails_the_task(self, store: Store) -> None:
        add(store, "a")
        task = settle(store, claim(store), GaveUp("cannot be done"))
        assert (task.status, task.reason) == (Status.FAILED, "cannot be done")

    def test_a_settled_claim_cannot_be_settled_again(self, store: Store) -> None:
        add(store, "a")
        taken = claim(store)
        settle(store, taken)
        with pytest.raises(ClaimLost):
            settle(store, taken, Rejected("red"))

    def test_an_older_attempt_of_the_same_worker_settles_nothing(self, store: Store) -> None:
        a = add(store, "a")
        old = claim(store)
        store.reset(a)
        claim(store)
        with pytest.raises(ClaimLost):
            settle(store, old)
        assert status(store, a) is Status.IN_PROGRESS

    def test_a_deleted_task_cannot_be_settled(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        store.delete_task(a)
        with pytest.raises(ClaimLost):
            settle(store, taken)

    def test_a_lost_claim_leaves_no_trace(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        store.reset(a)
        seq = store.last_seq()
        with pytest.raises(ClaimLost):
            store.settle(
                taken,
                Accepted(),
                message="done",
                fail_fast=False,
                events=[Warned(message="odd")],
            )
        assert store.last_seq() == seq
        assert store.logs(a) == []

    def test_a_task_that_was_split_up_is_given_back_instead_of_done(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        child = add(store, "child", under=a)
        task = settle(store, taken)
        assert (task.status, task.claimed_by) == (Status.PENDING, None)
        assert next_ready(store) == child
        work(store, child)
        assert status(store, a) is Status.DONE

    @pytest.mark.parametrize("transition", [Rejected("no"), Struck("no")])
    def test_rejecting_a_task_that_was_split_up_does_not_hold_what_is_below(
        self, store: Store, transition: Transition
    ) -> None:
        a = add(store, "a", max_retries=0)
        taken = claim(store)
        child = add(store, "child", under=a)
        assert settle(store, taken, transition).status is Status.PENDING
        assert next_ready(store) == child

    def test_a_task_whose_children_are_all_done_is_done_when_accepted(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        store.force_done(add(store, "child", under=a))
        assert settle(store, taken).status is Status.DONE

    def test_settling_writes_the_log_line_and_the_events(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        begin(store)
        seq = store.last_seq()
        store.settle(
            taken,
            Accepted(),
            message="it works",
            fail_fast=False,
            run=RUN,
            events=[Warned(message="but slowly", task_id=a)],
        )
        assert [entry.message for entry in store.logs(a)] == ["it works"]
        recorded = store.events(after=seq)
        assert Warned(message="but slowly", task_id=a) in [one.event for one in recorded]
        assert {one.run_id for one in recorded} == {RUN}

    def test_settling_leaves_the_last_mark_on_the_session(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        settle(store, taken)
        session = store.session(a, 1)
        assert session is not None
        assert (session.mark, session.verdict) == (Mark.SETTLED, "a word about it")

    def test_a_postponed_session_waits_for_its_judge(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        store.mark_session(session.id, Mark.ENDED)
        task = settle(store, taken, Postponed("stopped before it was judged"))
        assert (task.status, task.retry_count, task.strikes) == (Status.PENDING, 0, 0)
        kept = store.session(a, 1)
        assert kept is not None
        assert kept.mark is Mark.ENDED
        assert store.base(a) is not None

    def test_a_session_that_is_judged_late_gets_the_last_mark_too(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        store.mark_session(session.id, Mark.ENDED)
        settle(store, taken, Postponed("stopped before it was judged"))
        settle(store, claim(store), Rejected("red"))
        kept = store.session(a, 1)
        assert kept is not None
        assert kept.mark is Mark.SETTLED


class CountingContract(Contract):
    """Questions about a target."""

    def test_counts_are_told_by_status_and_target(self, store: Store) -> None:
        feature = store.add_feature("search")
        in_feature = OneFeature(feature.id, "search")
        assert store.counts(Everything()) == Counts()
        done = add(store, "done", feature_id=feature.id, priority=-3)
        failed = add(store, "failed", priority=-2)
        top = add(store, "top", priority=-1)
        running = add(store, "running", under=top, priority=-1)
        held = add(store, "held", feature_id=feature.id)
        work(store, done)
        fail(store, failed)
        assert claim(store).task.id == running
        store.apply(held, [Blocked("later")])
        assert store.counts(Everything()) == Counts(
            pending=1, in_progress=1, done=1, failed=1, blocked=1
        )
        assert store.counts(in_feature) == Counts(done=1, blocked=1)
        assert store.counts(Subtree(top)) == Counts(pending=1, in_progress=1)
        assert store.counts(Everything()).total == 5
        assert store.counts(Everything()).open == 3
        assert store.in_progress(Everything()) == store.in_progress(Subtree(top)) == 1
        assert store.in_progress(in_feature) == 0

    def test_open_means_not_settled(self, store: Store) -> None:
        feature = store.add_feature("search")
        target = OneFeature(feature.id, "search")
        assert not store.has_tasks(Everything())
        assert not store.has_open(Everything())
        a = add(store, "a")
        b = add(store, "b", feature_id=feature.id)
        assert store.has_tasks(target)
        assert store.has_open(target)
        store.force_done(b)
        assert store.has_tasks(target)
        assert not store.has_open(target)
        assert store.has_open(Subtree(a))
        store.force_failed(a, "no")
        assert not store.has_open(Everything())
        store.reset(b)
        store.apply(b, [Blocked("held")])
        assert store.has_open(target)


class ClaimsContract(ClaimingContract, LeasingContract, SettlingContract, CountingContract):
    """All of `Claims`."""
