"""What reviewers have found in the work of a task, and what was answered."""

from typing import Protocol

from ralph.core.ids import TaskId
from ralph.core.review import Dismissal
from ralph.core.task import Task
from ralph.ports.history import Check


class Reviews(Protocol):
    """Beside the checks of each session."""

    def reviews(self, task: TaskId) -> list[Check]:
        """Those that came to a verdict, oldest first, whichever attempt they were about."""
        ...

    def reviewed(self) -> list[Task]:
        """The tasks of the graph about which somebody came to a verdict, oldest first."""
        ...

    def dismiss(self, task: TaskId, dismissal: Dismissal) -> None:
        """This finding is not raised again. The first word about one holds."""
        ...

    def dismissals(self, task: TaskId) -> list[Dismissal]:
        """All of a task, in the order of the findings' ids."""
        ...
