"""A model of the store for the property tests: the graph, and who works on it."""

from types import SimpleNamespace

from msgspec.structs import replace

from ralph.core.errors import ClaimLost, Missing
from ralph.core.events import RunStarted
from ralph.core.graph import Schedule, chain_lengths
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.run import Target
from ralph.core.snapshot import Snapshot
from ralph.core.task import OPEN, Task, TaskStatus
from ralph.core.times import to_iso
from ralph.core.transitions import COUNTED_TRANSITIONS, Claimed, Released, Transition
from ralph.ports.clock import Clock
from ralph.store.claims import Claim, StaleClaim
from ralph.store.runs import WorkerProcess
from ralph.store.sessions import Session
from tests.core.graph_model import GraphModel, transaction


class Model(GraphModel):
    """Also claims, leases and sessions."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.leases: dict[WorkerId, tuple[WorkerProcess, float, float]] = {}
        """The process of each, when it was last seen, and how long that is good for."""
        self.claims = self
        self.runs = SimpleNamespace(start=self._start_run, find=lambda run: run)
        self.workers = SimpleNamespace(join=self._join)
        self.sessions = SimpleNamespace(start=self._start_session, end=self._end_session)
        self.ended: dict[tuple[TaskId, int], bool] = {}
        """The sessions by their attempts, and whether they are over."""

    # Claims

    def _start_run(self, event: RunStarted, owner: WorkerProcess, lease_s: float) -> None:
        self._join(event.worker, event.run_id, owner, lease_s)

    def _join(self, worker: WorkerId, _: RunId, owner: WorkerProcess, lease_s: float) -> None:
        self.leases[worker] = (owner, self.clock.now(), lease_s)

    def heartbeat(self, worker: WorkerId, lease_s: float) -> None:
        self.leases[worker] = (self.leases[worker][0], self.clock.now(), lease_s)

    def claim(
        self, worker: WorkerId, _: RunId | None, target: Target, schedule: Schedule
    ) -> Claim | None:
        for held in self.sorted():
            if held.claimed_by == worker and (held.id, held.attempt) not in self.ended:
                return Claim(task=held, worker=worker, attempt=held.attempt)
        task = self.next_ready(target, schedule)
        if task is None:
            return None
        self._move(task.id, Claimed(worker))
        return self._handed(task.id, worker)

    def take_over(self, stale: StaleClaim, worker: WorkerId) -> Claim:
        seen, task = stale.task, stale.task.id
        held = self.nodes.get(task)
        if (
            held is None
            or held.claimed_by is None
            or (held.claimed_by, held.attempt) != (seen.claimed_by, seen.attempt)
            or to_iso(self.leases[held.claimed_by][1]) != stale.beat
        ):
            raise ClaimLost(f"attempt {seen.attempt} of task {task} is over")
        self.nodes[task] = replace(held, claimed_by=worker)
        return self._handed(task, worker)

    def _handed(self, task: TaskId, worker: WorkerId) -> Claim:
        self.heartbeat(worker, self.leases[worker][2])
        return Claim(task=self.nodes[task], worker=worker, attempt=self.nodes[task].attempt)

    def holds(self, claim: Claim) -> bool:
        task = self.nodes.get(claim.task.id)
        return (
            task is not None
            and task.status is TaskStatus.IN_PROGRESS
            and (task.claimed_by, task.attempt) == (claim.worker, claim.attempt)
        )

    def _require(self, claim: Claim) -> None:
        if not self.holds(claim):
            raise ClaimLost(f"task {claim.task.id} is no longer held by {claim.worker}")

    def stale(self, me: WorkerId, host: str, lease_s: float) -> list[StaleClaim]:
        found, now = [], self.clock.now()
        for task in self.sorted():
            if task.claimed_by is not None and task.claimed_by != me:
                owner, seen, good_s = self.leases[task.claimed_by]
                if owner.host == host or seen < now - lease_s / 2:
                    expired = seen + good_s <= now
                    found.append(
                        StaleClaim(
                            task=task,
                            owner=owner,
                            beat=to_iso(seen),
                            lease_s=good_s,
                            expired=expired,
                        )
                    )
        return sorted(found, key=lambda one: one.beat)

    @transaction
    def settle(
        self, claim: Claim, transition: Transition, *, message: str, fail_fast: bool
    ) -> Task:
        self._require(claim)
        if isinstance(transition, COUNTED_TRANSITIONS) and self.open_children(claim.task.id):
            transition = Released("it was split up: there are open tasks below it")
        self._move(claim.task.id, transition, fail_fast=fail_fast)
        return self.nodes[claim.task.id]

    def _start_session(self, session: Session, claim: Claim) -> None:
        self._require(claim)
        if session.before is not None:
            self.bases.setdefault(session.task_id, session.before)
        self.ended[session.task_id, session.attempt] = False

    def _end_session(self, session: Session, claim: Claim, _: object) -> None:
        key = session.task_id, session.attempt
        if key not in self.ended:
            raise Missing(f"there is no session {session.id}")
        task = self.nodes.get(claim.task.id)
        is_taken_over = (
            task is not None
            and task.claimed_by not in (None, claim.worker)
            and task.attempt == claim.attempt
        )
        if self.ended[key] or is_taken_over:
            raise ClaimLost(f"session {session.id} is over for {claim.worker}")
        self.ended[key] = True

    def _check_writer(self, task: TaskId, claim: Claim | None) -> None:
        if claim is not None:
            self._require(claim)
        elif task in self.nodes and self.nodes[task].claimed_by is not None:
            raise ClaimLost(f"task {task} is held")

    def move_base(self, task: TaskId, base: Snapshot, claim: Claim | None) -> None:
        self._check_writer(task, claim)
        if task in self.bases:
            self.bases[task] = base

    def forget_base(self, task: TaskId, claim: Claim | None) -> None:
        self._check_writer(task, claim)
        self.bases.pop(task, None)

    def rank_chains(self) -> None:
        open_ = {task.id for task in self.nodes.values() if task.status in OPEN}
        after = {task: [one for one in self._later(task) if one in open_] for task in open_}
        self.chains = chain_lengths(open_, after)

    def _later(self, task: TaskId) -> list[TaskId]:
        """What can finish only after it: its parent, what it blocks, and all below that."""
        blocked = [one for each in self.dependents(task) for one in self.below(each)]
        parent = self.nodes[task].parent_id
        return [*blocked, *([parent] if parent else [])]
