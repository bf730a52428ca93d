"""The event that tells of a transition."""

from typing import Any

from ralph.core import events
from ralph.core.task import Status, Task
from ralph.core.transitions import (
    Accepted,
    Blocked,
    ChildFailed,
    ChildrenDone,
    ChildReopened,
    Claimed,
    Conflicted,
    GaveUp,
    Postponed,
    Rejected,
    Released,
    Reset,
    Retried,
    Struck,
    Transition,
    Unblocked,
)


def event_of(after: Task, transition: Transition) -> events.TaskMoved:
    """What the journal says about a task that has just moved."""
    fields: dict[str, Any] = {
        "task_id": after.id,
        "alias": after.alias,
        "title": after.title,
        "status": after.status,
        "attempt": after.attempt,
        "retry_count": after.retry_count,
        "strikes": after.strikes,
        "reason": after.reason,
        "verification_status": after.verification_status,
        "review": after.review,
    }
    match transition:
        case Claimed(worker):
            return events.TaskClaimed(**fields, worker=worker)
        case Accepted() | ChildrenDone():
            return events.TaskDone(**fields)
        case Rejected() | Struck() if after.status is Status.FAILED:
            return events.TaskFailed(**fields)
        case Rejected():
            return events.TaskRejected(**fields)
        case Struck():
            return events.TaskStruck(**fields)
        case Released(reason) | Postponed(reason):
            return events.TaskReleased(**(fields | {"reason": reason}))
        case Conflicted():
            return events.TaskConflicted(**fields)
        case GaveUp() | ChildFailed():
            return events.TaskFailed(**fields)
        case Blocked():
            return events.TaskBlocked(**fields)
        case Unblocked():
            return events.TaskUnblocked(**fields)
        case Retried() | Reset() | ChildReopened():
            return events.TaskReopened(**fields)
