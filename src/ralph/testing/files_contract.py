"""Promises about the files that tasks name: two that name the same one are not run at once."""

import pytest

from ralph.core.events import TaskEdited
from ralph.core.named_files import MOST
from ralph.core.order import Schedule
from ralph.core.target import Everything, OneFeature, Subtree
from ralph.core.task import Draft, Edit
from ralph.core.transitions import Blocked, Rejected
from ralph.ports.store import Filter, Store
from ralph.testing.store_words import (
    OTHER,
    Contract,
    add,
    claim,
    join,
    may_claim,
    next_ready,
    settle,
)


class FilesContract(Contract):
    """What tasks say they will modify."""

    def test_files_are_kept_in_order_each_once(self, store: Store) -> None:
        a = add(store, "a", files=("b.py", "a.py", "b.py"))
        add(store, "b")
        assert store.find(a).files == ("a.py", "b.py")
        assert [task.files for task in store.tasks(Filter())] == [("a.py", "b.py"), ()]
        assert claim(store).task.files == ("a.py", "b.py")

    def test_many_at_once_may_name_files(self, store: Store) -> None:
        store.add_many([Draft(title="a", files=("x",)), Draft(title="b", files=("x", "y"))])
        assert [task.files for task in store.tasks(Filter())] == [("x",), ("x", "y")]

    def test_a_person_may_name_others(self, store: Store) -> None:
        a = add(store, "a", files=("a.py", "b.py"))
        edited = store.edit_task(a, Edit(files=("c.py", "b.py", "c.py")))
        assert edited.files == store.find(a).files == ("b.py", "c.py")
        assert store.edit_task(a, Edit(priority=1)).files == ("b.py", "c.py")
        assert store.edit_task(a, Edit(files=())).files == ()
        told = [one.event for one in store.events() if isinstance(one.event, TaskEdited)]
        assert [event.edit for event in told] == [
            Edit(files=("b.py", "c.py")),
            Edit(priority=1),
            Edit(files=()),
        ]

    def test_the_next_in_order_is_taken_while_a_file_is_in_use(self, store: Store) -> None:
        a = add(store, "a", files=("x", "y"))
        b = add(store, "b", files=("y", "z"))
        c = add(store, "c", files=("src/y",))
        first = claim(store)
        assert (first.task.id, next_ready(store)) == (a, c)
        assert claim(store, OTHER).task.id == c
        assert next_ready(store) is None
        assert may_claim(store) is None
        assert store.has_open(Everything())
        assert store.in_progress(Everything()) == 2
        settle(store, first)
        assert (next_ready(store), claim(store).task.id) == (b, b)

    def test_it_stays_ready_for_whoever_lists_it(self, store: Store) -> None:
        add(store, "a", files=("x",))
        b = add(store, "b", files=("x",))
        claim(store)
        assert [task.id for task in store.tasks(Filter(ready=True))] == [b]

    def test_a_task_that_goes_back_frees_its_files(self, store: Store) -> None:
        a, b = add(store, "a", files=("x",)), add(store, "b", files=("x",), priority=-1)
        taken = claim(store)
        assert (taken.task.id, next_ready(store)) == (b, None)
        settle(store, taken, Rejected("red"))
        store.edit_task(b, Edit(priority=1))
        assert claim(store).task.id == a

    @pytest.mark.parametrize("schedule", list(Schedule))
    def test_it_holds_in_every_scope(self, store: Store, schedule: Schedule) -> None:
        feature = store.add_feature("search")
        add(store, "busy", files=("x",), priority=-9)
        top = add(store, "top", feature_id=feature.id)
        add(store, "b", under=top, files=("x",))
        c = add(store, "c", under=top, files=("y",), priority=5)
        claim(store)
        store.rank_chains()
        for target in (Everything(), OneFeature(feature.id, "search"), Subtree(top)):
            task = store.next_ready(target, schedule)
            assert task is not None
            assert task.id == c

    def test_what_waits_for_its_files_is_told_from_what_cannot_run(self, store: Store) -> None:
        feature = store.add_feature("search")
        mine = OneFeature(feature.id, "search")
        add(store, "a", files=("x",), priority=-1)
        b = add(store, "b", files=("x",), feature_id=feature.id)
        claim(store)
        assert store.next_ready(mine, Schedule.PRIORITY) is None
        assert (store.in_progress(mine), store.has_ready(mine)) == (0, True)
        assert store.has_ready(Everything())
        assert store.has_ready(Subtree(b))
        store.apply(b, [Blocked("not now")])
        assert not store.has_ready(mine)
        assert not store.has_ready(Subtree(b))

    def test_work_that_is_begun_goes_on_whoever_uses_its_files(self, store: Store) -> None:
        a, b = add(store, "a", files=("x",)), add(store, "b", files=("x",))
        claim(store)
        again = store.claim_again(OTHER, None, b)
        assert again is not None
        assert (again.task.id, again.worker, again.attempt) == (b, OTHER, 1)
        assert store.holds(again)
        assert store.claim_again(OTHER, None, a) is None
        assert store.claim_again(OTHER, None, b) is None
        store.delete_task(b)
        assert store.claim_again(OTHER, None, b) is None

    def test_what_waits_is_not_claimed_again(self, store: Store) -> None:
        a = add(store, "a")
        b = add(store, "b", after=[a])
        top = add(store, "top")
        add(store, "part", under=top)
        assert store.claim_again(OTHER, None, b) is None
        assert store.claim_again(OTHER, None, top) is None

    def test_others_see_the_files_of_a_claim(self, store: Store) -> None:
        join(store)
        add(store, "a", files=("x",))
        claim(store)
        (stale,) = store.stale(OTHER)
        assert stale.task.files == ("x",)

    def test_a_deleted_task_names_nothing(self, store: Store) -> None:
        a = add(store, "a", files=("x",))
        b = add(store, "b", files=("x",))
        claim(store)
        store.delete_task(a)
        assert next_ready(store) == b
        assert store.find(add(store, "a")).files == ()

    def test_files_are_archived_and_come_back(self, store: Store) -> None:
        feature = store.add_feature("search")
        a = add(store, "a", feature_id=feature.id, files=("x", "y"))
        store.archive(a)
        (kept,) = store.archived(feature.id)
        assert kept.files == ("x", "y")
        assert store.bring_back(a).files == store.find(a).files == ("x", "y")

    def test_what_a_session_touched_is_learned(self, store: Store) -> None:
        a = add(store, "a", files=("b",))
        store.learn_files(a, ["c", "a", "b"])
        assert store.find(a).files == ("a", "b", "c")
        before = store.last_seq()
        store.learn_files(a, ["a"])
        store.learn_files(a, ["odd\nname", "odd\udcffname", ""])
        assert store.find(a).files == ("a", "b", "c")
        assert store.last_seq() == before

    def test_what_was_named_is_kept_when_too_much_is_learned(self, store: Store) -> None:
        a = add(store, "a", files=("z",))
        store.learn_files(a, [f"{number:04}" for number in range(3 * MOST)])
        files = store.find(a).files
        assert (len(files), files[-1]) == (MOST, "z")

    def test_a_deleted_task_has_nothing_to_learn(self, store: Store) -> None:
        a = add(store, "a")
        store.delete_task(a)
        store.learn_files(a, ["x"])
        assert store.tasks(Filter()) == []
