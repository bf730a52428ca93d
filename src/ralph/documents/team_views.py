"""`failures.json` and `metrics.json`: how each worker of the current run fares, folded from events.

A worker's failures are those in a row: claims that did not count, sessions without one, tasks that
failed. What counts, or a person who resets its breaker, puts them back to 0.
"""

from typing import Final

import msgspec

from ralph.core.events import (
    BreakerClosed,
    Recorded,
    RunStarted,
    TaskClaimed,
    TaskDone,
    TaskFailed,
    TaskRejected,
    TaskStruck,
)
from ralph.core.ids import TaskId, WorkerId
from ralph.core.moment import to_the_second
from ralph.core.team_events import TeammateJudged, WorkerJoined

FAILURES: Final = ".ralph/failures.json"
METRICS: Final = ".ralph/metrics.json"
FIRST: Final = "teammate-1"


class _Share(msgspec.Struct):
    """One worker's."""

    completed: int = 0
    failed: int = 0
    in_a_row: int = 0


class Tally:
    """What the workers of one run have done so far."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Nothing is known of the run yet."""
        self._seats: dict[WorkerId, str] = {}
        self._holders: dict[TaskId, str] = {}
        self._shares: dict[str, _Share] = {}
        self._updated = ""

    def fold(self, recorded: Recorded) -> bool:
        """Take one event in; does it change what the files say?"""
        match recorded.event:
            case RunStarted(worker=worker):
                self._begin()
                self._seats[worker] = FIRST
            case WorkerJoined(worker=worker, seat=seat):
                self._seats[worker] = seat
                self._shares.setdefault(seat, _Share())
            case TaskClaimed(task_id=task, worker=worker) if worker in self._seats:
                self._holders[task] = self._seats[worker]
                return False
            case TaskClaimed(task_id=task):
                # By a person, or for a teammate that others lead: it is counted elsewhere, if ever.
                self._holders.pop(task, None)
                return False
            case TaskDone(task_id=task) if task in self._holders:
                self._count(self._holders.pop(task), is_good=True)
            case (
                TaskRejected(task_id=task) | TaskStruck(task_id=task) | TaskFailed(task_id=task)
            ) if task in self._holders:
                self._count(self._holders.pop(task), is_good=False)
            case TeammateJudged(seat=seat, passed=passed):
                self._count(seat, is_good=passed)
            case BreakerClosed(seat=seat) if seat in self._shares:
                self._shares[seat].in_a_row = 0
            case _:
                return False
        self._updated = recorded.time
        return True

    def _count(self, seat: str, *, is_good: bool) -> None:
        share = self._shares.setdefault(seat, _Share())
        share.completed += is_good
        share.failed += not is_good
        share.in_a_row = 0 if is_good else share.in_a_row + 1

    def files(self) -> dict[str, bytes]:
        """Both, by their paths."""
        return {FAILURES: _shown(self.failures()), METRICS: _shown(self.metrics())}

    def failures(self) -> dict[str, int]:
        """Failures in a row, by worker."""
        return {seat: share.in_a_row for seat, share in sorted(self._shares.items(), key=_place)}

    def metrics(self) -> dict[str, object]:
        """All that was judged, and whose it was."""
        shares = dict(sorted(self._shares.items(), key=_place))
        completed = sum(share.completed for share in shares.values())
        failed = sum(share.failed for share in shares.values())
        return {
            "total_tasks": completed + failed,
            "successful_tasks": completed,
            "failed_tasks": failed,
            "last_updated": to_the_second(self._updated),
            "per_teammate": {
                seat: {"completed": share.completed, "failed": share.failed}
                for seat, share in shares.items()
            },
        }


def _place(item: tuple[str, _Share]) -> tuple[int, str]:
    """`teammate-2` before `teammate-10`."""
    seat = item[0]
    number = seat.rpartition("-")[2]
    return (int(number) if number.isdecimal() and len(number) < 10 else 0, seat)


def _shown(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
