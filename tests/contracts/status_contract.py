"""What every store promises about statuses: what a change brings about above, below and along."""

import pytest

from ralph.core.errors import IllegalTransition
from ralph.core.ids import TaskId
from ralph.core.task import TaskStatus
from ralph.core.transitions import (
    Accepted,
    Blocked,
    GaveUp,
    Rejected,
    Released,
    Retried,
    Struck,
    Unblocked,
)
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.contracts.store_test_helpers import (
    OTHER,
    Contract,
    add,
    claim,
    fail,
    next_ready,
    settle,
    status,
    work,
)


class FollowUpsContract(Contract):
    """Parents and dependents."""

    def test_a_parent_is_done_when_all_its_children_are(self, store: Store) -> None:
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        a, b = add(store, "a", under=middle), add(store, "b", under=middle)
        work(store, a)
        assert status(store, top) is TaskStatus.PENDING
        work(store, b)
        assert status(store, middle) is TaskStatus.DONE
        assert status(store, top) is TaskStatus.DONE

    def test_what_waits_for_a_parent_waits_for_its_children(self, store: Store) -> None:
        top = add(store, "top")
        a, b = add(store, "a", under=top), add(store, "b", under=top)
        late = add(store, "late", after=[top], priority=-1)
        work(store, a, b)
        assert next_ready(store) == late

    def test_what_blocks_a_parent_blocks_everything_below(self, store: Store) -> None:
        first = add(store, "first", priority=9)
        top = add(store, "top", after=[first])
        middle = add(store, "middle", under=top)
        leaf = add(store, "leaf", under=middle)
        assert next_ready(store) == first
        work(store, first)
        assert next_ready(store) == leaf

    def test_a_failed_child_leaves_its_siblings_running(self, store: Store) -> None:
        top = add(store, "top")
        a, b = add(store, "a", under=top), add(store, "b", under=top)
        fail(store, a)
        assert status(store, top) is TaskStatus.PENDING
        assert next_ready(store) == b
        work(store, b)
        assert status(store, top) is TaskStatus.FAILED

    def test_failure_climbs_three_levels_when_nothing_below_can_run(self, store: Store) -> None:
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        low = add(store, "low", under=middle)
        a, b = add(store, "a", under=low), add(store, "b", under=low)
        fail(store, a)
        assert status(store, low) is TaskStatus.PENDING
        work(store, b)
        assert [status(store, one) for one in (low, middle, top)] == [TaskStatus.FAILED] * 3
        store.tasks.retry(a)
        assert [status(store, one) for one in (low, middle, top)] == [TaskStatus.PENDING] * 3
        work(store, a)
        assert [status(store, one) for one in (low, middle, top)] == [TaskStatus.DONE] * 3

    def test_with_fail_fast_a_failed_child_fails_those_above_at_once(self, store: Store) -> None:
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        a = add(store, "a", under=middle)
        add(store, "b", under=middle)
        fail(store, a, fail_fast=True)
        assert status(store, middle) is TaskStatus.FAILED
        assert status(store, top) is TaskStatus.FAILED
        assert next_ready(store) is None

    def test_fail_fast_is_not_undone_by_a_sibling_that_is_given_back(self, store: Store) -> None:
        top = add(store, "top")
        add(store, "a", under=top)
        add(store, "b", under=top)
        one, two = claim(store), claim(store, OTHER)
        settle(store, one, GaveUp("no"), fail_fast=True)
        settle(store, two, Released("interrupted"), fail_fast=True)
        assert status(store, top) is TaskStatus.FAILED
        assert next_ready(store) is None

    def test_a_parent_fails_when_the_siblings_left_wait_for_a_failed_task(
        self, store: Store
    ) -> None:
        top = add(store, "top")
        a = add(store, "a", under=top)
        doomed = add(store, "doomed", under=top, after=[a])
        fail(store, a)
        assert status(store, top) is TaskStatus.FAILED
        assert status(store, doomed) is TaskStatus.PENDING

    def test_a_failure_elsewhere_takes_away_the_last_hope(self, store: Store) -> None:
        outside = add(store, "outside", priority=1)
        top = add(store, "top")
        a = add(store, "a", under=top)
        add(store, "doomed", under=top, after=[outside])
        fail(store, a)
        assert status(store, top) is TaskStatus.PENDING
        fail(store, outside)
        assert status(store, top) is TaskStatus.FAILED

    def test_hope_that_comes_back_reopens_the_parent(self, store: Store) -> None:
        outside = add(store, "outside", priority=1)
        top = add(store, "top")
        a = add(store, "a", under=top)
        waiting = add(store, "waiting", under=top, after=[outside])
        fail(store, a)
        fail(store, outside)
        store.tasks.force_done(outside)
        assert status(store, top) is TaskStatus.PENDING
        assert next_ready(store) == waiting

    def test_cutting_the_edge_to_a_failed_task_reopens_the_parent(self, store: Store) -> None:
        top = add(store, "top")
        a = add(store, "a", under=top)
        freed = add(store, "freed", under=top, after=[a])
        fail(store, a)
        store.tasks.unlink(a, freed)
        assert status(store, top) is TaskStatus.PENDING
        assert next_ready(store) == freed

    def test_children_may_be_done_while_their_parent_is_in_somebodys_hands(
        self, store: Store
    ) -> None:
        top = add(store, "top")
        taken = claim(store)
        child = add(store, "child", under=top)
        settle(store, claim(store, OTHER))
        assert status(store, child) is TaskStatus.DONE
        assert status(store, top) is TaskStatus.IN_PROGRESS
        settle(store, taken, Released("interrupted"))
        assert status(store, top) is TaskStatus.DONE

    def test_done_stays_done_whatever_is_linked_to_it(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        work(store, a)
        store.tasks.link(b, a)
        assert status(store, a) is TaskStatus.DONE


class BlockedTasksContract(Contract):
    """Held back on purpose."""

    def test_a_blocked_task_is_not_handed_out_until_it_is_unblocked(self, store: Store) -> None:
        a = add(store, "a")
        assert (
            store.tasks.apply(a, [Blocked("the design is not settled")]).status
            is TaskStatus.BLOCKED
        )
        assert next_ready(store) is None
        store.tasks.apply(a, [Unblocked()])
        assert next_ready(store) == a

    def test_a_block_with_a_reason_outlives_the_blockers(self, store: Store) -> None:
        first = add(store, "first")
        held = add(store, "held", after=[first])
        store.tasks.apply(held, [Blocked("ask Ada")])
        work(store, first)
        assert status(store, held) is TaskStatus.BLOCKED
        assert store.tasks.find(held).reason == "ask Ada"

    def test_a_blocked_parent_holds_back_everything_below(self, store: Store) -> None:
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        leaf = add(store, "leaf", under=middle)
        store.tasks.apply(top, [Blocked("later")])
        assert next_ready(store) is None
        new = add(store, "new", under=middle)
        assert next_ready(store) is None
        store.tasks.apply(top, [Unblocked()])
        assert [task.id for task in store.tasks.select(TaskFilter(ready=True))] == [leaf, new]

    def test_a_parent_that_was_blocked_when_its_children_failed_fails_when_unblocked(
        self, store: Store
    ) -> None:
        top = add(store, "top")
        child = add(store, "child", under=top)
        store.tasks.apply(top, [Blocked("later")])
        store.tasks.force_failed(child, "no")
        assert status(store, top) is TaskStatus.BLOCKED
        store.tasks.apply(top, [Unblocked()])
        assert status(store, top) is TaskStatus.FAILED

    def test_a_worker_may_block_the_task_it_holds(self, store: Store) -> None:
        a = add(store, "a")
        assert settle(store, claim(store), Blocked("needs a key")).status is TaskStatus.BLOCKED
        assert store.tasks.find(a).claimed_by is None

    def test_what_is_not_legal_is_refused_and_leaves_no_trace(self, store: Store) -> None:
        a = add(store, "a")
        seq = store.events.last_seq()
        with pytest.raises(
            IllegalTransition, match="task t-a is blocked, so it cannot be accepted"
        ):
            store.tasks.apply(a, [Blocked("first"), Accepted()])
        assert status(store, a) is TaskStatus.PENDING
        assert store.events.last_seq() == seq


class ForcedStatusContract(Contract):
    """What a person does by hand."""

    @pytest.mark.parametrize("before", ["pending", "in_progress", "blocked", "failed", "done"])
    def test_any_task_can_be_walked_to_done(self, store: Store, before: str) -> None:
        task = _bring_to(store, before)
        assert store.tasks.force_done(task).status is TaskStatus.DONE
        assert store.tasks.find(task).claimed_by is None

    @pytest.mark.parametrize("before", ["pending", "in_progress", "blocked", "failed", "done"])
    def test_any_task_can_be_walked_to_failed(self, store: Store, before: str) -> None:
        task = _bring_to(store, before)
        assert store.tasks.force_failed(task, "dropped").status is TaskStatus.FAILED
        if before != "failed":
            assert store.tasks.find(task).reason == "dropped"

    def test_a_parent_is_forced_to_done_by_way_of_its_open_leaves(self, store: Store) -> None:
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        a, b = add(store, "a", under=middle), add(store, "b", under=top)
        late = add(store, "late", after=[top])
        fail(store, a)
        claim(store)
        assert store.tasks.force_done(top).status is TaskStatus.DONE
        assert {status(store, task) for task in (middle, a, b)} == {TaskStatus.DONE}
        assert next_ready(store) == late

    def test_a_parent_is_forced_to_failed_by_way_of_its_open_leaves(self, store: Store) -> None:
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        a, b = add(store, "a", under=middle), add(store, "b", under=middle)
        c = add(store, "c", under=top)
        work(store, a)
        assert store.tasks.force_failed(top, "dropped").status is TaskStatus.FAILED
        assert status(store, a) is TaskStatus.DONE
        assert {status(store, task) for task in (middle, b, c)} == {TaskStatus.FAILED}

    def test_a_forced_task_needs_no_blockers(self, store: Store) -> None:
        first = add(store, "first")
        late = add(store, "late", after=[first])
        assert store.tasks.force_done(late).status is TaskStatus.DONE
        assert next_ready(store) == first

    def test_a_reset_goes_below_and_reopens_above(self, store: Store) -> None:
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        a, b = add(store, "a", under=middle), add(store, "b", under=middle)
        other = add(store, "other", under=top)
        work(store, a, b, other)
        assert status(store, top) is TaskStatus.DONE
        assert store.tasks.reset(middle).status is TaskStatus.PENDING
        assert [status(store, task) for task in (top, a, b)] == [TaskStatus.PENDING] * 3
        assert status(store, other) is TaskStatus.DONE
        assert next_ready(store) == a

    def test_a_reset_takes_the_task_out_of_its_workers_hands(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        store.tasks.reset(a)
        assert not store.claims.holds(taken)
        again = claim(store, OTHER)
        assert again.attempt == taken.attempt + 1

    def test_a_reset_forgets_retries_strikes_and_reasons(self, store: Store) -> None:
        a = add(store, "a")
        settle(store, claim(store), Rejected("red"))
        settle(store, claim(store), Struck("silent"))
        task = store.tasks.reset(a)
        assert (task.retry_count, task.strikes, task.reason) == (0, 0, None)
        assert task.attempt == 2

    def test_what_waited_for_a_task_that_is_reset_waits_again(self, store: Store) -> None:
        first = add(store, "first")
        late = add(store, "late", after=[first])
        work(store, first)
        assert next_ready(store) == late
        store.tasks.reset(first)
        assert next_ready(store) == first
        assert [task.id for task in store.tasks.select(TaskFilter(ready=True))] == [first]

    def test_a_retry_gives_a_failed_task_a_fresh_set_of_tries(self, store: Store) -> None:
        top = add(store, "top")
        a = add(store, "a", under=top, max_retries=0)
        settle(store, claim(store), Rejected("red"))
        assert status(store, top) is TaskStatus.FAILED
        task = store.tasks.retry(a)
        assert (task.status, task.retry_count, task.reason) == (TaskStatus.PENDING, 0, "red")
        assert status(store, top) is TaskStatus.PENDING
        assert next_ready(store) == a

    def test_a_retry_of_a_failed_parent_reaches_its_failed_leaves(self, store: Store) -> None:
        top = add(store, "top")
        middle = add(store, "middle", under=top)
        a, b = add(store, "a", under=middle), add(store, "b", under=top)
        done = add(store, "done", under=top)
        fail(store, a)
        fail(store, b)
        work(store, done)
        assert status(store, top) is TaskStatus.FAILED
        assert store.tasks.retry(top).status is TaskStatus.PENDING
        assert [status(store, task) for task in (middle, a, b)] == [TaskStatus.PENDING] * 3
        assert status(store, done) is TaskStatus.DONE

    def test_a_blocked_task_is_retried_and_keeps_its_reason(self, store: Store) -> None:
        a = add(store, "a")
        store.tasks.apply(a, [Blocked("put aside")])
        again = store.tasks.retry(a)
        assert (again.status, again.reason) == (TaskStatus.PENDING, "put aside")

    def test_only_failed_tasks_are_retried(self, store: Store) -> None:
        a = add(store, "a")
        with pytest.raises(IllegalTransition, match="task t-a is pending, so it cannot be retried"):
            store.tasks.retry(a)
        with pytest.raises(IllegalTransition, match="task t-a is pending, so it cannot be retried"):
            store.tasks.apply(a, [Retried()])


def _bring_to(store: Store, before: str) -> TaskId:
    task = add(store, "task")
    match before:
        case "in_progress":
            claim(store)
        case "blocked":
            store.tasks.apply(task, [Blocked("held")])
        case "failed":
            fail(store, task)
        case "done":
            work(store, task)
        case _:
            pass
    assert status(store, task) == before
    return task


class StatusContract(FollowUpsContract, BlockedTasksContract, ForcedStatusContract):
    """All about statuses."""
