"""Who works in a run, and the iterations that they share."""

from ralph.adapters.store.memory import MemoryPart
from ralph.adapters.store.part import reading, whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import member_of
from ralph.core.errors import Missing
from ralph.core.ids import RunId, WorkerId
from ralph.ports.crew import Achieved, Member, Owner, Share

SQL = Queries("crew")


class CrewPart(MemoryPart):
    """`Crew` on the table `workers` and the counters of `runs`."""

    @whole
    def join(
        self,
        worker: WorkerId,
        run: RunId,
        owner: Owner,
        lease_s: float,
        seat: str = "teammate-1",
    ) -> None:
        """Make a worker known, before its first claim."""
        self.db.execute(
            SQL.join,
            {
                "id": worker,
                "run_id": run,
                "seat": seat,
                "host": owner.host,
                "boot_id": owner.boot_id,
                "pid_namespace": owner.pid_namespace,
                "pid": owner.pid,
                "pid_start": owner.pid_start,
                "now": self.now(),
                "lease_s": lease_s,
            },
        )

    @reading
    def crew(self, run: RunId) -> list[Member]:
        """Everyone who ever joined the run, oldest first."""
        return [member_of(row) for row in self.db.rows(SQL.crew, {"run": run})]

    @reading
    def achieved(self, run: RunId) -> Achieved:
        """What the run's workers have come to so far."""
        happened: dict[str, int] = dict(self.db.rows(SQL.team_events, {"run": run}))
        return Achieved(
            merges=happened.get("work_merged", 0),
            conflicts=happened.get("task_conflicted", 0),
            deaths=happened.get("worker_left", 0),
            shares=tuple(
                Share(seat=seat, sessions=sessions, accepted=accepted, rejected=rejected)
                for seat, sessions, accepted, rejected in self.db.rows(SQL.shares, {"run": run})
            ),
        )

    @whole
    def begin_iteration(self, run: RunId, limit: int) -> int | None:
        """The number of the run's next iteration; None when the limit is reached."""
        number: int | None = self.db.value(SQL.begin_iteration, {"run": run, "limit": limit})
        if number is None and not self.db.value(SQL.has_run, {"run": run}):
            raise Missing(f"there is no run {run}")
        return number

    @whole
    def uncount_iteration(self, run: RunId) -> None:
        """One that has begun does not count."""
        if self.db.execute(SQL.uncount_iteration, {"run": run}).rowcount == 0:
            raise Missing(f"there is no run {run}")
