"""What reviewers have found, and what was answered."""

import msgspec

from ralph.adapters.store.breakers import BreakersPart
from ralph.adapters.store.part import reading, whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import task_of
from ralph.core.check_events import FindingDismissed
from ralph.core.ids import TaskId
from ralph.core.review import Dismissal
from ralph.core.task import Task
from ralph.ports.history import Check

SQL = Queries("reviews")


class ReviewsPart(BreakersPart):
    """`Reviews` on the tables `checks` and `dismissals`."""

    @reading
    def reviews(self, task: TaskId) -> list[Check]:
        """Those that came to a verdict, oldest first."""
        rows = self.db.rows(SQL.reviews, {"task": task})
        return [msgspec.json.decode(row[0], type=Check) for row in rows]

    @reading
    def reviewed(self) -> list[Task]:
        """The tasks about which somebody came to a verdict, oldest first."""
        return [task_of(row) for row in self.db.rows(SQL.reviewed)]

    @whole
    def dismiss(self, task: TaskId, dismissal: Dismissal) -> None:
        """This finding is not raised again. The first word about one holds."""
        self.task(task)
        values = msgspec.structs.asdict(dismissal)
        if self.db.row(SQL.dismiss, {"task": task, **values}) is not None:
            self.emit(FindingDismissed(task_id=task, **values))

    @reading
    def dismissals(self, task: TaskId) -> list[Dismissal]:
        """All of a task."""
        rows = self.db.rows(SQL.dismissals, {"task": task})
        return [Dismissal(finding=row[0], reason=row[1], by=row[2]) for row in rows]
