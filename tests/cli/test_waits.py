"""What is said of tasks that wait: what for, by which name, and what helps."""

from collections.abc import Callable

from ralph.core.ids import TaskId
from ralph.core.target import Everything, Subtree
from ralph.core.task import Draft, Status
from ralph.core.transitions import Blocked
from ralph.testing.clock import FrozenClock
from ralph.testing.memory_store import MemoryStore
from ralph.wiring.waits import waits_in


def adding(store: MemoryStore) -> Callable[..., TaskId]:
    def add(title: str, *blockers: TaskId, under: TaskId | None = None) -> TaskId:
        return store.add_task(Draft(title=title, blocked_by=blockers, parent_id=under)).id

    return add


def test_the_cause_is_at_the_end_of_the_chain_and_within_what_was_asked() -> None:
    store = MemoryStore(FrozenClock())
    add = adding(store)
    unrelated = add("unrelated")
    parent = add("parent")
    leaf = add("leaf", under=parent)
    last = add("last", add("middle", parent))
    store.force_failed(unrelated, "no")
    store.force_failed(leaf, "no")
    (wait,) = waits_in(store, Subtree(last))
    assert (wait.cause, wait.remedy) == (leaf, "task retry")
    assert [one.title for one in waits_in(store, Everything())] == ["middle", "last"]


def test_a_blocked_cause_is_unblocked_and_one_that_could_run_is_run() -> None:
    store = MemoryStore(FrozenClock())
    add = adding(store)
    first = add("first")
    second = add("second", first)
    (wait,) = waits_in(store, Subtree(second))
    assert (wait.on, wait.cause, wait.remedy) == ((first,), first, "run")
    store.apply(first, [Blocked("ask Ann")])
    (wait,) = waits_in(store, Subtree(second))
    assert (wait.cause, wait.remedy) == (first, "task unblock")
    (wait,) = waits_in(store, Subtree(first))
    assert (wait.is_blocked, wait.reason) == (True, "ask Ann")


def test_what_a_parent_waits_for_its_children_wait_for() -> None:
    store = MemoryStore(FrozenClock())
    add = adding(store)
    first = add("first")
    child = add("child", under=add("parent", first))
    assert waits_in(store, Subtree(child))[0].on == (first,)
    store.force_done(first)
    assert waits_in(store, Subtree(child))[0].on == ()
    assert store.find(first).status is Status.DONE
