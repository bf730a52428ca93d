"""Everything, page by page, for views."""

from collections.abc import Sequence

from ralph.adapters.store.history import HistoryPart
from ralph.adapters.store.part import reading
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import as_json, memory_of, task_of
from ralph.core.events import DECODE, Recorded
from ralph.core.ids import TaskId
from ralph.core.memory import Memory
from ralph.core.task import Task

SQL = Queries("pages")


class PagesPart(HistoryPart):
    """`Pages` on whatever table it is."""

    @reading
    def tasks_after(self, number: int, limit: int) -> list[tuple[int, Task]]:
        """Tasks in the order in which they were made, each with its number."""
        rows = self.db.rows(SQL.tasks_after, {"number": number, "limit": limit})
        return [(int(row[0]), task_of(row[1:])) for row in rows]

    @reading
    def names_of(self, tasks: Sequence[TaskId]) -> dict[TaskId, str]:
        """By the alias, unless another task has the same."""
        return dict(self.db.rows(SQL.names_of, {"ids": as_json(list(tasks))}))

    @reading
    def learned_after(self, number: int, limit: int) -> list[Memory]:
        """What sessions have learned, oldest first."""
        rows = self.db.rows(SQL.learned_after, {"number": number, "limit": limit})
        return [memory_of(row) for row in rows]

    @reading
    def told_after(self, number: int, limit: int, kinds: Sequence[str]) -> list[Recorded]:
        """Events of some kinds, oldest first."""
        sql = SQL.told_after % ", ".join("?" * len(kinds))
        return [
            Recorded(seq=seq, time=time, run_id=run, event=DECODE(data))
            for seq, time, run, data in self.db.rows(sql, (number, *kinds, limit))
        ]

    @reading
    def attempts(self) -> int:
        """How many have been begun, of all tasks."""
        return int(self.db.value(SQL.attempts))
