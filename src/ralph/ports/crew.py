"""Who works in a run."""

from typing import Protocol

import msgspec

from ralph.core.ids import RunId, WorkerId


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Which process a worker is, so that its death can be seen."""

    host: str
    boot_id: str
    pid_namespace: str
    pid: int
    pid_start: str


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that has joined a run."""

    worker: WorkerId
    run_id: RunId
    seat: str
    """`teammate-1`, …; empty for the one that started the run."""
    owner: Owner


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What one seat has done in a run, whoever sat on it."""

    seat: str
    sessions: int = 0
    accepted: int = 0
    rejected: int = 0
    """Work that did not count, at a cost."""


class Achieved(msgspec.Struct, frozen=True, kw_only=True):
    """What a team has come to."""

    merges: int = 0
    conflicts: int = 0
    deaths: int = 0
    shares: tuple[Share, ...] = ()


class Crew(Protocol):
    """The workers of a run, and the iterations that they share."""

    def join(
        self,
        worker: WorkerId,
        run: RunId,
        owner: Owner,
        lease_s: float,
        seat: str = "teammate-1",
    ) -> None:
        """Make a worker known, before its first claim. Joining twice is moving: to another seat,
        process or run."""
        ...

    def crew(self, run: RunId) -> list[Member]:
        """Everyone who ever joined the run, oldest first, whoever started it included."""
        ...

    def achieved(self, run: RunId) -> Achieved:
        """What the run's workers have come to so far; by seat, sorted by its name."""
        ...

    def begin_iteration(self, run: RunId, limit: int) -> int | None:
        """The number of the run's next iteration, never the same to two workers; None when `limit`
        iterations that count have begun. A limit of 0 is none."""
        ...

    def uncount_iteration(self, run: RunId) -> None:
        """One that has begun does not count, since it was cut short. Its number stays taken."""
        ...
