"""What was spent, and on what."""

from ralph.adapters.store.database import Row
from ralph.adapters.store.part import reading
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.ranking import RankingPart
from ralph.core.safe_text import one_line
from ralph.core.spent import Spent
from ralph.ports.history import Check, Session
from ralph.ports.ledger import Asked, By
from ralph.ports.stints import Stint

SQL = Queries("ledger")
LONGEST_NAME = 200


class LedgerPart(RankingPart):
    """`Ledger` on the table `costs`."""

    def book(self, session: Session | Check | Stint, name: str) -> None:
        """Write down what a session has cost that has just ended."""
        ending = session.ending
        if ending is None:
            return
        self.db.execute(
            SQL.book,
            {
                "run_id": session.run_id,
                "session_id": name,
                "task_id": session.task_id,
                "agent": session.agent,
                "model": one_line(ending.model or session.model, LONGEST_NAME),
                "ended_at": session.ended_at or self.now(),
                "cost_usd": ending.cost_usd,
                "estimated": ending.estimated,
                "input_tokens": ending.input_tokens,
                "cached_tokens": ending.cached_tokens,
                "output_tokens": ending.output_tokens,
            },
        )

    @reading
    def spent(self, asked: Asked) -> Spent:
        """The whole sum."""
        row = self.db.row(SQL.spent % _conditions(asked), _values(asked))
        assert row is not None
        return _spent(row)

    @reading
    def costs(self, by: By, asked: Asked, limit: int = 0) -> list[tuple[str, Spent]]:
        """Sums by run, task, agent, model or day."""
        key, order = _by(by)
        sql = SQL.costs % (key, _conditions(asked), order)
        rows = self.db.rows(sql, _values(asked) | {"limit": limit or -1})
        return [(key, _spent(sums)) for key, *sums in rows]


def _by(by: By) -> tuple[str, str]:
    match by:
        case By.RUN:
            return "run_id", SQL.newest_first
        case By.DAY:
            return SQL.by_day, SQL.newest_first
        case By.TASK:
            return "task_id", SQL.dearest_first
        case By.AGENT:
            return "agent", SQL.dearest_first
        case By.MODEL:
            return "model", SQL.dearest_first


def _conditions(asked: Asked) -> str:
    wanted = (
        (SQL.of_run, asked.run),
        (SQL.of_task, asked.task),
        (SQL.of_late, asked.since),
    )
    return " AND ".join(sql for sql, value in wanted if value is not None) or "true"


def _values(asked: Asked) -> dict[str, object]:
    return {"run": asked.run, "task": asked.task, "since": asked.since}


def _spent(sums: Row | list[object]) -> Spent:
    return Spent(**dict(zip(Spent.__struct_fields__, sums, strict=True)))
