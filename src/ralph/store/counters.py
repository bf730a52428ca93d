"""The counters that keep readiness: every change of a status or an edge is counted here.

A task is ready when it is pending, has no unmet blocker and no child, and nothing above it holds
it back. All of that is in its row, so the next task costs the same among a million.
"""

from collections.abc import Iterable, Sequence

from ralph.core.ids import TaskId
from ralph.core.task import Task, TaskStatus
from ralph.store.database import Part
from ralph.store.rows import Row, as_json

HOLDING = frozenset({TaskStatus.BLOCKED, TaskStatus.FAILED})
"""A parent with one of these holds back its children."""


class Counters(Part):
    """The columns `unmet`, `children`, `open_children`, `failed_children` and `held` of `tasks`."""

    file = "counters"

    def moved(self, before: Task, after: Task) -> bool:
        """A task has another status. False if no other task's status can follow from it: the
        counters show that at once, and most completions are such."""
        done = (after.status is TaskStatus.DONE) - (before.status is TaskStatus.DONE)
        failed = (after.status is TaskStatus.FAILED) - (before.status is TaskStatus.FAILED)
        may_follow = after.status is not TaskStatus.DONE or failed != 0
        if after.parent_id is not None and (done or failed):
            change = (-done, failed, after.parent_id)
            ((open_children, failed_children),) = self.db.rows(self.sql.child_moved, change)
            # Otherwise the parent waits for the rest of its children.
            may_follow |= open_children == 0 or failed_children > 0
        # All of these flip the same way: nothing is both freed and held back by one step.
        holders: list[TaskId] = []
        if done:
            waiting = self.db.rows(self.sql.dependents_of, (-done, after.id))
            holders = _turned(waiting, -done)
            may_follow |= any(status == "blocked" for _, _, _, status in waiting)
        if (before.status in HOLDING) != (after.status in HOLDING):
            holders.append(after.id)
        self.rehold(holders)
        return may_follow

    def joined(self, parent: TaskId, children: Sequence[TaskStatus]) -> None:
        self.db.execute(self.sql.family_changed, (len(children), *weight(children), parent))

    def left(self, parent: TaskId, child: TaskStatus) -> None:
        not_done, failed = weight([child])
        self.db.execute(self.sql.family_changed, (-1, -not_done, -failed, parent))

    def linked(self, blocker: Task, blocked: TaskId, change: int) -> None:
        """An edge came (1) or went (-1)."""
        if blocker.status is not TaskStatus.DONE:
            counted = self.db.rows(self.sql.blocked_by_one, (change, blocked))
            self.rehold(_turned(counted, change))

    def rehold(self, holders: Iterable[TaskId]) -> None:
        """Some tasks may have begun, or ceased, to hold back what is below them."""
        listed = list(holders)
        if listed:
            self.db.execute(self.sql.rehold, {"ids": as_json(listed)})

    def recount(self, tasks: Iterable[TaskId]) -> None:
        """Recount everything about some tasks, except whether they are held back."""
        self.db.execute(self.sql.recount, {"ids": as_json(list(tasks))})

    def repair(self) -> list[str]:
        """Recount everything and correct it; one line for each task that was wrong."""
        miscounted = [row[0] for row in self.db.rows(self.sql.miscounted)]
        self.recount(miscounted)
        misheld = [row[0] for row in self.db.rows(self.sql.misheld)]
        self.db.execute(self.sql.flip_held, {"ids": as_json(misheld)})
        return [
            *(f"task {task}: its blockers or children were counted wrong" for task in miscounted),
            *(f"task {task}: whether it is held back was wrong" for task in misheld),
        ]


def _turned(counted: list[Row], change: int) -> list[TaskId]:
    """The parents among these that now wait for nothing any more, or for the first time."""
    edge = 0 if change < 0 else 1
    return [task for task, unmet, children, _ in counted if children and unmet == edge]


def weight(children: Iterable[TaskStatus]) -> tuple[int, int]:
    """How many children are not done, and how many are failed."""
    not_done = failed = 0
    for status in children:
        not_done += status is not TaskStatus.DONE
        failed += status is TaskStatus.FAILED
    return not_done, failed
