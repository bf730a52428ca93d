"""Does a batch of new tasks make anything wait for itself? Asked once, not edge by edge."""

from collections.abc import Iterable, Iterator

from ralph.adapters.store.database import Database
from ralph.adapters.store.view import Lines
from ralph.core.graph import Moment, View, moments_after
from ralph.core.ids import TaskId
from ralph.core.task import Task


class Newcomers(Lines):
    """The graph with a batch in it. What comes after a newcomer is known without asking the
    database: only newcomers wait for newcomers, and only they have them as parents."""

    def __init__(
        self, db: Database, new: Iterable[Task], edges: Iterable[tuple[TaskId, TaskId]]
    ) -> None:
        super().__init__(db)
        self._below: dict[TaskId, list[TaskId]] = {}
        self._later: dict[TaskId, list[TaskId]] = {}
        for task in new:
            self.put(task)
            self._below[task.id], self._later[task.id] = [], []
        for task in new:
            if task.parent_id in self._below:
                self._below[task.parent_id].append(task.id)
        for blocker, blocked in edges:
            if blocker in self._later:
                self._later[blocker].append(blocked)

    def children(self, task: TaskId) -> Iterator[TaskId]:
        """What is directly below it."""
        return iter(self._below[task]) if task in self._below else super().children(task)

    def dependents(self, task: TaskId) -> Iterator[TaskId]:
        """What waits for it."""
        return iter(self._later[task]) if task in self._later else super().dependents(task)


def first_cycle(view: View, tasks: Iterable[TaskId]) -> list[TaskId]:
    """Tasks that wait for each other in a circle, among these and what comes after them.

    Depth first and without recursion: a moment that is met again while its own successors are
    still being looked at comes after itself.
    """
    finished: dict[Moment, bool] = {}
    for task in tasks:
        path: list[Moment] = []
        ahead: list[Iterator[Moment]] = [iter([(task, False)])]
        while ahead:
            moment = next(ahead[-1], None)
            if moment is None:
                ahead.pop()
                if path:
                    finished[path.pop()] = True
            elif moment not in finished:
                finished[moment] = False
                path.append(moment)
                ahead.append(moments_after(view, moment))
            elif not finished[moment]:
                return [one for one, _ in path[path.index(moment) :]]
    return []
