"""Who works on what: handing out, keeping and settling tasks."""

from collections.abc import Sequence

from ralph.adapters.store.crew import CrewPart
from ralph.adapters.store.database import Row
from ralph.adapters.store.moves import Steps
from ralph.adapters.store.part import mark, reading, whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import STATUSES, as_json, owner_of, snapshot_of, task_of
from ralph.adapters.store.view import SqlView
from ralph.core.errors import ClaimLost
from ralph.core.events import Event
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.memory import Memory
from ralph.core.moment import epoch
from ralph.core.moved import event_of
from ralph.core.order import Schedule
from ralph.core.snapshot import Snapshot
from ralph.core.target import Everything, OneFeature, Subtree, Target
from ralph.core.task import Task
from ralph.core.transitions import TRIED, Accepted, Claimed, Postponed, Released, Transition
from ralph.core.tried import Judged, judged
from ralph.ports.claims import Claim, Counts, Stale

SQL = Queries("claims")


class ClaimsPart(CrewPart):
    """`Claims` on the tables `tasks` and `workers`."""

    # Handing out

    @reading
    def next_ready(self, target: Target, schedule: Schedule) -> Task | None:
        """The task that a claim would get."""
        row = self.db.row(SQL.peek % _next(target, schedule), _about(target))
        return None if row is None else task_of(row)

    @whole
    def claim(
        self, worker: WorkerId, run: RunId | None, target: Target, schedule: Schedule
    ) -> Claim | None:
        """Hand one ready task to one worker, never the same task to two."""
        values = (worker, self.now(), *_about(target))
        row = self.db.row(SQL.claim % _next(target, schedule), values)
        return None if row is None else self._handed(task_of(row), worker, run)

    @whole
    def claim_again(self, worker: WorkerId, run: RunId | None, task: TaskId) -> Claim | None:
        """Hand out this very task if it is ready, whoever uses its files."""
        row = self.db.row(SQL.claim % SQL.this_one, (worker, self.now(), task))
        return None if row is None else self._handed(task_of(row), worker, run)

    @whole
    def take_over(self, task: TaskId, attempt: int, worker: WorkerId) -> Claim:
        """Continue a dead worker's attempt under the same number. ClaimLost if it moved on."""
        values = {"id": task, "attempt": attempt, "worker": worker, "now": self.now()}
        row = self.db.row(SQL.take_over, values)
        if row is None:
            raise ClaimLost(f"attempt {attempt} of task {task} is over")
        return self._handed(task_of(row), worker, None)

    def _handed(self, task: Task, worker: WorkerId, run: RunId | None) -> Claim:
        self.emit(event_of(task, Claimed(worker)), run)
        self.touch(task.feature_id)
        self.db.execute(SQL.seen, (task.updated_at, worker))
        return Claim(task=task, worker=worker, attempt=task.attempt)

    # Leases

    @whole
    def heartbeat(self, worker: WorkerId, lease_s: float) -> None:
        """Renew the lease on everything the worker holds."""
        self.db.execute(SQL.heartbeat, {"id": worker, "lease_s": lease_s, "now": self.now()})

    @reading
    def holds(self, claim: Claim) -> bool:
        """Is the claim still this worker's, at this attempt?"""
        return self.db.row(SQL.claimed, _fence(claim)) is not None

    def require(self, claim: Claim) -> Task:
        """The claimed task as it is now; ClaimLost if the claim is gone."""
        row = self.db.row(SQL.claimed, _fence(claim))
        if row is None:
            raise ClaimLost(f"task {claim.task.id} is no longer held by {claim.worker}")
        return task_of(row)

    @reading
    def stale(self, me: WorkerId) -> list[Stale]:
        """Claims of others, with what is needed to judge whether their owners live."""
        return [
            Stale(
                task=task_of(row[7:]),
                owner=owner_of(row[:5]),
                # One who never joined has no lease at all.
                expired=row[5] is None or epoch(row[5]) + row[6] <= self.clock.now(),
                seen=None if row[5] is None else epoch(row[5]),
            )
            for row in self.db.rows(SQL.claims_of_others, {"me": me})
        ]

    # Settling

    @mark
    def settle(
        self,
        claim: Claim,
        transition: Transition,
        *,
        message: str,
        fail_fast: bool,
        run: RunId | None = None,
        events: Sequence[Event] = (),
        memories: Sequence[Memory] = (),
    ) -> Task:
        """State change, log line, events, memories and the session's last mark, at once; then what
        follows for parents and dependents. Fenced by worker and attempt: ClaimLost if not ours."""
        view, word = SqlView(self.db), judged(transition)
        done = self._accept(claim, transition) if isinstance(transition, Accepted) else None
        if done is None:
            view.put(self.require(claim))
            if isinstance(transition, TRIED) and view.open_children(claim.task.id):
                transition = Released("it was split up: there are open tasks below it")
                word = Judged.SPLIT
        for event in events:
            self.emit(event, run)
        if message:
            self.note(claim.task.id, message)
        for memory in memories:
            self.remember(memory, run)
        if done is None:
            steps: Steps = iter([(claim.task.id, transition)])
        else:
            steps = self.told(view, claim.task, done, transition, fail_fast=fail_fast, run=run)
        self.carry_out(view, steps, fail_fast=fail_fast, run=run)
        if not isinstance(transition, Postponed):
            self.settle_sessions(claim.task.id, message, word)
        return view.node(claim.task.id)

    def _accept(self, claim: Claim, transition: Accepted) -> Task | None:
        """The short way for most of all settlements: fence and change in one statement, as
        `advance` has it. None if the claim is gone, or something below the task is open."""
        verified = "passed" if transition.verified else None
        reviewed = "passed" if transition.reviewed else None
        row = self.db.row(SQL.accept, (verified, reviewed, self.now(), *_fence(claim)))
        return None if row is None else task_of(row)

    @reading
    def base(self, task: TaskId) -> Snapshot | None:
        """The checkout as it was when the task was first claimed since it was last done."""
        return snapshot_of(self.db.value(SQL.base, {"id": task}))

    @mark
    def remember_base(self, task: TaskId, base: Snapshot | None) -> None:
        """Keep the checkout that a task begins with, if it has not begun before."""
        self.db.execute(SQL.remember_base, {"id": task, "base": as_json(base)})

    @mark
    def move_base(self, task: TaskId, base: Snapshot) -> None:
        """Others have changed the checkout meanwhile: this is what the task begins with now."""
        self.db.execute(SQL.move_base, {"id": task, "base": as_json(base)})

    @mark
    def forget_base(self, task: TaskId) -> None:
        """Its work was taken out of the checkout: the next attempt starts afresh."""
        self.db.execute(SQL.forget_base, {"id": task})
        self.settle_sessions(task)

    # Counting

    @reading
    def counts(self, target: Target) -> Counts:
        """Tasks by status, within a target."""
        found = self.db.rows(SQL.counts % _scope(target), _about(target))
        return Counts(**{STATUSES[status].value: count for status, count in found})

    @reading
    def has_tasks(self, target: Target) -> bool:
        """Is there any task?"""
        return bool(self.db.value(SQL.has_tasks % _scope(target), _about(target)))

    @reading
    def has_open(self, target: Target) -> bool:
        """Is anything not settled?"""
        return bool(self.db.value(SQL.has_open % _scope(target), _about(target)))

    @reading
    def has_ready(self, target: Target) -> bool:
        """Is anything ready, also what waits for its files?"""
        return bool(self.db.value(_has_ready(target), _about(target)))

    @reading
    def in_progress(self, target: Target) -> int:
        """How many tasks are in somebody's hands?"""
        return int(self.db.value(SQL.in_progress % _scope(target), _about(target)))


def _fence(claim: Claim) -> Row:
    return claim.task.id, claim.worker, claim.attempt


def _next(target: Target, schedule: Schedule) -> str:
    by_priority = schedule is Schedule.PRIORITY
    match target:
        case Everything():
            return SQL.next_of_all_by_priority if by_priority else SQL.next_of_all_by_chain
        case OneFeature():
            return SQL.next_of_feature_by_priority if by_priority else SQL.next_of_feature_by_chain
        case Subtree():
            return SQL.next_below_by_priority if by_priority else SQL.next_below_by_chain


def _has_ready(target: Target) -> str:
    match target:
        case Everything():
            return SQL.has_ready_of_all
        case OneFeature():
            return SQL.has_ready_of_feature
        case Subtree():
            return SQL.has_ready_below


def _scope(target: Target) -> str:
    match target:
        case Everything():
            return SQL.of_all
        case OneFeature():
            return SQL.of_feature
        case Subtree():
            return SQL.below_task


def _about(target: Target) -> Row:
    """What the scope of a target leaves open."""
    match target:
        case Everything():
            return ()
        case OneFeature(feature=feature):
            return (feature,)
        case Subtree(task):
            return (task,)
