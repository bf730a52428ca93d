"""When a run must stop although work is left: limits, and the counters of the breaker."""

import msgspec
from msgspec.structs import replace


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Zero means without limit."""

    iterations: int = 0
    run_s: float = 0.0
    failures: int = 3
    stagnation: int = 5


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has counted so far."""

    iterations: int = 0
    failures: int = 0
    """Sessions in a row that ended without a claim, or tasks in a row that failed for good."""
    stagnation: int = 0
    """Iterations in a row without a commit, a settled task or a gate that improved."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """What one iteration brought."""

    done: bool = False
    struck: bool = False
    failed: bool = False
    moved: bool = False
    """A commit, a settled task or an improved gate."""
    reason: str = ""


def count(tally: Tally, progress: Progress) -> Tally:
    """The tally after one more iteration.

    A rejected claim is not a failure here: the agent works, the task is hard, and its retries
    bound it. Otherwise one stubborn task would end a night's run.
    """
    bad = progress.struck or progress.failed
    return replace(
        tally,
        iterations=tally.iterations + 1,
        failures=tally.failures + 1 if bad else 0 if progress.done else tally.failures,
        stagnation=0 if progress.moved else tally.stagnation + 1,
    )


def tripped(limits: Limits, tally: Tally) -> str | None:
    """Why the run pauses, in one line, or None."""
    if limits.failures and tally.failures >= limits.failures:
        return f"{tally.failures} failures in a row"
    if limits.stagnation and tally.stagnation >= limits.stagnation:
        return f"{tally.stagnation} iterations without progress"
    return None


def spent(limits: Limits, tally: Tally, elapsed_s: float) -> str | None:
    """Which limit is reached, in one line, or None."""
    if limits.iterations and tally.iterations >= limits.iterations:
        return f"the limit of {limits.iterations} iterations is reached"
    if limits.run_s and elapsed_s >= limits.run_s:
        return f"the run's time of {limits.run_s:.0f} s is used up"
    return None


def back_off_s(strikes_in_a_row: int) -> float:
    """How long to wait after a strike: nothing, then a little, never more than five seconds."""
    if strikes_in_a_row <= 0:
        return 0.0
    return min(5.0, 0.25 * 2.0 ** min(strikes_in_a_row - 1, 10))
