"""How many tasks stand where: counts that follow the events."""

from typing import Final

from msgspec.structs import replace

from ralph.core import events
from ralph.core.ids import TaskId
from ralph.core.task import Status
from ralph.ports.claims import Counts

REMEMBERED: Final = 10_000


class Tally:
    """Starts from the store's counts and moves with every event."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self._status: dict[TaskId, Status] = {}

    def added(self, task: TaskId, status: Status) -> None:
        """One more."""
        self._shift(status, 1)
        self._remember(task, status)

    def deleted(self, task: TaskId) -> None:
        """One less."""
        self._take_from(self._status.pop(task, Status.PENDING))

    def moved(self, event: events.TaskMoved) -> None:
        """From where it was to where it is; the total stays."""
        before = self._status.get(event.task_id) or _status_before(event)
        self._take_from(before)
        self._shift(event.status, 1)
        self._remember(event.task_id, event.status)

    def _take_from(self, status: Status) -> None:
        # What a task was before this screen looked is a guess; a wrong one must not go below zero.
        guesses = (status, Status.PENDING, Status.IN_PROGRESS, Status.BLOCKED, Status.FAILED)
        for guess in (*guesses, Status.DONE):
            if getattr(self.counts, guess) > 0:
                return self._shift(guess, -1)
        return None

    def _shift(self, status: Status, by: int) -> None:
        self.counts = replace(self.counts, **{status: getattr(self.counts, status) + by})

    def _remember(self, task: TaskId, status: Status) -> None:
        self._status.pop(task, None)
        self._status[task] = status
        if len(self._status) > REMEMBERED:
            del self._status[next(iter(self._status))]


def _status_before(event: events.TaskMoved) -> Status:
    match event:
        case events.TaskClaimed() | events.TaskBlocked():
            return Status.PENDING
        case (
            events.TaskRejected()
            | events.TaskStruck()
            | events.TaskReleased()
            | events.TaskConflicted()
        ):
            return Status.IN_PROGRESS
        case events.TaskDone() | events.TaskFailed():
            # A parent is settled by its children and never was in progress.
            return Status.IN_PROGRESS if event.attempt else Status.PENDING
        case events.TaskUnblocked():
            return Status.BLOCKED
        case events.TaskReopened():
            return Status.FAILED
