"""What sessions have cost."""

from enum import StrEnum
from typing import Protocol

import msgspec

from ralph.core.ids import RunId, TaskId
from ralph.core.spent import Spent


class By(StrEnum):
    """How costs are put together."""

    RUN = "run"
    TASK = "task"
    AGENT = "agent"
    MODEL = "model"
    DAY = "day"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions a sum is about."""

    run: RunId | None = None
    task: TaskId | None = None
    """With all below it; also one that is deleted."""
    since: str | None = None
    """Those that ended at this moment or later."""


class Ledger(Protocol):
    """What was spent, by sessions that have ended. It stays when a task is deleted."""

    def spent(self, asked: Asked) -> Spent:
        """The whole sum."""
        ...

    def costs(self, by: By, asked: Asked, limit: int = 0) -> list[tuple[str, Spent]]:
        """Sums by run, task, agent, model (empty where nobody knows it) or day of the local time.
        Runs and days come newest first, the others dearest first."""
        ...
