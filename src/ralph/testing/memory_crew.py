"""The memory store's crew: who works in a run."""

from ralph.core.errors import Missing
from ralph.core.ids import RunId, WorkerId
from ralph.ports.crew import Member, Owner
from ralph.testing.memory_state import Lease, State


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
