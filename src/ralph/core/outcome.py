"""How a run ended."""

from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """Every run ends with exactly one of these."""

    COMPLETE = "complete"
    FAILURE = "failure"
    BLOCKED = "blocked"
    NO_PLAN = "no-plan"
    LIMIT_REACHED = "limit-reached"
    COMPLETE_WITH_FAILURES = "complete-with-failures"
    PAUSED = "paused"
    INTERRUPTED = "interrupted"
    ERROR = "error"
    """A RalphError ended it; the error has its own exit code."""


EXIT_CODES: Final[dict[Outcome, int]] = {
    Outcome.COMPLETE: 0,
    Outcome.FAILURE: 1,
    Outcome.BLOCKED: 2,
    Outcome.NO_PLAN: 3,
    Outcome.LIMIT_REACHED: 4,
    Outcome.COMPLETE_WITH_FAILURES: 5,
    Outcome.PAUSED: 6,
    Outcome.INTERRUPTED: 130,
    Outcome.ERROR: 1,
}
