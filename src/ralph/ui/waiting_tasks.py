"""Find tasks that cannot start, and the task that has to be looked at first."""

from collections.abc import Iterator
from typing import Final

from ralph.core.ids import TaskId
from ralph.core.run import OneFeature, Subtree, Target
from ralph.core.task import Task, TaskStatus
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.ui.run_view import WaitingTask

SHOWN: Final = 10
STUCK: Final = (TaskStatus.BLOCKED, TaskStatus.PENDING)
REMEDIES: Final = {TaskStatus.FAILED: "task retry", TaskStatus.BLOCKED: "task unblock"}


def waiting_tasks(store: Store, target: Target) -> list[WaitingTask]:
    """The first tasks of a target that cannot start, those that are blocked before others."""
    stuck = sorted(_stuck(store, target), key=lambda task: task.status is not TaskStatus.BLOCKED)
    return [_wait(store, task) for task in stuck[:SHOWN]]


def _stuck(store: Store, target: Target) -> list[Task]:
    if isinstance(target, Subtree):
        return [one for one in store.tasks.subtree(target.task) if one.status in STUCK]
    feature = target.feature if isinstance(target, OneFeature) else None
    # Each on its own: among many that merely wait, the few that are blocked would not be shown.
    return [
        task
        for status in STUCK
        for task in store.tasks.select(
            TaskFilter(statuses=frozenset({status}), feature=feature, limit=SHOWN)
        )
    ]


def _wait(store: Store, task: Task) -> WaitingTask:
    cause = _cause(store, task)
    is_blocked = task.status is TaskStatus.BLOCKED
    return WaitingTask(
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
        if task.status is TaskStatus.BLOCKED and task.reason:
            return task
        found = [one for one in _waits_for(store, task) if one.id not in seen]
        if not found:
            return task
        task = min(
            found, key=lambda one: (one.status is not TaskStatus.FAILED, one.status in STUCK)
        )
    return task


def _waits_for(store: Store, task: Task) -> Iterator[Task]:
    if task.status is TaskStatus.FAILED:
        yield from (one for one in store.tasks.children(task.id) if one.status is TaskStatus.FAILED)
        return
    yield from _unmet(store, task)
    yield from (one for one in store.tasks.children(task.id) if one.status is not TaskStatus.DONE)


def _unmet(store: Store, task: Task) -> Iterator[Task]:
    """What it waits for, also by what it is part of; and that, if it failed or is blocked."""
    above: Task | None = task
    while above is not None:
        if above is not task and above.status in REMEDIES:
            yield above
        yield from (
            one for one in store.tasks.blockers(above.id) if one.status is not TaskStatus.DONE
        )
        above = store.tasks.find(above.parent_id) if above.parent_id else None
