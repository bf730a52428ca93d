"""Which ready task comes first."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from ralph.core.ids import TaskId
from ralph.core.task import Task


class Schedule(StrEnum):
    """How the next task is chosen."""

    PRIORITY = "priority"
    CRITICAL_PATH = "critical-path"


def by_priority(task: Task) -> tuple[int, str, str]:
    """Lower numbers first, then the older one."""
    return task.priority, task.created_at, task.id


def by_critical_path(task: Task, chain: int) -> tuple[int, int, str, str]:
    """The longest remaining chain first, since it decides how long the run takes."""
    return -chain, *by_priority(task)


def chain_lengths(
    tasks: Iterable[TaskId], dependents: Mapping[TaskId, Iterable[TaskId]]
) -> dict[TaskId, int]:
    """For each task the number of tasks on the longest chain that starts with it.

    Without recursion: chains may be longer than Python's stack.
    """
    lengths: dict[TaskId, int] = {}
    for root in tasks:
        stack = [(root, False)]
        while stack:
            task, ready = stack.pop()
            if ready:
                lengths[task] = 1 + max((lengths[d] for d in dependents.get(task, ())), default=0)
            elif task not in lengths:
                stack.append((task, True))
                stack.extend((d, False) for d in dependents.get(task, ()) if d not in lengths)
    return lengths
