"""New tasks and edges, counted before they are written. Pure: what it must know it is told."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ralph.core.errors import CycleRefused
from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import Status, Task

Edge = tuple[TaskId, TaskId]
"""Blocker, blocked."""

HOLDING = frozenset({Status.BLOCKED, Status.FAILED})
"""A parent with one of these holds back its children."""


class Known(NamedTuple):
    """What newcomers need to know about a task that is there already."""

    status: Status
    feature: FeatureId | None
    holds: bool


class Batch:
    """Some new tasks and what they wait for, with the counters that belong to them.

    Nobody who is there already waits for a newcomer, so only parents have to be told.
    """

    def __init__(
        self, tasks: Sequence[Task], edges: Sequence[Edge], known: Mapping[TaskId, Known]
    ) -> None:
        self.tasks = tasks
        self.edges = edges
        self._unmet = dict.fromkeys((task.id for task in tasks), 0)
        self._holds = {task: one.holds for task, one in known.items()}
        self.families: dict[TaskId, list[Status]] = {}
        """The statuses of the new children, by parent."""
        self._count(known)

    def _count(self, known: Mapping[TaskId, Known]) -> None:
        statuses = {task: one.status for task, one in known.items()}
        statuses.update((task.id, task.status) for task in self.tasks)
        for blocker, blocked in self.edges:
            self._unmet[blocked] += statuses[blocker] is not Status.DONE
        for task in parents_first(self.tasks):
            if task.parent_id is not None:
                self.families.setdefault(task.parent_id, []).append(task.status)
            self._holds[task.id] = (
                self._is_held(task) or self._unmet[task.id] > 0 or task.status in HOLDING
            )

    def _is_held(self, task: Task) -> bool:
        return task.parent_id is not None and self._holds[task.parent_id]

    def is_new(self, task: TaskId) -> bool:
        """Is it one of these?"""
        return task in self._unmet

    def rows(self) -> Iterator[tuple[object, ...]]:
        """The columns of each task, in the order of `insert_task`."""
        for task in self.tasks:
            below = self.families.get(task.id, ())
            yield (
                task.id,
                task.parent_id,
                task.title,
                task.description,
                task.status.value,
                task.priority,
                task.created_at,
                task.updated_at,
                task.feature_id,
                task.task_type.value,
                task.max_retries,
                task.alias,
                task.needs_change,
                task.reason,
                self._unmet[task.id],
                len(below),
                *weight(below),
                self._is_held(task),
            )


def weight(children: Iterable[Status]) -> tuple[int, int]:
    """How many children are not done, and how many are failed."""
    not_done = failed = 0
    for status in children:
        not_done += status is not Status.DONE
        failed += status is Status.FAILED
    return not_done, failed


def parents_first(tasks: Sequence[Task]) -> list[Task]:
    """Each after its parent, where that is among them. CycleRefused if one contains itself."""
    named = {task.id: task for task in tasks}
    ordered: dict[TaskId, Task] = {}
    for task in tasks:
        path: dict[TaskId, Task] = {}
        above: Task | None = task
        while above is not None and above.id not in ordered:
            if above.id in path:
                raise CycleRefused(f"task {above.id} would be below itself")
            path[above.id] = above
            above = named.get(above.parent_id) if above.parent_id is not None else None
        ordered.update(reversed(path.items()))
    return list(ordered.values())
