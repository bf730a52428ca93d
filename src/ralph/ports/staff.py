"""The workers of a team, each a process of its own."""

from typing import Protocol

import msgspec

from ralph.core.ids import WorkerId
from ralph.core.outcome import Outcome


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker says when it leaves."""

    outcome: Outcome
    reason: str = ""
    exit_code: int = 0


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that is gone."""

    worker: WorkerId
    seat: str
    report: Report | None
    """None: it had no time to say anything."""
    reason: str = ""
    """How it died."""


class Staff(Protocol):
    """Who hires them. They end when we do, however we end."""

    def hire(self, seat: str) -> WorkerId:
        """Start a worker for a seat that is free. Unavailable where it cannot be started."""
        ...

    @property
    def present(self) -> dict[str, WorkerId]:
        """Who is at work, by seat."""
        ...

    def departures(self) -> list[Departure]:
        """Those who have left since the last look."""
        ...

    def dismiss(self, worker: WorkerId) -> None:
        """End one that has stopped to give signs of life; it is among the departures then."""
        ...

    def call_off(self) -> None:
        """Ask everybody to end in good order."""
        ...

    def close(self) -> None:
        """End whoever is still there."""
        ...
