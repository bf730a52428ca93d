"""What sessions have cost."""

from enum import StrEnum

import msgspec
from msgspec.structs import asdict

from ralph.core.cost import CostSummary
from ralph.core.ids import RunId, TaskId
from ralph.store.database import Part
from ralph.store.rows import conjunction, value_of


class CostGrouping(StrEnum):
    RUN = "run"
    TASK = "task"
    AGENT = "agent"
    MODEL = "model"
    DAY = "day"


class CostFilter(msgspec.Struct, frozen=True, kw_only=True):
    run: RunId | None = None
    task: TaskId | None = None
    """With all below it; also one that is deleted."""
    since: str | None = None
    """Those that ended at this moment or later."""


class Costs(Part):
    """What was spent, by sessions that have ended. It stays when a task is deleted."""

    file = "costs"

    def total(self, asked: CostFilter) -> CostSummary:
        (row,) = self.db.rows(self.sql.spent % self._conditions(asked), asdict(asked))
        return value_of(CostSummary, row)

    def sums(
        self, by: CostGrouping, asked: CostFilter, limit: int = 0
    ) -> list[tuple[str, CostSummary]]:
        """Sums by run, task, agent, model (empty where it is not known) or day of the local time.
        Runs and days come newest first, the others dearest first."""
        sql = self.sql
        key, order = {
            CostGrouping.RUN: ("run_id", sql.newest_first),
            CostGrouping.DAY: (sql.by_day, sql.newest_first),
            CostGrouping.TASK: ("task_id", sql.dearest_first),
            CostGrouping.AGENT: ("agent", sql.dearest_first),
            CostGrouping.MODEL: ("model", sql.dearest_first),
        }[by]
        statement = sql.costs % (key, self._conditions(asked), order)
        rows = self.db.rows(statement, asdict(asked) | {"limit": self.db.limit(limit)})
        return [(row[0], value_of(CostSummary, row[1:])) for row in rows]

    def of_done_tasks(self) -> tuple[int, CostSummary]:
        """How many tasks with a change are done, and the sum of their sessions."""
        ((count, *columns),) = self.db.rows(self.sql.of_done_tasks)
        return count, value_of(CostSummary, columns)

    def _conditions(self, asked: CostFilter) -> str:
        sql = self.sql
        return conjunction(
            {sql.of_run: asked.run, sql.of_task: asked.task, sql.of_late: asked.since}
        )
