"""How long the open tasks may take, judged by those that are done."""

from collections.abc import Sequence
from math import sqrt
from typing import Final

import msgspec

FEWEST: Final = 5
"""Fewer tasks say nothing about the others."""
SPREAD: Final = 1.5
"""Standard errors on each side: about four of five runs end within the range, of few tasks too."""


class TimeLeft(msgspec.Struct, frozen=True, kw_only=True):
    """A range: how long the open tasks may take, if no others are added."""

    low_s: float
    high_s: float
    tasks: int
    judged_by: int
    """How many done tasks it is judged by."""


def time_left(
    tasks: int, workers: int, times_s: Sequence[float], at_work_s: Sequence[float] = ()
) -> TimeLeft | None:
    """The range for so many open tasks; None where nothing is open or too little is known.

    The spread of a sum of tasks, and how little is known of their mean from so few of them.
    `at_work_s`: how long open tasks have been at work. Those that take longer than every done one
    count as if they were done now.
    """
    done = len(times_s)
    if not tasks or done < FEWEST:
        return None
    from statistics import fmean, stdev  # too slow to import for what every command imports

    times = [*times_s, *(one for one in at_work_s if one > max(times_s))]
    mean, deviation = fmean(times), stdev(times)
    off = SPREAD * deviation * sqrt(tasks + tasks * tasks / len(times))
    share = max(1, min(workers, tasks))
    low = max(min(times), (tasks * mean - off) / share)
    high = max(*times, (tasks * mean + off) / share)
    return TimeLeft(low_s=low, high_s=high, tasks=tasks, judged_by=done)
