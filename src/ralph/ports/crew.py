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


class Crew(Protocol):
    """The workers of a run."""

    def join(self, worker: WorkerId, run: RunId, owner: Owner, lease_s: float) -> None:
        """Make a worker known, before its first claim."""
        ...
