"""The events, each appended in the transaction of the change that it reports."""

from collections.abc import Sequence

from ralph.core.events import DECODE, Event, RecordedEvent, WorkSaved
from ralph.core.ids import RunId, TaskId
from ralph.store.database import Part, Values
from ralph.store.rows import as_json


class Events(Part):
    """What happened, in order. A change and its event are recorded in one transaction."""

    file = "events"

    def record(self, event: Event, run: RunId | None = None) -> None:
        """Append an event that changes no state."""
        if isinstance(event, WorkSaved):
            self.db.before_checkpoint()
        self.db.write(lambda: self.emit(event, run))

    def select(
        self, after: int = 0, limit: int = 1000, kinds: Sequence[str] = ()
    ) -> list[RecordedEvent]:
        """The events after a number, oldest first, or some kinds of them; no limit: all."""
        sql = self.sql.events_after % (self.sql.of_kinds if kinds else "true")
        values = {"after": after, "kinds": as_json(kinds), "limit": self.db.limit(limit)}
        return self._recorded(sql, values)

    def _recorded(self, sql: str, values: Values) -> list[RecordedEvent]:
        return [
            RecordedEvent(seq=seq, time=time, run_id=run, event=DECODE(data))
            for seq, time, run, data in self.db.rows(sql, values)
        ]

    def of_task(self, task: TaskId, limit: int, before: int = 0) -> list[RecordedEvent]:
        """The newest events about a task, the newest first; with a number, those before it."""
        return self._recorded(
            self.sql.task_events, {"task": task, "before": before, "limit": limit}
        )

    def last_seq(self) -> int:
        return int(self.db.value(self.sql.last_seq))

    def kept_work(self, task: TaskId) -> list[str]:
        """The refs under which work of a task was kept, oldest first."""
        return [ref for (ref,) in self.db.rows(self.sql.kept_work, {"task": task})]
