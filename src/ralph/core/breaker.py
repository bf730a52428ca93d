"""The circuit breaker: when a run that only fails must stop trying, and when it may try again.

Closed: everything is fine. Open: nothing is started. Half open: one session shows whether it works
again. A budget that is spent opens it too, and only more money closes it.
"""

from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.ids import TaskId
from ralph.core.limits import Progress

PUT_ASIDE: Final = "put aside: "
"""How the reason begins for which a breaker blocks a task."""
TRIALS: Final = 2
"""Sessions that may show in vain that nothing works; then a person is needed."""

PATIENCE_S: Final = 60.0
"""A run that fails from its start is wrongly set up, and whoever started it is still there: they
want to hear of it, not wait."""


class State(StrEnum):
    """Whether sessions may start."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Cause(StrEnum):
    """Why it opened."""

    FAILURES = "failures"
    STAGNATION = "stagnation"
    BUDGET = "budget"


class Recovery(StrEnum):
    """What follows when it opens."""

    BACK_OFF = "back_off"
    """Wait, then try one session."""
    SKIP = "skip"
    """Put the task aside on which everything failed, wait, then try another one."""
    HAND_OFF = "hand_off"
    """Wait, then let a fresh session go on that is told what was seen of the last one."""
    PERSON = "person"
    """Stop, and tell somebody."""


class Tolerance(msgspec.Struct, frozen=True, kw_only=True):
    """How much it puts up with before it opens, and for how long. Zero: never, and not at all."""

    failures: int = 3
    stagnation: int = 5
    cooldown_s: float = 300.0
    max_age_s: float = 7200.0


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """One worker's breaker, as it is kept."""

    state: State = State.CLOSED
    cause: Cause | None = None
    """None while it is closed."""
    failures: int = 0
    """Sessions in a row that ended without a claim, or tasks in a row that failed for good."""
    stagnation: int = 0
    """Iterations in a row without any progress."""
    reason: str = ""
    """What went wrong last."""
    task: TaskId | None = None
    """The task of all failures in this row; None when there were several."""
    trials: int = 0
    """How often it was tried in vain since it opened first."""
    at: float = 0.0
    """When it last counted or changed, in seconds since 1970."""

    @property
    def is_closed(self) -> bool:
        """May sessions start?"""
        return self.state is State.CLOSED

    @property
    def why(self) -> str:
        """Why it is open, in one line."""
        counted = {
            Cause.FAILURES: f"{self.failures} failures in a row",
            Cause.STAGNATION: f"{self.stagnation} iterations without progress",
        }
        told = counted.get(self.cause) if self.cause is not None else None
        return "; the last: ".join(filter(None, (told, self.reason)))


def remembered(breaker: Breaker, tolerance: Tolerance, now: float) -> Breaker:
    """The breaker as it is today: yesterday's failures do not count, nor what is switched off."""
    # Also what lies far ahead: a clock that was set back must not keep it open for years.
    is_old = bool(tolerance.max_age_s) and abs(now - breaker.at) > tolerance.max_age_s
    never = {Cause.FAILURES: not tolerance.failures, Cause.STAGNATION: not tolerance.stagnation}
    is_off = breaker.cause is not None and never.get(breaker.cause, False)
    is_over = is_off or (is_old and breaker.cause is not Cause.BUDGET)
    return Breaker(at=now) if is_over else breaker


def counted(
    breaker: Breaker, tolerance: Tolerance, task: TaskId, progress: Progress, now: float
) -> Breaker:
    """The breaker after one more iteration.

    A session that claims nothing but leaves something to build on is no failure, nor is a rejected
    claim: the agent works, the task is hard, and its retries bound it. Otherwise one stubborn task
    would end a night's run.
    """
    bad = progress.failed or (progress.struck and not progress.moved)
    if not breaker.is_closed:
        stands_still = breaker.cause is Cause.STAGNATION and not progress.moved
        return _in_vain(breaker, task, progress, now) if bad or stands_still else Breaker(at=now)
    if progress.done:
        return Breaker(at=now)
    failures = breaker.failures + bad
    if bad:
        breaker = replace(
            breaker,
            reason=progress.reason,
            task=task if breaker.failures == 0 or breaker.task == task else None,
        )
    stagnation = 0 if progress.moved else breaker.stagnation + 1
    breaker = replace(breaker, failures=failures, stagnation=stagnation, at=now)
    if tolerance.failures and failures >= tolerance.failures:
        return replace(breaker, state=State.OPEN, cause=Cause.FAILURES)
    if tolerance.stagnation and stagnation >= tolerance.stagnation:
        reason = progress.reason or breaker.reason
        return replace(breaker, state=State.OPEN, cause=Cause.STAGNATION, reason=reason, task=task)
    return breaker


def _in_vain(breaker: Breaker, task: TaskId, progress: Progress, now: float) -> Breaker:
    return replace(
        breaker,
        state=State.OPEN,
        reason=progress.reason or breaker.reason,
        task=task if breaker.task == task else None,
        trials=breaker.trials + 1,
        at=now,
    )


def recovery(breaker: Breaker, tolerance: Tolerance, *, has_worked: bool, others: bool) -> Recovery:
    """What to do about an open breaker.

    `has_worked`: something was done in this run; `others`: there is another task to try.
    """
    if breaker.cause is Cause.BUDGET or not tolerance.cooldown_s or breaker.trials >= TRIALS:
        return Recovery.PERSON
    if not has_worked and tolerance.cooldown_s > PATIENCE_S:
        return Recovery.PERSON
    if breaker.trials == 0:
        return Recovery.BACK_OFF
    if breaker.task is None:
        return Recovery.PERSON
    return Recovery.SKIP if others else Recovery.HAND_OFF


def half_open(breaker: Breaker, now: float) -> Breaker:
    """Let one session through."""
    return replace(breaker, state=State.HALF_OPEN, at=now)


def told(breaker: Breaker) -> str:
    """For a person: its state, and why."""
    match breaker.state:
        case State.CLOSED:
            return "closed"
        case State.HALF_OPEN:
            return f"half open, one session shows whether it works again ({breaker.why})"
        case State.OPEN:
            return f"open ({breaker.why})"
