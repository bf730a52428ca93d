"""The journal: what happened, appended in the transaction that makes it happen."""

from collections.abc import Iterable

from ralph.adapters.store.database import Row
from ralph.adapters.store.part import Part, reading, whole
from ralph.adapters.store.queries import Queries
from ralph.core.events import (
    DECODE,
    ENCODE,
    EdgeAdded,
    EdgeRemoved,
    Event,
    Recorded,
    TaskAdded,
    WorkSaved,
)
from ralph.core.ids import RunId

SQL = Queries("journal")


class JournalPart(Part):
    """`Journal` on the table `events`."""

    def record(self, event: Event, run: RunId | None = None) -> None:
        """Append an event that changes no state."""
        if isinstance(event, WorkSaved):
            self.before_mark()
        self._record(event, run)

    @whole
    def _record(self, event: Event, run: RunId | None) -> None:
        self.emit(event, run)

    @reading
    def events(self, after: int = 0, limit: int = 1000) -> list[Recorded]:
        """What happened after a number; without a limit all of it."""
        return [
            Recorded(seq=seq, time=time, run_id=run, event=DECODE(data))
            for seq, time, run, data in self.db.rows(SQL.events_after, (after, limit or -1))
        ]

    @reading
    def last_seq(self) -> int:
        """The number of the newest event."""
        return int(self.db.value(SQL.last_seq))

    def emit(self, event: Event, run: RunId | None = None) -> None:
        """Append an event to the transaction."""
        self.db.execute(SQL.append, _row(event, run, self.now()))

    def emit_all(self, events: Iterable[Event]) -> None:
        """Append many at once, all of one moment."""
        now = self.now()
        self.db.execute_many(SQL.append, (_row(event, None, now) for event in events))


def _row(event: Event, run: RunId | None, now: str) -> Row:
    task = getattr(event, "task_id", None) or _subject(event)
    return now, run, task, event.__struct_config__.tag, ENCODE(event).decode()


def _subject(event: Event) -> str | None:
    """The task that an event is about though it does not say so, for people with `sqlite3`."""
    match event:
        case TaskAdded(task=task):
            return task.id
        case EdgeAdded(blocked_id=blocked) | EdgeRemoved(blocked_id=blocked):
            return blocked
        case _:
            return None
