"""A run: what it works on, its limits, how long it waits, and how it ends."""

from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.ids import FeatureId, TaskId


class AllTasks(msgspec.Struct, frozen=True, tag=True):
    """The whole graph."""


class OneFeature(msgspec.Struct, frozen=True, tag=True):
    feature: FeatureId
    name: str


class Subtree(msgspec.Struct, frozen=True, tag=True):
    task: TaskId


Target = AllTasks | OneFeature | Subtree


def describe_target(target: Target) -> str:
    match target:
        case AllTasks():
            return "all tasks"
        case OneFeature(name=name):
            return f"feature {name}"
        case Subtree(task):
            return f"task {task}"


class RunOutcome(StrEnum):
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


class WaitKind(StrEnum):
    """Why a run waits, as `ralph status` names it."""

    PAUSED = "paused"
    ANSWER = "waiting for an answer"
    QUOTA = "waiting for quota"
    OFFLINE = "offline"
    OTHER = "waiting"


STOPPED: Final = "stopped by a person"
"""The reason of a run that `ralph stop` has paused."""

EXIT_CODES: Final[dict[RunOutcome, int]] = {
    RunOutcome.COMPLETE: 0,
    RunOutcome.FAILURE: 1,
    RunOutcome.BLOCKED: 2,
    RunOutcome.NO_PLAN: 3,
    RunOutcome.LIMIT_REACHED: 4,
    RunOutcome.COMPLETE_WITH_FAILURES: 5,
    RunOutcome.PAUSED: 6,
    RunOutcome.INTERRUPTED: 130,
    RunOutcome.ERROR: 1,
}


class RunEnding(msgspec.Struct, frozen=True):
    """How a run ends, or the work of one worker in it."""

    outcome: RunOutcome
    reason: str = ""
    error_code: int = 0
    """The exit code of an error of Ralph's own."""
    may_pass: bool = False
    """The cause may be over soon."""

    @property
    def exit_code(self) -> int:
        return self.error_code or EXIT_CODES[self.outcome]


class RunLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a run. Zero means without limit."""

    iterations: int = 0
    run_s: float = 0.0


class IterationProgress(msgspec.Struct, frozen=True, kw_only=True):
    done: bool = False
    struck: bool = False
    failed: bool = False
    moved: bool = False
    """A commit, a settled task, an improved gate, or something that others can build on: tasks
    added, lines logged, lessons learned."""
    reason: str = ""


def iteration_limit_text(iterations: int) -> str:
    """What is said when so many were allowed."""
    many = "1 iteration" if iterations == 1 else f"{iterations} iterations"
    return f"the limit of {many} is reached"


def reached_run_limit(limits: RunLimits, iterations: int, elapsed_s: float) -> str | None:
    """Which limit is reached, in one line, or None."""
    if limits.iterations and iterations >= limits.iterations:
        return iteration_limit_text(limits.iterations)
    if limits.run_s and elapsed_s >= limits.run_s:
        return f"the run's time of {limits.run_s:.0f} s is used up; raise [timeouts] run"
    return None


def overload_wait_s(times_in_a_row: int, share: float) -> float:
    """How long to wait for a provider that is overloaded: longer each time, at most a minute.
    `share`, between 0 and 1, is random, so that many workers do not come back at once."""
    return min(60.0, 2.0 ** min(times_in_a_row, 10)) * (0.5 + share / 2)


def strike_wait_s(strikes_in_a_row: int) -> float:
    """How long to wait after a strike: nothing, then a little, never more than five seconds."""
    if strikes_in_a_row <= 0:
        return 0.0
    return min(5.0, 0.25 * 2.0 ** min(strikes_in_a_row - 1, 10))


RESET_MARGIN_S: Final = 5.0
"""Clocks differ a little."""
LONGEST_WAIT_S: Final = 8 * 86_400.0
"""A weekly allowance, and a day for clocks that disagree."""


def usage_limit_retry_time(reported: float | None, now: float, default_s: float) -> float:
    """When to try again after a usage limit: when the provider says so, as far as that makes sense.

    A moment that has passed is a misunderstanding; trying at once would only get the same answer.
    """
    if reported is None or reported <= now:
        return now + default_s
    return min(reported + RESET_MARGIN_S, now + LONGEST_WAIT_S)
