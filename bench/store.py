"""What the store costs, and whether it costs the same for a thousand tasks as for a million."""

import multiprocessing
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator

from ralph.adapters.store.sqlite import SqliteStore
from ralph.core.ids import TaskId, WorkerId
from ralph.core.order import Schedule
from ralph.core.target import Everything
from ralph.core.task import Draft
from ralph.core.transitions import Accepted

SIZES = (1_000, 10_000, 100_000, 1_000_000)
IMPORTED = 100_000
PROCESSES = 8
SECONDS = 4.0
LADDERS = (1_000, 10_000, 50_000)
FAN_OUT = 8

Report = Callable[..., None]


class RealClock:
    """The machine's clocks."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()


def run(report: Report) -> None:
    """All figures."""
    with tempfile.TemporaryDirectory() as folder:
        _by_size(folder, report)
        _by_eight(folder, report)
        _ladders(folder, report)


# Graphs


def a_forest(count: int, edges_each: float = 2.0) -> Iterator[Draft]:
    """A tree of eight children each, twice as many edges as tasks, and some that wait for a whole
    group. Leaves wait only for earlier ones, so there is no circle."""
    dice = random.Random(count)
    leaves = _leaves_in_order(count)
    place = {leaf: number for number, leaf in enumerate(leaves)}
    share = edges_each * count / len(leaves)
    for number in range(count):
        yield Draft(
            id=_name(number),
            title=f"task {number}",
            description="what is to be done, in a sentence or two " * 4,
            parent_id=_name((number - 1) // FAN_OUT) if number else None,
            priority=dice.randrange(4),
            blocked_by=tuple({_name(one) for one in _blockers(dice, number, leaves, place, share)}),
        )


def _leaves_in_order(count: int) -> list[int]:
    """As one meets them going through the tree from left to right: the deepest level first."""
    first_leaf = (count - 2) // FAN_OUT + 1
    level = 0
    while level * FAN_OUT + 1 < count:
        level = level * FAN_OUT + 1
    return [*range(max(level, first_leaf), count), *range(first_leaf, level)]


def _blockers(
    dice: random.Random, task: int, leaves: list[int], place: dict[int, int], share: float
) -> Iterator[int]:
    here = place.get(task, 0)
    if here == 0 or dice.random() < 0.1:
        return
    for _ in range(round(dice.uniform(0.5, 1.72) * share)):
        blocker = leaves[dice.randrange(here)]
        group = (blocker - 1) // FAN_OUT
        # Three in a hundred wait for a whole group, if all of it comes earlier.
        is_past = place.get(group * FAN_OUT + FAN_OUT, here) < here
        yield group if is_past and dice.random() < 0.03 else blocker


def a_ladder(rungs: int) -> list[Draft]:
    """Diamonds in a row: one, two beside each other, one, and so on. Each has two ways to the
    next, so there are more paths than anybody could walk."""
    drafts = []
    for number in range(rungs):
        top = f"t-{number:06x}0"
        sides = (TaskId(f"{top}l"), TaskId(f"{top}r"))
        before = (TaskId(f"t-{number - 1:06x}0l"), TaskId(f"t-{number - 1:06x}0r"))
        drafts.append(
            Draft(id=TaskId(top), title="top", blocked_by=before if number else ())
        )
        drafts += [Draft(id=side, title="side", blocked_by=(TaskId(top),)) for side in sides]
    return drafts


def _name(number: int) -> TaskId:
    return TaskId(f"t-{number:06x}")
