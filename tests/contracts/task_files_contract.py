"""Promises about the files that tasks name: two that name the same one are not run at once."""

import pytest

from ralph.core.events import TaskEdited
from ralph.core.graph import Schedule
from ralph.core.run import AllTasks, OneFeature, Subtree
from ralph.core.task import MOST, TaskDraft, TaskEdit
from ralph.core.transitions import Blocked, Rejected
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.contracts.store_test_helpers import (
    OTHER,
    THIRD,
    Contract,
    add,
    claim,
    join,
    may_claim,
    next_ready,
    settle,
    stale,
)


class TaskFilesContract(Contract):
    """What tasks say they will modify."""

    def test_files_are_kept_in_order_each_once(self, store: Store) -> None:
        a = add(store, "a", files=("b.py", "a.py", "b.py"))
        add(store, "b")
        assert store.tasks.find(a).files == ("a.py", "b.py")
        assert [task.files for task in store.tasks.select(TaskFilter())] == [("a.py", "b.py"), ()]
        assert claim(store).task.files == ("a.py", "b.py")

    def test_many_at_once_may_name_files(self, store: Store) -> None:
        store.tasks.add_many(
            [TaskDraft(title="a", files=("x",)), TaskDraft(title="b", files=("x", "y"))]
        )
        assert [task.files for task in store.tasks.select(TaskFilter())] == [("x",), ("x", "y")]

    def test_a_person_may_name_others(self, store: Store) -> None:
        a = add(store, "a", files=("a.py", "b.py"))
        edited = store.tasks.edit(a, TaskEdit(files=("c.py", "b.py", "c.py")))
        assert edited.files == store.tasks.find(a).files == ("b.py", "c.py")
        assert store.tasks.edit(a, TaskEdit(priority=1)).files == ("b.py", "c.py")
        assert store.tasks.edit(a, TaskEdit(files=())).files == ()
        recorded = [one.event for one in store.events.select() if isinstance(one.event, TaskEdited)]
        assert [event.edit for event in recorded] == [
            TaskEdit(files=("b.py", "c.py")),
            TaskEdit(priority=1),
            TaskEdit(files=()),
        ]

    def test_the_next_in_order_is_taken_while_a_file_is_in_use(self, store: Store) -> None:
        a = add(store, "a", files=("x", "y"))
        b = add(store, "b", files=("y", "z"))
        c = add(store, "c", files=("src/y",))
        first = claim(store)
        assert (first.task.id, next_ready(store)) == (a, c)
        assert claim(store, OTHER).task.id == c
        assert next_ready(store) is None
        assert may_claim(store, THIRD) is None
        assert store.claims.has_open(AllTasks())
        assert store.claims.in_progress(AllTasks()) == 2
        settle(store, first)
        assert (next_ready(store), claim(store).task.id) == (b, b)

    def test_it_stays_ready_for_whoever_lists_it(self, store: Store) -> None:
        add(store, "a", files=("x",))
        b = add(store, "b", files=("x",))
        claim(store)
        assert [task.id for task in store.tasks.select(TaskFilter(ready=True))] == [b]

    def test_a_task_that_goes_back_frees_its_files(self, store: Store) -> None:
        a, b = add(store, "a", files=("x",)), add(store, "b", files=("x",), priority=-1)
        taken = claim(store)
        assert (taken.task.id, next_ready(store)) == (b, None)
        settle(store, taken, Rejected("red"))
        store.tasks.edit(b, TaskEdit(priority=1))
        assert claim(store).task.id == a

    @pytest.mark.parametrize("schedule", list(Schedule))
    def test_it_holds_in_every_scope(self, store: Store, schedule: Schedule) -> None:
        feature = store.features.add("search")
        add(store, "busy", files=("x",), priority=-9)
        top = add(store, "top", feature_id=feature.id)
        add(store, "b", under=top, files=("x",))
        c = add(store, "c", under=top, files=("y",), priority=5)
        claim(store)
        store.claims.rank_chains()
        for target in (AllTasks(), OneFeature(feature.id, "search"), Subtree(top)):
            task = store.claims.next_ready(target, schedule)
            assert task is not None
            assert task.id == c

    def test_what_waits_for_its_files_is_told_from_what_cannot_run(self, store: Store) -> None:
        feature = store.features.add("search")
        mine = OneFeature(feature.id, "search")
        add(store, "a", files=("x",), priority=-1)
        b = add(store, "b", files=("x",), feature_id=feature.id)
        claim(store)
        assert store.claims.next_ready(mine, Schedule.PRIORITY) is None
        assert (store.claims.in_progress(mine), store.claims.has_ready(mine)) == (0, True)
        assert store.claims.has_ready(AllTasks())
        assert store.claims.has_ready(Subtree(b))
        store.tasks.apply(b, [Blocked("not now")])
        assert not store.claims.has_ready(mine)
        assert not store.claims.has_ready(Subtree(b))

    def test_work_that_is_begun_goes_on_whoever_uses_its_files(self, store: Store) -> None:
        a, b = add(store, "a", files=("x",)), add(store, "b", files=("x",))
        claim(store)
        again = store.claims.claim_again(OTHER, None, b)
        assert again is not None
        assert (again.task.id, again.worker, again.attempt) == (b, OTHER, 1)
        assert store.claims.holds(again)
        assert store.claims.claim_again(OTHER, None, a) is None
        assert store.claims.claim_again(OTHER, None, b) is None
        store.tasks.delete(b)
        assert store.claims.claim_again(OTHER, None, b) is None

    def test_what_waits_is_not_claimed_again(self, store: Store) -> None:
        a = add(store, "a")
        b = add(store, "b", after=[a])
        top = add(store, "top")
        add(store, "part", under=top)
        assert store.claims.claim_again(OTHER, None, b) is None
        assert store.claims.claim_again(OTHER, None, top) is None

    def test_others_see_the_files_of_a_claim(self, store: Store) -> None:
        join(store)
        add(store, "a", files=("x",))
        claim(store)
        (seen,) = stale(store)
        assert seen.task.files == ("x",)

    def test_a_deleted_task_names_nothing(self, store: Store) -> None:
        a = add(store, "a", files=("x",))
        b = add(store, "b", files=("x",))
        claim(store)
        store.tasks.delete(a)
        assert next_ready(store) == b
        assert store.tasks.find(add(store, "a")).files == ()

    def test_files_are_archived_and_come_back(self, store: Store) -> None:
        feature = store.features.add("search")
        a = add(store, "a", feature_id=feature.id, files=("x", "y"))
        store.archive.add(a)
        (kept,) = store.archive.of_feature(feature.id)
        assert kept.files == ("x", "y")
        assert store.archive.restore(a).files == store.tasks.find(a).files == ("x", "y")

    def test_what_a_session_touched_is_learned(self, store: Store) -> None:
        a = add(store, "a", files=("b",))
        store.tasks.learn_files(a, ["c", "a", "b"])
        assert store.tasks.find(a).files == ("a", "b", "c")
        before = store.events.last_seq()
        store.tasks.learn_files(a, ["a"])
        store.tasks.learn_files(a, ["odd\nname", "odd\udcffname", ""])
        assert store.tasks.find(a).files == ("a", "b", "c")
        assert store.events.last_seq() == before

    def test_what_was_named_is_kept_when_too_much_is_learned(self, store: Store) -> None:
        a = add(store, "a", files=("z",))
        store.tasks.learn_files(a, [f"{number:04}" for number in range(3 * MOST)])
        files = store.tasks.find(a).files
        assert (len(files), files[-1]) == (MOST, "z")

    def test_a_deleted_task_has_nothing_to_learn(self, store: Store) -> None:
        a = add(store, "a")
        store.tasks.delete(a)
        store.tasks.learn_files(a, ["x"])
        assert store.tasks.select(TaskFilter()) == []
