"""What every store promises about tasks, edges and features."""

import pytest

from ralph.core.errors import CycleRefused, NoSuchTask, RalphError
from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import TaskDraft, TaskEdit, TaskStatus, TaskType
from ralph.core.transitions import Blocked
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.contracts.store_test_helpers import Contract, add, claim, next_ready, status, work
from tests.doubles.clock import FrozenClock

UNKNOWN = TaskId("t-nobody")


class AddTasksContract(Contract):
    """New tasks."""

    def test_a_new_task_is_pending_and_keeps_what_its_draft_says(self, store: Store) -> None:
        task = store.tasks.add(
            TaskDraft(
                title="Write it",
                description="all of it",
                priority=7,
                max_retries=1,
                alias="US-001",
                needs_change=False,
            )
        )
        assert task == store.tasks.find(task.id)
        assert task.status is TaskStatus.PENDING
        assert (task.title, task.description, task.priority) == ("Write it", "all of it", 7)
        assert (task.max_retries, task.alias, task.needs_change) == (1, "US-001", False)
        assert (task.attempt, task.retry_count, task.strikes) == (0, 0, 0)
        assert task.created_at
        assert task.updated_at == task.created_at

    def test_a_task_without_an_id_gets_a_short_one_of_its_own(self, store: Store) -> None:
        made = {store.tasks.add(TaskDraft(title="x")).id for _ in range(20)}
        assert len(made) == 20
        for task in made:
            prefix, digits = task[:2], task[2:]
            assert prefix == "t-"
            assert len(digits) >= 6
            assert set(digits) <= set("0123456789abcdef")

    def test_an_id_is_used_once(self, store: Store) -> None:
        add(store, "a")
        with pytest.raises(RalphError, match="task t-a exists already"):
            add(store, "a")

    def test_an_unknown_parent_is_refused_and_nothing_is_added(self, store: Store) -> None:
        with pytest.raises(NoSuchTask, match="there is no task t-nobody"):
            add(store, "a", under=UNKNOWN)
        assert store.tasks.select(TaskFilter()) == []
        assert store.events.last_seq() == 0

    def test_an_unknown_blocker_is_refused_and_nothing_is_added(self, store: Store) -> None:
        with pytest.raises(NoSuchTask, match="there is no task t-nobody"):
            add(store, "a", after=[UNKNOWN])
        assert store.tasks.select(TaskFilter()) == []
        assert store.events.last_seq() == 0

    def test_a_child_cannot_wait_for_its_parent(self, store: Store) -> None:
        parent = add(store, "parent")
        with pytest.raises(
            CycleRefused, match="task t-child would wait for itself by way of t-parent"
        ):
            add(store, "child", under=parent, after=[parent])
        assert store.tasks.children(parent) == []

    def test_an_alias_is_unique_within_its_feature(self, store: Store) -> None:
        one, two = store.features.add("one"), store.features.add("two")
        add(store, "a", alias="US-001", feature_id=one.id)
        add(store, "b", alias="US-001", feature_id=two.id)
        with pytest.raises(RalphError, match="there is a task US-001 already"):
            add(store, "c", alias="US-001", feature_id=one.id)

    def test_a_child_belongs_to_its_parents_feature(self, store: Store) -> None:
        feature = store.features.add("search")
        parent = add(store, "parent", feature_id=feature.id)
        child = store.tasks.find(add(store, "child", under=parent))
        assert child.feature_id == feature.id
        assert child.task_type is TaskType.FEATURE
        assert store.tasks.find(add(store, "alone")).task_type is TaskType.STANDALONE

    @pytest.mark.parametrize("settled", ["done", "failed"])
    def test_a_new_child_reopens_a_settled_parent_and_those_above(
        self, store: Store, settled: str
    ) -> None:
        top = add(store, "top")
        parent = add(store, "parent", under=top)
        if settled == "done":
            store.tasks.force_done(parent)
        else:
            store.tasks.force_failed(parent, "no")
        assert status(store, top) == settled
        child = add(store, "child", under=parent)
        assert status(store, parent) is TaskStatus.PENDING
        assert status(store, top) is TaskStatus.PENDING
        assert next_ready(store) == child

    def test_a_new_child_makes_its_parent_wait(self, store: Store) -> None:
        parent = add(store, "parent")
        assert next_ready(store) == parent
        child = add(store, "child", under=parent)
        assert next_ready(store) == child


class ManyTasksContract(Contract):
    """Many at once."""

    def test_drafts_may_name_each_other_in_any_order(self, store: Store) -> None:
        child = TaskDraft(title="child", id=TaskId("t-1"), parent_id=TaskId("t-3"))
        late = TaskDraft(title="late", id=TaskId("t-2"), blocked_by=(TaskId("t-1"), TaskId("t-4")))
        parent = TaskDraft(title="parent", id=TaskId("t-3"))
        first = TaskDraft(title="first", id=TaskId("t-4"))
        assert store.tasks.add_many([child, late, parent, first]) == 4
        assert [task.id for task in store.tasks.children(TaskId("t-3"))] == ["t-1"]
        assert {task.id for task in store.tasks.blockers(TaskId("t-2"))} == {"t-1", "t-4"}

    def test_a_feature_reaches_down_through_a_batch(self, store: Store) -> None:
        feature = store.features.add("search")
        store.tasks.add_many(
            [
                TaskDraft(title="leaf", id=TaskId("t-1"), parent_id=TaskId("t-2")),
                TaskDraft(title="middle", id=TaskId("t-2"), parent_id=TaskId("t-3")),
                TaskDraft(title="top", id=TaskId("t-3"), feature_id=feature.id),
            ]
        )
        assert {task.feature_id for task in store.tasks.select(TaskFilter())} == {feature.id}

    def test_one_bad_draft_keeps_all_out(self, store: Store) -> None:
        good = TaskDraft(title="good", id=TaskId("t-1"))
        with pytest.raises(NoSuchTask, match="there is no task t-nobody"):
            store.tasks.add_many([good, TaskDraft(title="bad", parent_id=UNKNOWN)])
        assert store.tasks.select(TaskFilter()) == []
        assert store.events.last_seq() == 0

    def test_drafts_that_wait_for_each_other_are_refused(self, store: Store) -> None:
        one = TaskDraft(title="one", id=TaskId("t-1"), blocked_by=(TaskId("t-2"),))
        two = TaskDraft(title="two", id=TaskId("t-2"), blocked_by=(TaskId("t-1"),))
        with pytest.raises(CycleRefused, match="task t-1 would wait for itself by way of t-2"):
            store.tasks.add_many([one, two])
        assert store.tasks.select(TaskFilter()) == []

    def test_drafts_that_contain_each_other_are_refused(self, store: Store) -> None:
        one = TaskDraft(title="one", id=TaskId("t-1"), parent_id=TaskId("t-2"))
        two = TaskDraft(title="two", id=TaskId("t-2"), parent_id=TaskId("t-1"))
        with pytest.raises(CycleRefused, match="task t-1 would be below itself"):
            store.tasks.add_many([one, two])
        assert store.tasks.select(TaskFilter()) == []

    def test_drafts_of_one_batch_come_in_the_order_given(self, store: Store) -> None:
        names = ["t-c", "t-a", "t-d", "t-b"]
        store.tasks.add_many([TaskDraft(title=name, id=TaskId(name)) for name in names])
        assert [task.id for task in store.tasks.select(TaskFilter())] == names

    def test_an_import_may_bring_statuses_but_never_a_claim(self, store: Store) -> None:
        store.tasks.add_many(
            [
                TaskDraft(title=one.value, id=TaskId(f"t-{one.value}"), status=one)
                for one in TaskStatus
            ]
        )
        assert status(store, TaskId("t-done")) is TaskStatus.DONE
        assert status(store, TaskId("t-failed")) is TaskStatus.FAILED
        assert status(store, TaskId("t-blocked")) is TaskStatus.BLOCKED
        was_running = store.tasks.find("t-in_progress")
        assert was_running.status is TaskStatus.PENDING
        assert was_running.claimed_by is None

    def test_what_an_imported_done_task_blocks_is_ready(self, store: Store) -> None:
        waits = TaskDraft(title="waits", id=TaskId("t-1"), blocked_by=(TaskId("t-2"),))
        done = TaskDraft(title="done", id=TaskId("t-2"), status=TaskStatus.DONE)
        store.tasks.add_many([waits, done])
        assert next_ready(store) == "t-1"

    def test_an_imported_blocked_task_unblocks_itself_when_its_blockers_are_done(
        self, store: Store
    ) -> None:
        waits = TaskDraft(
            title="waits", id=TaskId("t-1"), blocked_by=(TaskId("t-2"),), status=TaskStatus.BLOCKED
        )
        store.tasks.add_many([waits, TaskDraft(title="first", id=TaskId("t-2"))])
        work(store, TaskId("t-2"))
        assert status(store, TaskId("t-1")) is TaskStatus.PENDING
        assert next_ready(store) == "t-1"


class FindTasksContract(Contract):
    """Lists and names."""

    def test_a_task_is_found_by_id_and_by_alias(self, store: Store) -> None:
        task = add(store, "a", alias="US-007")
        assert store.tasks.find(task).id == task
        assert store.tasks.find("US-007").id == task

    def test_a_wrong_name_is_answered_with_near_ones(self, store: Store) -> None:
        add(store, "search-index", alias="US-001")
        with pytest.raises(NoSuchTask) as refused:
            store.tasks.find("US-002")
        assert "US-001" in refused.value.hint

    def test_tasks_come_by_priority_then_age(self, store: Store, clock: FrozenClock) -> None:
        for name, priority in [("z", 1), ("y", 0), ("x", 1), ("w", 0)]:
            add(store, name, priority=priority)
            clock.advance(1)
        assert [task.title for task in store.tasks.select(TaskFilter())] == ["y", "w", "z", "x"]

    def test_age_decides_even_within_one_moment(self, store: Store) -> None:
        for name in ("b", "c", "a"):
            add(store, name)
        assert [task.title for task in store.tasks.select(TaskFilter())] == ["b", "c", "a"]
        assert next_ready(store) == "t-b"

    def test_a_list_is_cut_by_status_feature_parent_readiness_and_size(self, store: Store) -> None:
        feature = store.features.add("search")
        parent = add(store, "parent", feature_id=feature.id)
        child = add(store, "child", under=parent)
        late = add(store, "late", after=[child])
        done = add(store, "done")
        store.tasks.force_done(done)

        def listed(which: TaskFilter) -> list[TaskId]:
            return [task.id for task in store.tasks.select(which)]

        assert listed(TaskFilter(statuses=frozenset({TaskStatus.DONE}))) == [done]
        assert listed(TaskFilter(feature=feature.id)) == [parent, child]
        assert listed(TaskFilter(parent=parent)) == [child]
        assert listed(TaskFilter(ready=True)) == [child]
        assert listed(TaskFilter(limit=2)) == [parent, child]
        assert listed(TaskFilter(limit=2, offset=2)) == [late, done]
        assert listed(TaskFilter(offset=3)) == [done]

    def test_a_subtree_shows_parents_before_children(self, store: Store) -> None:
        top = add(store, "top", priority=9)
        middle = add(store, "middle", under=top, priority=5)
        leaf = add(store, "leaf", under=middle, priority=1)
        other = add(store, "other")
        assert [task.id for task in store.tasks.subtree(top)] == [top, middle, leaf]
        assert [task.id for task in store.tasks.subtree(middle)] == [middle, leaf]
        assert {task.id for task in store.tasks.subtree(None)} == {top, middle, leaf, other}
        order = [task.id for task in store.tasks.subtree(None)]
        assert order.index(top) < order.index(middle) < order.index(leaf)
        assert len(store.tasks.subtree(None, limit=2)) == 2

    def test_neighbours_are_seen_from_both_sides(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        c = add(store, "c", after=[a, b])
        d = add(store, "d", under=c)
        assert [task.id for task in store.tasks.blockers(c)] == [a, b]
        assert [task.id for task in store.tasks.dependents(a)] == [c]
        assert [task.id for task in store.tasks.children(c)] == [d]
        assert store.tasks.blocker_ids([a, c]) == {a: (), c: (a, b)}


class ChangeTasksContract(Contract):
    """Edits, deletions, edges, features, logs."""

    def test_an_edit_changes_only_what_it_names(self, store: Store, clock: FrozenClock) -> None:
        before = store.tasks.find(add(store, "a", description="old", priority=3))
        clock.advance(5)
        after = store.tasks.edit(before.id, TaskEdit(title="new", max_retries=9))
        assert after == store.tasks.find(before.id)
        assert (after.title, after.max_retries) == ("new", 9)
        assert (after.description, after.priority) == ("old", 3)
        assert after.updated_at > before.updated_at
        assert after.created_at == before.created_at

    def test_a_new_priority_changes_who_is_next(self, store: Store) -> None:
        add(store, "a")
        b = add(store, "b")
        store.tasks.edit(b, TaskEdit(priority=-1))
        assert next_ready(store) == b

    def test_editing_an_unknown_task_says_so(self, store: Store) -> None:
        with pytest.raises(NoSuchTask, match="there is no task t-nobody"):
            store.tasks.edit(UNKNOWN, TaskEdit(title="x"))

    def test_a_move_counts_for_both_parents(self, store: Store) -> None:
        old, new = add(store, "old"), add(store, "new")
        done, child = add(store, "done", under=old), add(store, "child", under=old)
        store.tasks.force_done(done)
        store.tasks.force_done(new)
        store.tasks.edit(child, TaskEdit(parent_id=new))
        assert status(store, old) is TaskStatus.DONE
        assert status(store, new) is TaskStatus.PENDING
        work(store, child)
        assert status(store, new) is TaskStatus.DONE

    def test_a_move_takes_the_parents_blockers_along(self, store: Store) -> None:
        first, parent = add(store, "first", priority=5), add(store, "parent")
        store.tasks.link(first, parent)
        child = add(store, "child")
        assert next_ready(store) == child
        store.tasks.edit(child, TaskEdit(parent_id=parent))
        assert next_ready(store) == first
        store.tasks.edit(child, TaskEdit(parent_id=None))
        assert next_ready(store) == child

    def test_a_move_that_closes_a_circle_is_refused(self, store: Store) -> None:
        top = add(store, "top")
        leaf = add(store, "leaf", under=top)
        with pytest.raises(CycleRefused, match="task t-top under t-leaf would wait for itself"):
            store.tasks.edit(top, TaskEdit(parent_id=leaf))
        with pytest.raises(CycleRefused, match="task t-top under t-top would wait for itself"):
            store.tasks.edit(top, TaskEdit(parent_id=top))
        assert store.tasks.find(top).parent_id is None

    def test_a_move_is_judged_without_the_old_parent(self, store: Store) -> None:
        first, second = add(store, "first"), add(store, "second")
        child = add(store, "child", under=first)
        store.tasks.link(first, second)
        assert store.tasks.edit(child, TaskEdit(parent_id=second)).parent_id == second

    def test_deleting_takes_everything_below_and_the_edges(self, store: Store) -> None:
        top = add(store, "top")
        leaf = add(store, "leaf", under=top)
        late = add(store, "late", after=[leaf])
        assert set(store.tasks.delete(top)) == {top, leaf}
        assert [task.id for task in store.tasks.select(TaskFilter())] == [late]
        assert store.tasks.blockers(late) == []
        assert next_ready(store) == late
        with pytest.raises(NoSuchTask, match="there is no task t-leaf"):
            store.tasks.find(leaf)

    def test_deleting_the_last_open_child_completes_its_parent(self, store: Store) -> None:
        top = add(store, "top")
        done, open_ = add(store, "done", under=top), add(store, "open", under=top)
        store.tasks.force_done(done)
        store.tasks.delete(open_)
        assert status(store, top) is TaskStatus.DONE

    def test_deleting_the_only_child_makes_its_parent_a_task_again(self, store: Store) -> None:
        top = add(store, "top")
        store.tasks.delete(add(store, "child", under=top))
        assert status(store, top) is TaskStatus.PENDING
        assert next_ready(store) == top

    def test_deleting_the_failed_child_reopens_its_parent(self, store: Store) -> None:
        top = add(store, "top")
        child = add(store, "child", under=top)
        store.tasks.force_failed(child, "no")
        assert status(store, top) is TaskStatus.FAILED
        store.tasks.delete(child)
        assert status(store, top) is TaskStatus.PENDING
        assert next_ready(store) == top

    def test_deleting_an_unknown_task_says_so(self, store: Store) -> None:
        with pytest.raises(NoSuchTask, match="there is no task t-nobody"):
            store.tasks.delete(UNKNOWN)

    def test_an_edge_makes_a_task_wait(self, store: Store) -> None:
        a, b = add(store, "a", priority=1), add(store, "b")
        store.tasks.link(a, b)
        assert next_ready(store) == a
        work(store, a)
        assert next_ready(store) == b

    def test_adding_an_edge_twice_is_adding_it_once(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        store.tasks.link(a, b)
        seq = store.events.last_seq()
        store.tasks.link(a, b)
        assert store.events.last_seq() == seq
        assert store.tasks.unlink(a, b)
        assert next_ready(store) == a
        assert [task.id for task in store.tasks.select(TaskFilter(ready=True))] == [a, b]

    def test_an_edge_to_nobody_is_refused(self, store: Store) -> None:
        a = add(store, "a")
        with pytest.raises(NoSuchTask, match="there is no task t-nobody"):
            store.tasks.link(a, UNKNOWN)
        with pytest.raises(NoSuchTask, match="there is no task t-nobody"):
            store.tasks.link(UNKNOWN, a)

    def test_removing_an_edge_that_is_not_there_is_no_error(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        assert store.tasks.unlink(a, b) is False

    def test_an_edge_that_closes_a_circle_is_refused(self, store: Store) -> None:
        a = add(store, "a")
        b = add(store, "b", after=[a])
        c = add(store, "c", after=[b])
        for blocker, blocked in [(c, a), (b, a), (a, a)]:
            with pytest.raises(
                CycleRefused, match=r"^task t-a would wait for itself by way of t-[abc]$"
            ):
                store.tasks.link(blocker, blocked)
        assert store.tasks.blockers(a) == []

    def test_parents_take_part_in_the_search_for_circles(self, store: Store) -> None:
        one, two = add(store, "one"), add(store, "two")
        in_one, in_two = add(store, "in-one", under=one), add(store, "in-two", under=two)
        store.tasks.link(in_one, in_two)
        with pytest.raises(CycleRefused, match="task t-one would wait for itself by way of t-two"):
            store.tasks.link(two, one)
        with pytest.raises(
            CycleRefused, match="task t-in-one would wait for itself by way of t-one"
        ):
            store.tasks.link(one, in_one)
        with pytest.raises(
            CycleRefused, match="task t-one would wait for itself by way of t-in-one"
        ):
            store.tasks.link(in_one, one)

    def test_a_feature_is_added_once_and_found_by_name_or_id(self, store: Store) -> None:
        feature = store.features.add("search")
        assert feature.id.startswith("f-")
        assert store.features.add("search") == feature
        assert store.features.get("search") == feature
        assert store.features.get(feature.id) == feature
        assert store.features.get("nothing") is None
        assert store.features.all() == [feature]

    def test_an_unknown_feature_is_refused(self, store: Store) -> None:
        with pytest.raises(RalphError, match="there is no feature f-nobody"):
            add(store, "a", feature_id=FeatureId("f-nobody"))

    def test_a_log_is_told_oldest_first(self, store: Store, clock: FrozenClock) -> None:
        a, b = add(store, "a"), add(store, "b")
        for message in ("one", "two", "three"):
            store.tasks.log(a, message)
            clock.advance(1)
        store.tasks.log(b, "other")
        assert [entry.message for entry in store.tasks.logs(a)] == ["one", "two", "three"]
        assert [entry.message for entry in store.tasks.logs(a, limit=2)] == ["two", "three"]
        assert store.tasks.logs(a)[0].timestamp < store.tasks.logs(a)[2].timestamp

    def test_a_task_in_somebodys_hands_can_be_deleted(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        store.tasks.delete(a)
        assert not store.claims.holds(taken)

    def test_what_a_block_holds_back_below_is_free_after_a_move(self, store: Store) -> None:
        top = add(store, "top")
        child = add(store, "child", under=top)
        store.tasks.apply(top, [Blocked("wait for the law")])
        assert next_ready(store) is None
        store.tasks.edit(child, TaskEdit(parent_id=None))
        assert next_ready(store) == child


class GraphContract(AddTasksContract, ManyTasksContract, FindTasksContract, ChangeTasksContract):
    """All of `Graph` but the statuses."""
