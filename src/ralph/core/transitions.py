"""How a task changes state. The only place that decides it."""

from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.errors import IllegalTransition
from ralph.core.ids import WorkerId
from ralph.core.task import OPEN_REVIEW, Status, Task

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
    """Given back before its session could be judged: whoever claims it next does that first."""

    reason: str


class GaveUp(msgspec.Struct, frozen=True, tag=True):
    """The agent, or a person, says that it cannot be done."""

    reason: str


class Blocked(msgspec.Struct, frozen=True, tag=True):
    """Held back on purpose until someone unblocks it."""

    reason: str


class Unblocked(msgspec.Struct, frozen=True, tag=True):
    """No longer held back."""


class Retried(msgspec.Struct, frozen=True, tag=True):
    """A failed or blocked task gets a fresh set of tries and still knows the reason."""


class Reset(msgspec.Struct, frozen=True, tag=True):
    """Back to the beginning, from any state."""


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

TRIED: Final = (Accepted, Rejected, Struck)
"""What a session comes to. If it has split its task up, the tasks below it decide instead."""


def advance(task: Task, transition: Transition) -> Task:
    """Return the task after the transition, or raise IllegalTransition."""
    after = _advance(task, transition)
    # Nobody reads what nobody has in hand.
    is_left = after.review == OPEN_REVIEW and after.status is not Status.IN_PROGRESS
    return replace(after, review=None) if is_left else after


def _advance(task: Task, transition: Transition) -> Task:  # noqa: C901 - one table
    match task.status, transition:
        case Status.PENDING, Claimed(worker):
            return replace(
                task, status=Status.IN_PROGRESS, attempt=task.attempt + 1, claimed_by=worker
            )
        case Status.IN_PROGRESS, Accepted(verified, reviewed):
            return replace(
                _settled(task, Status.DONE, None),
                verification_status="passed" if verified else None,
                review="passed" if reviewed else None,
            )
        case Status.IN_PROGRESS, Rejected(reason, by_verifier, by_reviewer):
            return replace(
                _tried(task, reason),
                verification_status="failed" if by_verifier else None,
                review="failed" if by_reviewer else None,
            )
        case Status.IN_PROGRESS, Struck(reason):
            if task.strikes + 1 >= STRIKES_PER_RETRY:
                return _tried(task, reason)
            return replace(
                task,
                status=Status.PENDING,
                strikes=task.strikes + 1,
                claimed_by=None,
                reason=reason,
            )
        case Status.IN_PROGRESS, Released() | Postponed():
            # A crash is not the task's fault, so it costs nothing; the attempt's number is
            # spent, since logs carry it.
            return replace(task, status=Status.PENDING, claimed_by=None)
        case Status.IN_PROGRESS, Conflicted(reason):
            return replace(task, status=Status.PENDING, claimed_by=None, strikes=0, reason=reason)
        case Status.IN_PROGRESS, GaveUp(reason):
            return _settled(task, Status.FAILED, reason)
        case ((Status.PENDING | Status.IN_PROGRESS), Blocked(reason)):
            return replace(task, status=Status.BLOCKED, claimed_by=None, reason=reason)
        case Status.BLOCKED, Unblocked():
            return replace(task, status=Status.PENDING, reason=None)
        case ((Status.FAILED | Status.BLOCKED), Retried()):
            return replace(task, status=Status.PENDING, retry_count=0, strikes=0)
        case _, Reset():
            return replace(
                task,
                status=Status.PENDING,
                retry_count=0,
                strikes=0,
                claimed_by=None,
                reason=None,
                verification_status=None,
                review=None,
            )
        case ((Status.PENDING | Status.BLOCKED | Status.FAILED), ChildrenDone()):
            return _settled(task, Status.DONE, None)
        case Status.PENDING, ChildFailed(reason):
            return _settled(task, Status.FAILED, reason)
        case ((Status.DONE | Status.FAILED), ChildReopened()):
            return replace(task, status=Status.PENDING, reason=None)
        case status, _:
            raise IllegalTransition(
                f"task {task.id} is {status}, so it cannot be {_verb(transition)}"
            )


def _settled(task: Task, status: Status, reason: str | None) -> Task:
    return replace(task, status=status, claimed_by=None, strikes=0, reason=reason)


def _tried(task: Task, reason: str) -> Task:
    if task.retry_count >= task.max_retries:
        return _settled(task, Status.FAILED, reason)
    return replace(
        task,
        status=Status.PENDING,
        claimed_by=None,
        strikes=0,
        retry_count=task.retry_count + 1,
        reason=reason,
    )


def _verb(transition: Transition) -> str:
    match transition:
        case GaveUp():
            return "failed"
        case ChildrenDone():
            return "completed by its children"
        case ChildFailed():
            return "failed by a child"
        case ChildReopened():
            return "reopened by a child"
        case _:
            return type(transition).__name__.lower()


def walk_to_done(task: Task) -> tuple[Transition, ...]:
    """The legal steps by which a person forces a task to done."""
    match task.status:
        case Status.DONE:
            return ()
        case Status.IN_PROGRESS:
            return (Accepted(),)
        case _:
            return (*walk_to_pending(task), Claimed(BY_HAND), Accepted())


def walk_to_failed(task: Task, reason: str) -> tuple[Transition, ...]:
    """The legal steps by which a person forces a task to failed, or gives a failed one another
    reason."""
    match task.status:
        case Status.FAILED if reason in ("", task.reason):
            return ()
        case Status.IN_PROGRESS:
            return (GaveUp(reason or UNTOLD),)
        case _:
            return (*walk_to_pending(task), Claimed(BY_HAND), GaveUp(reason or UNTOLD))


def walk_to_pending(task: Task) -> tuple[Transition, ...]:
    """The legal steps by which a settled or blocked task becomes pending."""
    match task.status:
        case Status.PENDING:
            return ()
        case Status.BLOCKED:
            return (Unblocked(),)
        case Status.FAILED:
            return (Retried(),)
        case Status.DONE | Status.IN_PROGRESS:
            return (Reset(),)


BY_HAND: Final = WorkerId("by-hand")
"""The worker of a transition that a person forced."""
UNTOLD: Final = "failed by a person"
"""The reason of a failure for which a person gave none."""
