"""The interface of the worker pool: each worker of a team is a process."""

from typing import Protocol

import msgspec

from ralph.core.ids import WorkerId
from ralph.core.run import RunEnding


class WorkerExit(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that has exited."""

    worker: WorkerId
    slot: str
    report: RunEnding | None
    """None: it died before it could report."""
    reason: str = ""
    """How it died."""


class WorkerPool(Protocol):
    """Starts and stops the workers. They end when the lead ends."""

    def start_worker(self, slot: str) -> WorkerId:
        """Start a worker for a free slot. Raises Unavailable."""

    @property
    def running(self) -> dict[str, WorkerId]: ...

    def exits(self) -> list[WorkerExit]:
        """Return the workers that have exited since the last call."""

    def kill(self, worker: WorkerId) -> None:
        """Kill a worker that no longer responds; it is then among the exits."""

    def stop_all(self, *, at_once: bool = False) -> None:
        """Ask all workers to stop in good order."""

    def close(self) -> None:
        """Kill the workers that are left."""
