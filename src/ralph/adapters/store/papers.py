"""Documents as Ralph was last done with them, and tasks whose stories were taken out of them."""

import msgspec
from msgspec.structs import replace

from ralph.adapters.store.batch import Batch, Edge
from ralph.adapters.store.graph import GraphPart
from ralph.adapters.store.part import reading, whole
from ralph.adapters.store.queries import Queries
from ralph.core.errors import NoSuchTask
from ralph.core.events import EdgeAdded, TaskAdded
from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import Status, Task
from ralph.ports.papers import Paper

SQL = Queries("papers")


class PapersPart(GraphPart):
    """`Papers` on the tables `papers` and `archive`."""

    @reading
    def paper(self, path: str) -> Paper | None:
        """A document as Ralph was last done with it."""
        row = self.db.row(SQL.paper, {"path": path})
        return None if row is None else Paper(path=row[0], content=row[1], held_for=row[2])

    @whole
    def keep_paper(self, paper: Paper) -> None:
        """In the place of the one before."""
        self.db.execute(
            SQL.keep_paper,
            {
                "path": paper.path,
                "content": paper.content,
                "held_for": paper.held_for,
                "now": self.now(),
            },
        )

    @whole
    def archive(self, task: TaskId) -> list[TaskId]:
        """Take it and everything below it out of the graph; return what went."""
        self.task(task)
        gone = self.below(task)
        blockers = self.blocker_ids(gone)
        for one in gone:
            logs = self.db.rows(SQL.logs_of, {"id": one})
            self.db.execute(
                SQL.archive,
                {
                    "task_id": one,
                    "root_id": task,
                    "feature_id": self.task(one).feature_id,
                    "task": msgspec.json.encode(self.task(one)).decode(),
                    "logs": msgspec.json.encode(logs).decode(),
                    "blockers": msgspec.json.encode(blockers.get(one, ())).decode(),
                    "now": self.now(),
                },
            )
        return self.delete_task(task)

    @reading
    def archived(self, feature: FeatureId) -> list[Task]:
        """What was taken out of a feature, the tops only."""
        rows = self.db.rows(SQL.archived, {"feature": feature})
        return [msgspec.json.decode(row[0], type=Task) for row in rows]

    @whole
    def bring_back(self, task: TaskId) -> Task:
        """Put it, and what was below it, into the graph again, with its history."""
        rows = self.db.rows(SQL.archived_below, {"root": task})
        if not rows:
            raise NoSuchTask(f"there is no archived task {task}")
        tasks = [_given_back(msgspec.json.decode(row[0], type=Task), task) for row in rows]
        among = {one.id for one in tasks}
        edges: list[Edge] = [
            (blocker, one.id)
            for one, row in zip(tasks, rows, strict=True)
            for blocker in msgspec.json.decode(row[2], type=list[TaskId])
            if blocker in among
        ]
        batch = Batch(self.placed(tasks, {}), edges, {})
        self._insert(batch)
        self.db.execute_many(
            SQL.history, [(one.attempt, one.retry_count, one.strikes, one.id) for one in tasks]
        )
        self.db.execute_many(
            SQL.log_again,
            [
                (one.id, message, time)
                for one, row in zip(tasks, rows, strict=True)
                for message, time in msgspec.json.decode(row[1], type=list[tuple[str, str]])
            ],
        )
        self.db.execute(SQL.unarchive, {"root": task})
        self.emit_all(TaskAdded(task=one) for one in batch.tasks)
        self.emit_all(EdgeAdded(blocker_id=one, blocked_id=other) for one, other in edges)
        for feature in {one.feature_id for one in batch.tasks}:
            self.touch(feature)
        self._regroup_parents(batch)
        self.graph_changed()
        return self.task(task)

    @whole
    def delete_feature(self, feature: FeatureId) -> list[TaskId]:
        """Delete it with all its tasks, also those that were taken out of it."""
        self.db.execute(SQL.forget_feature, {"feature": feature})
        return super().delete_feature(feature)


def _given_back(task: Task, root: TaskId) -> Task:
    """As it was, but in nobody's hands, and below nothing that may be gone."""
    status = Status.PENDING if task.status is Status.IN_PROGRESS else task.status
    parent = None if task.id == root else task.parent_id
    return replace(task, status=status, claimed_by=None, parent_id=parent, review=None)
