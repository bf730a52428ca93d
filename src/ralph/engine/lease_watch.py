"""Tell which workers are dead, by their processes or by watching their leases."""

from collections.abc import Callable, Iterable

from ralph.core.ids import WorkerId
from ralph.store.claims import StaleClaim
from ralph.store.runs import WorkerProcess


class LeaseWatch:
    """Watches the leases of workers.

    Of a worker on this machine, its process tells. Another one is dead when it has not renewed its
    lease while this process watched it for that long, without a gap. A time stamp would prove
    nothing: clocks differ, and no worker can renew a lease while the database is down.
    """

    def __init__(self, is_alive: Callable[[WorkerProcess], bool | None]) -> None:
        self.is_alive = is_alive
        """None where this machine cannot tell."""
        self._seen: dict[WorkerId | None, tuple[str, float, float]] = {}
        """Of each worker: its last sign of life, and when that was seen first and last."""

    def dead(self, claims: Iterable[StaleClaim], now: float) -> list[StaleClaim]:
        """Return those of the claims whose worker is dead. `now` is of a monotonic clock."""
        return [one for one in claims if self._is_dead(one, now)]

    def _is_dead(self, claim: StaleClaim, now: float) -> bool:
        alive = self.is_alive(claim.owner) if claim.owner is not None else None
        if alive is not None:
            # A live owner keeps its lease, however old: laptops sleep.
            return not alive
        worker = claim.task.claimed_by
        beat, since, last = self._seen.get(worker, ("", now, now))
        if beat != claim.beat or now - last > claim.lease_s / 2:
            since = now
        self._seen[worker] = (claim.beat, since, now)
        return now - since >= claim.lease_s
