"""What cannot start, and the task that has to be looked at first."""

from collections.abc import Iterator
from typing import Final

from ralph.core.ids import FeatureId, TaskId
from ralph.core.target import Everything, OneFeature, Subtree, Target
from ralph.core.task import Status, Task
from ralph.ports.store import Filter, Store
from ralph.ui.board import Wait

SHOWN: Final = 10
STUCK: Final = frozenset({Status.PENDING, Status.BLOCKED})
REMEDIES: Final = {Status.FAILED: "task retry", Status.BLOCKED: "task unblock"}


def waits_in(store: Store, target: Target) -> list[Wait]:
    """The first tasks of a target that cannot start, those that are blocked before others."""
    stuck = sorted(_stuck(store, target), key=lambda task: task.status is not Status.BLOCKED)
    return [_wait(store, task) for task in stuck[:SHOWN]]


def _stuck(store: Store, target: Target) -> list[Task]:
    match target:
        case Everything():
            return _tasks(store, None)
        case OneFeature(feature=feature):
            return _tasks(store, feature)
        case Subtree(root):
            return [one for one in store.subtree(root) if one.status in STUCK]


def _tasks(store: Store, feature: FeatureId | None) -> list[Task]:
    # Each on its own: among many that merely wait, the few that are blocked would not be shown.
    return [
        task
        for status in (Status.BLOCKED, Status.PENDING)
        for task in store.tasks(Filter(statuses=frozenset({status}), feature=feature, limit=SHOWN))
    ]


def _wait(store: Store, task: Task) -> Wait:
    cause = _cause(store, task)
    is_blocked = task.status is Status.BLOCKED
    return Wait(
        task.name,
        task.title,
        tuple(dict.fromkeys(one.name for one in _unmet(store, task))),
        is_blocked=is_blocked,
        reason=(task.reason or "") if is_blocked else "",
        cause=cause.name,
        remedy=REMEDIES.get(cause.status, "run"),
    )


def _cause(store: Store, task: Task) -> Task:
    """Follow the chain to a task that failed, is blocked, or could just run."""
    seen: set[TaskId] = set()
    while task.id not in seen:
        seen.add(task.id)
        if task.status is Status.BLOCKED and task.reason:
            return task
        found = [one for one in _behind(store, task) if one.id not in seen]
        if not found:
            return task
        task = min(found, key=lambda one: (one.status is not Status.FAILED, one.status in STUCK))
    return task


def _behind(store: Store, task: Task) -> Iterator[Task]:
    if task.status is Status.FAILED:
        yield from (one for one in store.children(task.id) if one.status is Status.FAILED)
        return
    yield from _unmet(store, task)
    yield from (one for one in store.children(task.id) if one.status is not Status.DONE)


def _unmet(store: Store, task: Task) -> Iterator[Task]:
    """What it waits for, also by what it is part of."""
    above: Task | None = task
    while above is not None:
        yield from (one for one in store.blockers(above.id) if one.status is not Status.DONE)
        above = store.find(above.parent_id) if above.parent_id else None
