"""How a task changes state. The only place that decides it."""

from typing import Any, Final

import msgspec
from msgspec.structs import replace

from ralph.core import events
from ralph.core.errors import IllegalTransition
from ralph.core.ids import WorkerId
from ralph.core.task import OPEN_REVIEW, Task, TaskStatus

STRIKES_PER_RETRY: Final = 3


class Claimed(msgspec.Struct, frozen=True, tag=True):
    """A worker took it."""

    worker: WorkerId


class Accepted(msgspec.Struct, frozen=True, tag=True):
    """The judge said yes."""

    verified: bool = False
    """A second session has looked at it, too."""
    reviewed: bool = False
    """And a reviewer."""


class Rejected(msgspec.Struct, frozen=True, tag=True):
    """The judge said no: costs a retry."""

    reason: str
    by_verifier: bool = False
    by_reviewer: bool = False


class Struck(msgspec.Struct, frozen=True, tag=True):
    """The session ended without a claim that counts: costs a strike."""

    reason: str


class Released(msgspec.Struct, frozen=True, tag=True):
    """Given back, at no cost."""

    reason: str


class Conflicted(msgspec.Struct, frozen=True, tag=True):
    """It counts, but does not fit what others have merged meanwhile: costs nothing."""

    reason: str


class Postponed(msgspec.Struct, frozen=True, tag=True):
    """Released before its session could be judged: the next claim judges that first."""

    reason: str


class GaveUp(msgspec.Struct, frozen=True, tag=True):
    """The agent, or a person, says that it cannot be done."""

    reason: str


class Blocked(msgspec.Struct, frozen=True, tag=True):
    """Held back on purpose until it is unblocked."""

    reason: str


class Unblocked(msgspec.Struct, frozen=True, tag=True):
    """No longer held back."""


class Retried(msgspec.Struct, frozen=True, tag=True):
    """A failed or blocked task gets a fresh set of tries and still knows the reason."""


class Reset(msgspec.Struct, frozen=True, tag=True):
    """Back to the beginning, from any state; `reason` says what was wrong with earlier work."""

    reason: str | None = None


class ChildrenDone(msgspec.Struct, frozen=True, tag=True):
    """Every child is done, so the parent is."""


class ChildFailed(msgspec.Struct, frozen=True, tag=True):
    """A child failed and no other can still run (or `fail_fast` does not wait for them)."""

    reason: str


class ChildReopened(msgspec.Struct, frozen=True, tag=True):
    """A child can run again, so the parent is open again."""


Transition = (
    Claimed
    | Accepted
    | Rejected
    | Struck
    | Released
    | Conflicted
    | Postponed
    | GaveUp
    | Blocked
    | Unblocked
    | Retried
    | Reset
    | ChildrenDone
    | ChildFailed
    | ChildReopened
)
COUNTED_TRANSITIONS: Final = (Accepted, Rejected, Struck)
"""What a session comes to. If it has split its task up, the tasks below it decide instead."""


def advance(task: Task, transition: Transition) -> Task:
    after = _advance(task, transition)
    # A review ends with the attempt.
    is_left = after.review == OPEN_REVIEW and after.status is not TaskStatus.IN_PROGRESS
    return replace(after, review=None) if is_left else after


def _advance(task: Task, transition: Transition) -> Task:  # noqa: C901 - one table
    match task.status, transition:
        case TaskStatus.PENDING, Claimed(worker):
            return replace(
                task, status=TaskStatus.IN_PROGRESS, attempt=task.attempt + 1, claimed_by=worker
            )
        case TaskStatus.IN_PROGRESS, Accepted(verified, reviewed):
            return replace(
                _settled(task, TaskStatus.DONE, None),
                verification_status="passed" if verified else None,
                review="passed" if reviewed else None,
            )
        case TaskStatus.IN_PROGRESS, Rejected(reason, by_verifier, by_reviewer):
            return replace(
                _tried(task, reason),
                verification_status="failed" if by_verifier else None,
                review="failed" if by_reviewer else None,
            )
        case TaskStatus.IN_PROGRESS, Struck(reason):
            if task.strikes + 1 >= STRIKES_PER_RETRY:
                return _tried(task, reason)
            return _pending(task, strikes=task.strikes + 1, reason=reason)
        case TaskStatus.IN_PROGRESS, Released() | Postponed():
            # A crash is not the task's fault, so it costs nothing; the attempt's number is
            # spent, since logs carry it.
            return _pending(task)
        case TaskStatus.IN_PROGRESS, Conflicted(reason):
            return _pending(task, strikes=0, reason=reason)
        case TaskStatus.IN_PROGRESS, GaveUp(reason):
            return _settled(task, TaskStatus.FAILED, reason)
        case ((TaskStatus.PENDING | TaskStatus.IN_PROGRESS), Blocked(reason)):
            return replace(task, status=TaskStatus.BLOCKED, claimed_by=None, reason=reason)
        case TaskStatus.BLOCKED, Unblocked():
            return _pending(task, reason=None)
        case ((TaskStatus.FAILED | TaskStatus.BLOCKED), Retried()):
            return _pending(task, retry_count=0, strikes=0)
        case _, Reset(reason):
            fresh = replace(task, retry_count=0, verification_status=None, review=None)
            return _pending(fresh, strikes=0, reason=reason)
        case ((TaskStatus.PENDING | TaskStatus.BLOCKED | TaskStatus.FAILED), ChildrenDone()):
            return _settled(task, TaskStatus.DONE, None)
        case TaskStatus.PENDING, ChildFailed(reason):
            return _settled(task, TaskStatus.FAILED, reason)
        case ((TaskStatus.DONE | TaskStatus.FAILED), ChildReopened()):
            return _pending(task, reason=None)
        case status, _:
            kind = type(transition)
            verb = VERBS.get(kind, kind.__name__.lower())
            raise IllegalTransition(f"task {task.id} is {status}, so it cannot be {verb}")


def _settled(task: Task, status: TaskStatus, reason: str | None) -> Task:
    return replace(task, status=status, claimed_by=None, strikes=0, reason=reason)


def _tried(task: Task, reason: str) -> Task:
    if task.retry_count >= task.max_retries:
        return _settled(task, TaskStatus.FAILED, reason)
    return _pending(task, strikes=0, retry_count=task.retry_count + 1, reason=reason)


def _pending(task: Task, **changes: Any) -> Task:
    return replace(task, status=TaskStatus.PENDING, claimed_by=None, **changes)


VERBS: Final[dict[type, str]] = {
    GaveUp: "failed",
    ChildrenDone: "completed by its children",
    ChildFailed: "failed by a child",
    ChildReopened: "reopened by a child",
}


def steps_to_done(task: Task) -> tuple[Transition, ...]:
    """The legal steps by which a person forces a task to done."""
    return () if task.status is TaskStatus.DONE else (*_steps_to_claimed(task), Accepted())


def steps_to_failed(task: Task, reason: str) -> tuple[Transition, ...]:
    """The steps by which a person forces a task to failed, or changes a failed one's reason."""
    if task.status is TaskStatus.FAILED and reason in ("", task.reason):
        return ()
    return (*_steps_to_claimed(task), GaveUp(reason or DEFAULT_FAIL_REASON))


def _steps_to_claimed(task: Task) -> tuple[Transition, ...]:
    if task.status is TaskStatus.IN_PROGRESS:
        return ()
    return (*steps_to_pending(task), Claimed(BY_HAND))


def steps_to_pending(task: Task) -> tuple[Transition, ...]:
    """The legal steps by which a settled or blocked task becomes pending."""
    match task.status:
        case TaskStatus.PENDING:
            return ()
        case TaskStatus.BLOCKED:
            return (Unblocked(),)
        case TaskStatus.FAILED:
            return (Retried(),)
        case TaskStatus.DONE | TaskStatus.IN_PROGRESS:
            return (Reset(),)


BY_HAND: Final = WorkerId("by-hand")
"""The worker of a transition that a person forced."""
DEFAULT_FAIL_REASON: Final = "failed by a person"
"""The reason of a failure for which a person gave none."""


EVENTS: Final[dict[type, type[events.TaskMoved]]] = {
    Accepted: events.TaskDone,
    ChildrenDone: events.TaskDone,
    Rejected: events.TaskRejected,
    Struck: events.TaskStruck,
    Released: events.TaskReleased,
    Postponed: events.TaskReleased,
    Conflicted: events.TaskConflicted,
    GaveUp: events.TaskFailed,
    ChildFailed: events.TaskFailed,
    Blocked: events.TaskBlocked,
    Unblocked: events.TaskUnblocked,
    Retried: events.TaskReopened,
    Reset: events.TaskReopened,
    ChildReopened: events.TaskReopened,
}


def event_of_transition(after: Task, transition: Transition) -> events.TaskMoved:
    """Return the journal's event of a transition; `after` is the task after it."""
    names = set(events.TaskDone.__struct_fields__) - {"task_id"}
    fields: dict[str, Any] = {name: getattr(after, name) for name in names} | {"task_id": after.id}
    match transition:
        case Claimed(worker):
            return events.TaskClaimed(**fields, worker=worker)
        case Rejected() | Struck() if after.status is TaskStatus.FAILED:
            return events.TaskFailed(**fields)
        case Released(reason) | Postponed(reason):
            return events.TaskReleased(**(fields | {"reason": reason}))
        case _:
            return EVENTS[type(transition)](**fields)
