"""Tasks that were taken out of the graph, for example because their story was removed."""

import msgspec
from msgspec.structs import replace

from ralph.core.errors import NoSuchTask
from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import Task, TaskStatus
from ralph.store.database import Database, Part, transaction
from ralph.store.rows import as_json
from ralph.store.task_adding import Edge
from ralph.store.tasks import Tasks


class Archive(Part):
    """Tasks that can be restored, each with its history and what was below it."""

    file = "archive"

    def __init__(self, db: Database, tasks: Tasks) -> None:
        super().__init__(db)
        self._tasks = tasks

    @transaction
    def add(self, task: TaskId) -> list[TaskId]:
        """Take a task and everything below it out of the graph; return the ids. A worker that
        holds a claim on it loses that."""
        below = self._tasks.transitions.below(task)
        blockers = self._tasks.blocker_ids(below)
        for one in map(self.task, below):
            self.db.execute(
                self.sql.archive,
                {
                    "task_id": one.id,
                    "root_id": task,
                    "feature_id": one.feature_id,
                    "task": as_json(one),
                    "logs": as_json(self.db.rows(self.sql.logs_of, {"id": one.id})),
                    "blockers": as_json(blockers[one.id]),
                    "now": self.db.now(),
                },
            )
        return self._tasks.delete(task)

    def of_feature(self, feature: FeatureId) -> list[Task]:
        """The archived tasks of a feature, without those below them."""
        return self.decoded(Task, self.sql.archived, {"feature": feature})

    @transaction
    def restore(self, task: TaskId) -> Task:
        """Put an archived task, and what was below it, into the graph again, with its history.
        NoSuchTask if it is not archived."""
        rows = self.db.rows(self.sql.archived_below, {"root": task})
        if not rows:
            raise NoSuchTask(f"there is no archived task {task}")
        tasks = [_unclaimed(msgspec.json.decode(row[0], type=Task), task) for row in rows]
        restored = {one.id for one in tasks}
        edges: list[Edge] = []
        logs: list[tuple[TaskId, str, str]] = []
        for one, (_, messages, blockers) in zip(tasks, rows, strict=True):
            edges += [
                (blocker, one.id)
                for blocker in msgspec.json.decode(blockers, type=list[TaskId])
                if blocker in restored
            ]
            logs += [(one.id, message, time) for message, time in msgspec.json.decode(messages)]
        self._tasks.adder.insert(tasks, edges)
        self.db.execute_many(self.sql.add_log, logs)
        self.db.execute(self.sql.unarchive, {"root": task})
        return self.task(task)


def _unclaimed(task: Task, root: TaskId) -> Task:
    """The task without what may be gone: its worker, its review, and the parent of the root."""
    status = TaskStatus.PENDING if task.status is TaskStatus.IN_PROGRESS else task.status
    parent = None if task.id == root else task.parent_id
    return replace(task, status=status, claimed_by=None, parent_id=parent, review=None)
