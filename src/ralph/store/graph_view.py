"""The graph as the rules of `core.graph` see it: rows on demand, kept for one transaction."""

from collections.abc import Iterable, Iterator

from ralph.core.errors import NoSuchTask
from ralph.core.ids import TaskId
from ralph.core.task import Task
from ralph.store.database import Database
from ralph.store.rows import task_of


class StoredGraph:
    """The `GraphView` of stored tasks, without their descriptions: no rule looks at those, and they
    may be long. Make a new one after changing rows by any other way than `put`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._sql = db.queries("graph")
        self._nodes: dict[TaskId, Task] = {}
        self._families: dict[TaskId, tuple[int, int]] = {}

    def put(self, task: Task) -> None:
        """Remember a task as it is now stored."""
        self._nodes[task.id] = task
        self._families.clear()

    def node(self, task: TaskId) -> Task:
        if task not in self._nodes:
            row = self._db.row(self._sql.node, (task,))
            if row is None:
                raise NoSuchTask(f"there is no task {task}")
            self._nodes[task] = task_of(row)
        return self._nodes[task]

    def children(self, task: TaskId) -> Iterator[TaskId]:
        """Yield what is directly below it, read only as far as the caller goes."""
        return self._neighbours(self._sql.children, task)

    def blockers(self, task: TaskId) -> Iterator[TaskId]:
        return self._neighbours(self._sql.blockers, task)

    def dependents(self, task: TaskId) -> Iterator[TaskId]:
        return self._neighbours(self._sql.dependents, task)

    def _neighbours(self, sql: str, task: TaskId) -> Iterator[TaskId]:
        # Whole rows: the rules will ask for each node next.
        for row in self._db.each(sql, (task,)):
            if row[0] not in self._nodes:
                self._nodes[row[0]] = task_of(row)
            yield row[0]

    def open_children(self, task: TaskId) -> int:
        return self._family(task)[0]

    def failed_children(self, task: TaskId) -> int:
        return self._family(task)[1]

    def parents_with_failed_child(self) -> Iterator[TaskId]:
        return (row[0] for row in self._db.each(self._sql.doubtful_parents))

    def _family(self, task: TaskId) -> tuple[int, int]:
        if task not in self._families:
            (self._families[task],) = self._db.rows(self._sql.family, (task,))
        return self._families[task]


class StoredLines:
    """The `GraphLines` of stored tasks, for the search of cycles, which may visit all of it.

    What comes after a task of a batch that was just inserted is known without asking the database:
    only tasks of the batch wait for these, and only they have them as parents.
    """

    def __init__(
        self, db: Database, batch: Iterable[Task] = (), edges: Iterable[tuple[TaskId, TaskId]] = ()
    ) -> None:
        self._db = db
        self._sql = db.queries("graph")
        self._nodes = {task.id: task for task in batch}
        self._children: dict[TaskId, list[TaskId]] = {task: [] for task in self._nodes}
        self._dependents: dict[TaskId, list[TaskId]] = {task: [] for task in self._nodes}
        for task in batch:
            if task.parent_id in self._children:
                self._children[task.parent_id].append(task.id)
        for blocker, blocked in edges:
            if blocker in self._dependents:
                self._dependents[blocker].append(blocked)

    def node(self, task: TaskId) -> Task:
        """Return a task that may have nothing but its parent, or raise NoSuchTask."""
        if task not in self._nodes:
            row = self._db.row(self._sql.parent_id, (task,))
            if row is None:
                raise NoSuchTask(f"there is no task {task}")
            self._nodes[task] = Task(id=task, title="", parent_id=row[0])
        return self._nodes[task]

    def children(self, task: TaskId) -> Iterable[TaskId]:
        known = self._children.get(task)
        return self._ids(self._sql.child_ids, task) if known is None else known

    def blockers(self, task: TaskId) -> Iterable[TaskId]:
        return self._ids(self._sql.blocker_ids, task)

    def dependents(self, task: TaskId) -> Iterable[TaskId]:
        known = self._dependents.get(task)
        return self._ids(self._sql.dependent_ids, task) if known is None else known

    def _ids(self, sql: str, task: TaskId) -> list[TaskId]:
        return [row[0] for row in self._db.rows(sql, (task,))]
