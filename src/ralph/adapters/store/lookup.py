"""Finding and listing: nothing here changes the graph."""

from collections.abc import Sequence

from ralph.adapters.store.database import Values
from ralph.adapters.store.moves import MovesPart
from ralph.adapters.store.part import reading, whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import as_json, task_of
from ralph.core.errors import NoSuchTask, UsageError
from ralph.core.events import TaskLogged
from ralph.core.ids import TaskId
from ralph.core.task import Task
from ralph.ports.store import Filter, LogEntry

SQL = Queries("lookup")


class LookupPart(MovesPart):
    """Tasks and logs, as people ask for them."""

    # Tasks

    @reading
    def find(self, name: str) -> Task:
        """By id or alias; else NoSuchTask with near matches in the hint."""
        row = self.db.row(SQL.one_task, (name,))
        if row is not None:
            return task_of(row)
        called = [task_of(row) for row in self.db.rows(SQL.by_alias, {"alias": name})]
        if len(called) > 1:
            which = ", ".join(task.id for task in called)
            raise UsageError(f"{name} is the name of several tasks", hint=f"say which: {which}")
        if not called:
            near = self._near(name)
            hint = f"did you mean {', '.join(near)}?" if near else "ralph task list --all"
            raise NoSuchTask(f"there is no task {name}", hint=hint)
        return called[0]

    def _near(self, name: str) -> list[str]:
        """Names that look like it, out of those that begin like it and the first few hundred: as
        much work with a million tasks as with a thousand."""
        import difflib

        names = {row[0] for row in self.db.rows(SQL.some_names)}
        names |= self._family(SQL.ids_like, name) | self._family(SQL.aliases_like, name)
        names |= self._family(SQL.ids_like, f"t-{name}")
        beginning = sorted(one for one in names if one.startswith((name, f"t-{name}")))
        return beginning[:3] or difflib.get_close_matches(name, sorted(names))

    def _family(self, sql: str, name: str) -> set[str]:
        """Those with the longest beginning in common."""
        for length in range(len(name), 0, -1):
            prefix = name[:length]
            found = self.db.rows(sql, {"prefix": prefix, "beyond": f"{prefix}\U0010ffff"})
            if found:
                return {row[0] for row in found}
        return set()

    @reading
    def tasks(self, which: Filter) -> list[Task]:
        """By priority, then age."""
        conditions = {
            SQL.ready: which.ready,
            SQL.with_status: bool(which.statuses),
            SQL.with_feature: which.feature is not None,
            SQL.with_parent: which.parent is not None,
        }
        asked = [condition for condition, wanted in conditions.items() if wanted]
        values = {
            "statuses": as_json(sorted(which.statuses)),
            "feature": which.feature,
            "parent": which.parent,
            "limit": which.limit or -1,
            "offset": which.offset,
        }
        return self._tasks(SQL.listed_tasks % (" AND ".join(asked) or "true"), values)

    @reading
    def subtree(self, root: TaskId | None, limit: int = 0) -> list[Task]:
        """A task and everything below it (or all), parents before children."""
        if root is None:
            return self._tasks(SQL.tree % SQL.from_the_top, {"limit": limit or -1})
        self.task(root)
        return self._tasks(SQL.tree % SQL.from_root, {"root": root, "limit": limit or -1})

    @reading
    def children(self, task: TaskId) -> list[Task]:
        """What is directly below it."""
        return self._tasks(SQL.children, {"id": task})

    @reading
    def blockers(self, task: TaskId) -> list[Task]:
        """What it waits for."""
        return self._tasks(SQL.blockers, {"id": task})

    @reading
    def dependents(self, task: TaskId) -> list[Task]:
        """What waits for it."""
        return self._tasks(SQL.dependents, {"id": task})

    @reading
    def blocker_ids(self, tasks: Sequence[TaskId]) -> dict[TaskId, tuple[TaskId, ...]]:
        """The blockers of many tasks at once, for lists."""
        found: dict[TaskId, tuple[TaskId, ...]] = dict.fromkeys(tasks, ())
        for blocked, blocker in self.db.rows(SQL.blocker_ids, {"ids": as_json(list(tasks))}):
            found[blocked] += (blocker,)
        return found

    def _tasks(self, sql: str, values: Values) -> list[Task]:
        return [task_of(row) for row in self.db.rows(sql, values)]

    # Logs

    @whole
    def log(self, task: TaskId, message: str) -> None:
        """Add a line to a task's log."""
        self.task(task)
        self.note(task, message)
        self.emit(TaskLogged(task_id=task, message=message))

    def note(self, task: TaskId, message: str) -> None:
        """Add a line to a task's log within a transaction, without an event of its own."""
        self.db.execute(SQL.add_log, (task, message, self.now()))

    @reading
    def logs(self, task: TaskId, limit: int = 0) -> list[LogEntry]:
        """Oldest first; with a limit the newest of them."""
        return [
            LogEntry(task_id=task, message=message, timestamp=timestamp)
            for _, message, timestamp in reversed(self.db.rows(SQL.logs, (task, limit or -1)))
        ]
