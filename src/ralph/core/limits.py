"""When a run must stop although work is left: limits, and how long to wait."""

from typing import Final

import msgspec

RESET_MARGIN_S: Final = 5.0
"""Clocks differ a little."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Zero means without limit."""

    iterations: int = 0
    run_s: float = 0.0


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """What one iteration brought."""

    done: bool = False
    struck: bool = False
    failed: bool = False
    moved: bool = False
    """A commit, a settled task, an improved gate, or something that others can build on: tasks
    added, lines logged, lessons learned."""
    reason: str = ""


def used_up(iterations: int) -> str:
    """What is said when so many were allowed."""
    many = "1 iteration" if iterations == 1 else f"{iterations} iterations"
    return f"the limit of {many} is reached"


def spent(limits: Limits, iterations: int, elapsed_s: float) -> str | None:
    """Which limit is reached, in one line, or None."""
    if limits.iterations and iterations >= limits.iterations:
        return used_up(limits.iterations)
    if limits.run_s and elapsed_s >= limits.run_s:
        return f"the run's time of {limits.run_s:.0f} s is used up"
    return None


LONGEST_WAIT_S: Final = 8 * 86_400.0
"""A weekly allowance, and a day for clocks that disagree."""


def reset_at(told: float | None, now: float, default_s: float) -> float:
    """When to try again after a usage limit: when the provider says so, as far as that makes sense.

    A moment that has passed is a misunderstanding; trying at once would only be told it again.
    """
    if told is None or told <= now:
        return now + default_s
    return min(told + RESET_MARGIN_S, now + LONGEST_WAIT_S)


def overload_s(times_in_a_row: int, share: float) -> float:
    """How long to wait for a provider that is overloaded: longer each time, at most a minute.

    `share`, between 0 and 1, is drawn anew each time, so that many workers do not come back at
    once.
    """
    return min(60.0, 2.0 ** min(times_in_a_row, 10)) * (0.5 + share / 2)


def back_off_s(strikes_in_a_row: int) -> float:
    """How long to wait after a strike: nothing, then a little, never more than five seconds."""
    if strikes_in_a_row <= 0:
        return 0.0
    return min(5.0, 0.25 * 2.0 ** min(strikes_in_a_row - 1, 10))
