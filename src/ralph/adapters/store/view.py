"""The graph as `core.graph` looks at it: rows on demand, kept for one transaction."""

from collections.abc import Iterator

from ralph.adapters.store.database import Database
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import task_of
from ralph.core.errors import NoSuchTask
from ralph.core.ids import TaskId
from ralph.core.task import Task

SQL = Queries("view")


class SqlView:
    """A `View`. Its tasks carry no description: no rule looks at it, and it may be long.

    Make a new one after changing rows by any other way than `put`.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._nodes: dict[TaskId, Task] = {}
        self._families: dict[TaskId, tuple[int, int]] = {}

    def put(self, task: Task) -> None:
        """Remember a task as it is now stored."""
        self._nodes[task.id] = task
        self._families.clear()

    def node(self, task: TaskId) -> Task:
        """The task, or NoSuchTask."""
        known = self._nodes.get(task)
        if known is not None:
            return known
        row = self._db.row(SQL.node, (task,))
        if row is None:
            raise NoSuchTask(f"there is no task {task}")
        self._nodes[task] = found = task_of(row)
        return found

    def children(self, task: TaskId) -> Iterator[TaskId]:
        """What is directly below it, read as far as somebody looks."""
        return self._neighbours(SQL.children, task)

    def blockers(self, task: TaskId) -> Iterator[TaskId]:
        """What it waits for."""
        return self._neighbours(SQL.blockers, task)

    def dependents(self, task: TaskId) -> Iterator[TaskId]:
        """What waits for it."""
        return self._neighbours(SQL.dependents, task)

    def _neighbours(self, sql: str, task: TaskId) -> Iterator[TaskId]:
        # Whole rows: the rules will ask for each node next.
        for row in self._db.execute(sql, (task,)):
            if row[0] not in self._nodes:
                self._nodes[row[0]] = task_of(row)
            yield row[0]

    def open_children(self, task: TaskId) -> int:
        """How many children are not done."""
        return self._family(task)[0]

    def failed_children(self, task: TaskId) -> int:
        """How many children are failed."""
        return self._family(task)[1]

    def doubtful_parents(self) -> Iterator[TaskId]:
        """Pending parents of which a child has failed."""
        return (row[0] for row in self._db.execute(SQL.doubtful_parents))

    def _family(self, task: TaskId) -> tuple[int, int]:
        if task not in self._families:
            (self._families[task],) = self._db.rows(SQL.family, (task,))
        return self._families[task]


class Lines(SqlView):
    """Only the lines of the graph, for the search of cycles, which may visit all of it. Its tasks
    have a parent and nothing else."""

    def node(self, task: TaskId) -> Task:
        """The task, or NoSuchTask."""
        if task not in self._nodes:
            row = self._db.row(SQL.parent_id, (task,))
            if row is None:
                raise NoSuchTask(f"there is no task {task}")
            self._nodes[task] = Task(id=task, title="", parent_id=row[0])
        return self._nodes[task]

    def children(self, task: TaskId) -> Iterator[TaskId]:
        """What is directly below it."""
        return self._ids(SQL.child_ids, task)

    def blockers(self, task: TaskId) -> Iterator[TaskId]:
        """What it waits for."""
        return self._ids(SQL.blocker_ids, task)

    def dependents(self, task: TaskId) -> Iterator[TaskId]:
        """What waits for it."""
        return self._ids(SQL.dependent_ids, task)

    def _ids(self, sql: str, task: TaskId) -> Iterator[TaskId]:
        return (row[0] for row in self._db.rows(sql, (task,)))
