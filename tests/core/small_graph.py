"""A small graph to try the rules on, with two ways of working through what follows."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from ralph.core.graph import follow_ups
from ralph.core.ids import TaskId
from ralph.core.task import Task, TaskStatus
from ralph.core.transitions import Transition, advance


def a_task(name: str = "t-1", **fields: object) -> Task:
    return Task(id=TaskId(name), title=name, **fields)  # type: ignore[arg-type]


class Forest:
    """A `View` made by hand. Names are ids."""

    def __init__(self, *, breadth_first: bool = False) -> None:
        self.breadth_first = breadth_first
        self.tasks: dict[TaskId, Task] = {}
        self._below: dict[TaskId, list[TaskId]] = defaultdict(list)
        self._before: dict[TaskId, list[TaskId]] = defaultdict(list)
        self._after: dict[TaskId, list[TaskId]] = defaultdict(list)
        self.looks = 0
        """How often a rule asked about neighbours."""

    def grow(
        self,
        name: str,
        *,
        under: str | None = None,
        after: tuple[str, ...] = (),
        status: TaskStatus = TaskStatus.PENDING,
        **fields: object,
    ) -> None:
        parent = TaskId(under) if under else None
        self.tasks[TaskId(name)] = a_task(name, parent_id=parent, status=status, **fields)
        if parent:
            self._below[parent].append(TaskId(name))
        for blocker in after:
            self.link(blocker, name)

    def take(self, tasks: Iterable[Task], blockers: Mapping[TaskId, Iterable[TaskId]]) -> None:
        """Plant what a store holds."""
        for task in tasks:
            self.tasks[task.id] = task
            if task.parent_id:
                self._below[task.parent_id].append(task.id)
            for blocker in blockers[task.id]:
                self.link(blocker, task.id)

    def link(self, blocker: str, blocked: str) -> None:
        self._before[TaskId(blocked)].append(TaskId(blocker))
        self._after[TaskId(blocker)].append(TaskId(blocked))

    def status(self, name: str) -> TaskStatus:
        return self.tasks[TaskId(name)].status

    def statuses(self) -> dict[str, str]:
        return {str(task.id): str(task.status) for task in self.tasks.values()}

    def move(self, name: str, *steps: Transition, fail_fast: bool = False) -> None:
        """Apply transitions with all that follows, one step after the other."""
        for step in steps:
            waiting = deque([iter([(TaskId(name), step)])])
            while waiting:
                # Depth first looks at what the last move brought about, breadth first at what
                # else the first one did. Where the rules are sound, both end in the same state.
                end = 0 if self.breadth_first else -1
                move = next(waiting[end], None)
                if move is None:
                    del waiting[end]
                    continue
                before = self.node(move[0])
                after = advance(before, move[1])
                self.tasks[after.id] = after
                waiting.append(follow_ups(self, before, after, fail_fast=fail_fast))

    # The view

    def node(self, task: TaskId) -> Task:
        return self.tasks[task]

    def children(self, task: TaskId) -> list[TaskId]:
        self.looks += 1
        return self._below[task]

    def blockers(self, task: TaskId) -> list[TaskId]:
        self.looks += 1
        return self._before[task]

    def dependents(self, task: TaskId) -> list[TaskId]:
        self.looks += 1
        return self._after[task]

    def open_children(self, task: TaskId) -> int:
        return sum(self.tasks[one].status is not TaskStatus.DONE for one in self.children(task))

    def failed_children(self, task: TaskId) -> int:
        return sum(self.tasks[one].status is TaskStatus.FAILED for one in self.children(task))

    def parents_with_failed_child(self) -> list[TaskId]:
        return [
            task.id
            for task in self.tasks.values()
            if task.status is TaskStatus.PENDING and self.failed_children(task.id)
        ]
