"""What is said of tasks that wait: what for, by which name, and what helps."""

from collections.abc import Callable

from ralph.core.ids import TaskId
from ralph.core.run import AllTasks, Subtree
from ralph.core.task import TaskDraft, TaskStatus
from ralph.core.transitions import Blocked
from ralph.store.store import Store
from ralph.ui.waiting_tasks import waiting_tasks
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store


def adding(store: Store) -> Callable[..., TaskId]:
    def add(title: str, *blockers: TaskId, under: TaskId | None = None) -> TaskId:
        return store.tasks.add(TaskDraft(title=title, blocked_by=blockers, parent_id=under)).id

    return add


def test_the_cause_is_at_the_end_of_the_chain_and_within_what_was_asked() -> None:
    store = memory_store(FrozenClock())
    add = adding(store)
    unrelated = add("unrelated")
    parent = add("parent")
    leaf = add("leaf", under=parent)
    last = add("last", add("middle", parent))
    store.tasks.force_failed(unrelated, "no")
    store.tasks.force_failed(leaf, "no")
    (wait,) = waiting_tasks(store, Subtree(last))
    assert (wait.cause, wait.remedy) == (leaf, "task retry")
    assert [one.title for one in waiting_tasks(store, AllTasks())] == ["middle", "last"]


def test_a_blocked_cause_is_unblocked_and_one_that_could_run_is_run() -> None:
    store = memory_store(FrozenClock())
    add = adding(store)
    first = add("first")
    second = add("second", first)
    (wait,) = waiting_tasks(store, Subtree(second))
    assert (wait.on, wait.cause, wait.remedy) == ((first,), first, "run")
    store.tasks.apply(first, [Blocked("ask Ann")])
    (wait,) = waiting_tasks(store, Subtree(second))
    assert (wait.cause, wait.remedy) == (first, "task unblock")
    (wait,) = waiting_tasks(store, Subtree(first))
    assert (wait.is_blocked, wait.reason) == (True, "ask Ann")


def test_what_a_parent_waits_for_its_children_wait_for() -> None:
    store = memory_store(FrozenClock())
    add = adding(store)
    first = add("first")
    child = add("child", under=add("parent", first))
    assert waiting_tasks(store, Subtree(child))[0].on == (first,)
    store.tasks.force_done(first)
    assert waiting_tasks(store, Subtree(child))[0].on == ()
    assert store.tasks.find(first).status is TaskStatus.DONE


def test_a_task_below_a_failed_one_waits_for_that_and_names_its_failed_part() -> None:
    store = memory_store(FrozenClock())
    add = adding(store)
    parent = add("parent")
    broken, other = add("broken", under=parent), add("other", under=parent)
    store.tasks.force_failed(broken, "no key", fail_fast=True)
    (wait,) = waiting_tasks(store, Subtree(other))
    assert (wait.on, wait.cause, wait.remedy) == ((parent,), broken, "task retry")


def test_a_task_below_a_blocked_one_is_helped_by_unblocking_that() -> None:
    store = memory_store(FrozenClock())
    add = adding(store)
    parent = add("parent")
    child = add("child", under=parent)
    store.tasks.apply(parent, [Blocked("ask Ann")])
    (wait,) = waiting_tasks(store, Subtree(child))
    assert (wait.on, wait.cause, wait.remedy) == ((parent,), parent, "task unblock")
