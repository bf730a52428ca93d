"""The circuit breaker: stops a worker that only fails from starting sessions, and decides when it
may try again.

Closed: everything is fine. Open: nothing is started. Half open: one session shows whether it works
again. A budget that is spent opens it too, and only more money closes it.
"""

from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.ids import TaskId
from ralph.core.run import IterationProgress
from ralph.core.settings import BreakerSection

BLOCKED_BY_BREAKER: Final = "put aside: "
"""How the reason begins for which a breaker blocks a task."""
TRIALS: Final = 2
"""Sessions that may show in vain that nothing works; then a person is needed."""

RETRY_AFTER_S: Final = 60.0
"""A run that fails from its start is wrongly set up: its user is there and need not wait longer."""


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class BreakerCause(StrEnum):
    FAILURES = "failures"
    STAGNATION = "stagnation"
    BUDGET = "budget"


class BreakerRecovery(StrEnum):
    """What the run does when the breaker opens."""

    BACK_OFF = "back_off"
    """Wait, then try one session."""
    SKIP = "skip"
    """Put the task aside on which everything failed, wait, then try another one."""
    HAND_OFF = "hand_off"
    """Wait, then let a fresh session go on that knows what was seen of the last one."""
    PERSON = "person"
    """Stop, and notify a person."""


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """The stored state of one worker's breaker."""

    state: BreakerState = BreakerState.CLOSED
    cause: BreakerCause | None = None
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
        return self.state is BreakerState.CLOSED

    @property
    def why(self) -> str:
        """Why it is open, in one line."""
        counted = ""
        if self.cause is BreakerCause.FAILURES:
            counted = f"{self.failures} failures in a row"
        elif self.cause is BreakerCause.STAGNATION:
            counted = f"{self.stagnation} iterations without progress"
        return "; the last: ".join(filter(None, (counted, self.reason)))


def current_breaker(breaker: Breaker, limits: BreakerSection, now: float) -> Breaker:
    """Return the breaker without failures that are too old, or that are switched off."""
    # Also a time far ahead: a clock that was set back must not keep the breaker open for years.
    is_old = bool(limits.max_age_s) and abs(now - breaker.at) > limits.max_age_s
    is_off = (breaker.cause is BreakerCause.FAILURES and not limits.failures) or (
        breaker.cause is BreakerCause.STAGNATION and not limits.stagnation
    )
    is_over = is_off or (is_old and breaker.cause is not BreakerCause.BUDGET)
    return Breaker(at=now) if is_over else breaker


def count_iteration(
    breaker: Breaker, limits: BreakerSection, task: TaskId, progress: IterationProgress, now: float
) -> Breaker:
    """Return the breaker after one more iteration.

    A session that claims nothing but leaves something to build on is no failure, nor is a rejected
    claim: the agent works, the task is hard, and its retries bound it. Otherwise one stubborn task
    would end a night's run.
    """
    is_bad = progress.failed or (progress.struck and not progress.moved)
    reason = progress.reason or breaker.reason
    if not breaker.is_closed:
        is_still = breaker.cause is BreakerCause.STAGNATION and not progress.moved
        if not (is_bad or is_still):
            return Breaker(at=now)
        same = task if breaker.task == task else None
        opened = replace(breaker, state=BreakerState.OPEN, reason=reason, task=same, at=now)
        return replace(opened, trials=breaker.trials + 1)
    if progress.done:
        return Breaker(at=now)
    failures = breaker.failures + is_bad
    if is_bad:
        same = task if breaker.failures == 0 or breaker.task == task else None
        breaker = replace(breaker, reason=progress.reason, task=same)
    stagnation = 0 if progress.moved else breaker.stagnation + 1
    breaker = replace(breaker, failures=failures, stagnation=stagnation, at=now)
    if limits.failures and failures >= limits.failures:
        return replace(breaker, state=BreakerState.OPEN, cause=BreakerCause.FAILURES)
    if limits.stagnation and stagnation >= limits.stagnation:
        stalled = replace(breaker, state=BreakerState.OPEN, cause=BreakerCause.STAGNATION)
        return replace(stalled, reason=reason, task=task)
    return breaker


def choose_recovery(
    breaker: Breaker, limits: BreakerSection, *, has_worked: bool, others: bool
) -> BreakerRecovery:
    """Decide what to do about an open breaker.

    `has_worked`: something was done in this run; `others`: there is another task to try.
    """
    if breaker.cause is BreakerCause.BUDGET or not limits.cooldown_s or breaker.trials >= TRIALS:
        return BreakerRecovery.PERSON
    if not has_worked and limits.cooldown_s > RETRY_AFTER_S:
        return BreakerRecovery.PERSON
    if breaker.trials == 0:
        return BreakerRecovery.BACK_OFF
    if breaker.task is None:
        return BreakerRecovery.PERSON
    return BreakerRecovery.SKIP if others else BreakerRecovery.HAND_OFF


def half_open(breaker: Breaker, now: float) -> Breaker:
    return replace(breaker, state=BreakerState.HALF_OPEN, at=now)


def describe_breaker(breaker: Breaker) -> str:
    match breaker.state:
        case BreakerState.CLOSED:
            return "closed"
        case BreakerState.HALF_OPEN:
            return f"half open, one session shows whether it works again ({breaker.why})"
        case BreakerState.OPEN:
            return f"open ({breaker.why})"
