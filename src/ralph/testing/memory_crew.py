"""The memory store's crew: who works in a run."""

from ralph.core.errors import Missing
from ralph.core.events import TaskConflicted
from ralph.core.ids import RunId, WorkerId
from ralph.core.team_events import WorkerLeft, WorkMerged
from ralph.core.tried import Judged
from ralph.ports.crew import Achieved, Member, Owner, Share
from ralph.testing.memory_state import Lease, State

BAD = (Judged.REJECTED, Judged.STRUCK, Judged.GAVE_UP)


class MemoryCrew:
    """`Crew` on plain dicts."""

    def __init__(self, state: State) -> None:
        self._state = state

    def join(
        self,
        worker: WorkerId,
        run: RunId,
        owner: Owner,
        lease_s: float,
        seat: str = "teammate-1",
    ) -> None:
        state = self._state
        with state.transaction():
            member = Member(worker=worker, run_id=run, seat=seat, owner=owner)
            state.workers[worker] = Lease(member=member, seen=state.clock.now(), lease_s=lease_s)

    def crew(self, run: RunId) -> list[Member]:
        members = (lease.member for lease in self._state.workers.values())
        return [member for member in members if member.run_id == run]

    def achieved(self, run: RunId) -> Achieved:
        happened = [one.event for one in self._state.events if one.run_id == run]
        left = [one for one in happened if isinstance(one, WorkerLeft)]
        return Achieved(
            merges=sum(isinstance(one, WorkMerged) for one in happened),
            conflicts=sum(isinstance(one, TaskConflicted) for one in happened),
            deaths=sum(one.outcome is None for one in left),
            shares=self._shares(run),
        )

    def _shares(self, run: RunId) -> tuple[Share, ...]:
        seats: dict[str, list[Judged | None]] = {}
        for session in self._state.sessions.values():
            lease = self._state.workers.get(session.worker)
            if session.run_id == run and lease is not None and lease.member.seat:
                seats.setdefault(lease.member.seat, []).append(session.judged)
        return tuple(
            Share(
                seat=seat,
                sessions=len(came_to),
                accepted=came_to.count(Judged.ACCEPTED),
                rejected=sum(one in BAD for one in came_to),
            )
            for seat, came_to in sorted(seats.items())
        )

    def begin_iteration(self, run: RunId, limit: int) -> int | None:
        with self._state.transaction():
            begun, uncounted = self._iterations(run)
            if limit and begun - uncounted >= limit:
                return None
            self._state.iterations[run] = (begun + 1, uncounted)
            return begun + 1

    def uncount_iteration(self, run: RunId) -> None:
        with self._state.transaction():
            begun, uncounted = self._iterations(run)
            self._state.iterations[run] = (begun, min(uncounted + 1, begun))

    def _iterations(self, run: RunId) -> tuple[int, int]:
        if run not in self._state.runs:
            raise Missing(f"there is no run {run}")
        return self._state.iterations.get(run, (0, 0))
