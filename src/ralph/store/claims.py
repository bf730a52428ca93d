"""Claims: handing out, keeping and settling tasks, and the order in which they are handed out."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import astuple, replace

from ralph.core.errors import ClaimLost
from ralph.core.events import Event
from ralph.core.graph import Schedule, Steps, chain_lengths
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.json_text import decode
from ralph.core.memory import Memory
from ralph.core.run import AllTasks, OneFeature, Subtree, Target
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.core.times import from_iso, to_iso
from ralph.core.transitions import (
    COUNTED_TRANSITIONS,
    Accepted,
    Claimed,
    Postponed,
    Released,
    Transition,
    event_of_transition,
)
from ralph.core.verdict import AttemptVerdict, attempt_verdict
from ralph.store.database import Database, Part, synced_transaction, transaction
from ralph.store.graph_view import StoredGraph
from ralph.store.memories import Memories
from ralph.store.rows import Row, as_json, task_of, value_of
from ralph.store.runs import WorkerProcess
from ralph.store.tasks import Tasks

Ranks = list[tuple[int, TaskId]]
SCOPES: Final = {AllTasks: "of_all", OneFeature: "of_feature", Subtree: "below"}
"""How the statements for a target are called."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks by status, within a target."""

    pending: int = 0
    in_progress: int = 0
    done: int = 0
    blocked: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.pending + self.in_progress + self.done + self.blocked + self.failed

    @property
    def open(self) -> int:
        return self.pending + self.in_progress + self.blocked


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A task that one worker holds. Settling the task requires its claim."""

    task: Task
    worker: WorkerId
    attempt: int


class StaleClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim whose worker may be dead."""

    task: Task
    owner: WorkerProcess | None
    beat: str
    """When its worker last renewed the lease, by the clock of the store; empty if it never
    joined."""
    lease_s: float
    expired: bool
    """That is longer ago than the lease. It proves nothing: clocks are set, and no worker can renew
    a lease while the database cannot be reached."""


class Claims(Part):
    file = "claims"

    def __init__(self, db: Database, tasks: Tasks, memories: Memories) -> None:
        super().__init__(db)
        self._tasks = tasks
        self._transitions = tasks.transitions
        self._memories = memories

    # Handing out

    def next_ready(self, target: Target, schedule: Schedule) -> Task | None:
        """The task that a claim would get: the first in order that is ready and names no file that
        a task in progress names too."""
        row = self.db.row(self.sql.peek % self._next(target, schedule), _values(target))
        return None if row is None else task_of(row)

    @transaction
    def claim(
        self, worker: WorkerId, run: RunId | None, target: Target, schedule: Schedule
    ) -> Claim | None:
        """Hand one ready task to one worker, never the same task to two, nor at the same time two
        tasks that name the same file. What the worker holds and has begun no session for comes
        first: it never learned of that claim."""
        if (held := self.db.row(self.sql.held, (worker,))) is not None:
            return _claim_of(task_of(held), worker)
        values = (worker, self.db.now(), *_values(target))
        row = self.db.row(self.sql.claim % self._next(target, schedule), values)
        return None if row is None else self._claimed(task_of(row), worker, run)

    @transaction
    def claim_again(self, worker: WorkerId, run: RunId | None, task: TaskId) -> Claim | None:
        """Hand out this very task if it is ready, whatever task uses its files: its work is in the
        worker's checkout already."""
        row = self.db.row(self.sql.claim % self.sql.this_one, (worker, self.db.now(), task))
        return None if row is None else self._claimed(task_of(row), worker, run)

    @transaction
    def take_over(self, stale: StaleClaim, worker: WorkerId) -> Claim:
        """Continue the attempt of a dead worker under the same number. Raises ClaimLost if the task
        is no longer in its hands, or if it has given a sign of life since."""
        task, attempt, holder = stale.task.id, stale.task.attempt, stale.task.claimed_by or ""
        values = {"id": task, "attempt": attempt, "holder": holder, "beat": stale.beat}
        row = self.db.row(self.sql.take_over, values | {"worker": worker, "now": self.db.now()})
        if row is None:
            raise ClaimLost(f"attempt {attempt} of task {task} is over, or {holder} is alive")
        return self._claimed(task_of(row), worker, None)

    def _claimed(self, task: Task, worker: WorkerId, run: RunId | None) -> Claim:
        self.emit(event_of_transition(task, Claimed(worker)), run)
        self._transitions.touch(task.feature_id)
        self.db.execute(self.sql.seen, (task.updated_at, worker))
        return _claim_of(task, worker)

    # Leases

    @transaction
    def heartbeat(self, worker: WorkerId, lease_s: float) -> None:
        """Renew the lease of everything that the worker holds."""
        values = {"id": worker, "lease_s": lease_s, "now": self.db.now()}
        self.db.execute(self.sql.heartbeat, values)

    def holds(self, claim: Claim) -> bool:
        return self.db.row(self.sql.claimed, _key(claim)) is not None

    def require(self, claim: Claim) -> Task:
        """The claimed task as it is now; ClaimLost if the claim is gone."""
        row = self.db.row(self.sql.claimed, _key(claim))
        if row is None:
            raise ClaimLost(f"task {claim.task.id} is no longer held by {claim.worker}")
        return task_of(row)

    def require_writable(self, task: TaskId, claim: Claim | None) -> None:
        """Raise ClaimLost unless the claim is good; without a claim, if a worker holds the task."""
        if claim is not None:
            self.require(claim)
        elif holder := self.db.value(self.sql.holder, (task,)):
            raise ClaimLost(f"task {task} is held by {holder}")

    def is_taken_over(self, claim: Claim) -> bool:
        """Return whether another worker goes on with the attempt. A user who takes the task away
        leaves the record of the session to its worker."""
        return self.db.row(self.sql.taken_over, _key(claim)) is not None

    def stale(self, me: WorkerId, host: str, lease_s: float) -> list[StaleClaim]:
        """Return the claims of other workers that may be dead, the oldest sign of life first:
        those on this host, and those that have not renewed their lease for half of it."""
        late = to_iso(self.db.clock() - lease_s / 2)
        rows = self.db.rows(self.sql.stale, {"me": me, "host": host, "late": late})
        return [self._stale(task_of(row[7:]), row[:5], row[5] or "", row[6] or 0.0) for row in rows]

    def _stale(self, task: Task, owner: Row, beat: str, lease_s: float) -> StaleClaim:
        return StaleClaim(
            task=task,
            owner=value_of(WorkerProcess, owner) if beat else None,
            beat=beat,
            lease_s=lease_s,
            expired=not beat or from_iso(beat) + lease_s <= self.db.clock(),
        )

    # Settling

    @synced_transaction
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
        base: Snapshot | None = None,
    ) -> Task:
        """State change, log line, events, what is to be remembered and the session's last mark, at
        once; then what follows for parents and dependents. ClaimLost if the task is no longer this
        worker's at this attempt.

        A task that got open children in the meantime is given back instead of being done; what was
        accepted of it is not the work of its next attempt. `base`: what refused work is based on
        now.
        """
        view, word = StoredGraph(self.db), attempt_verdict(transition)
        is_accepted = isinstance(transition, Accepted)
        done = self._accept(claim, transition) if isinstance(transition, Accepted) else None
        if done is None:
            view.put(self.require(claim))
            if isinstance(transition, COUNTED_TRANSITIONS) and view.open_children(claim.task.id):
                transition = Released("it was split up: there are open tasks below it")
                word = AttemptVerdict.SPLIT
        for event in events:
            self.emit(event, run)
        if message:
            self._tasks.note(claim.task.id, message)
        for memory in memories:
            self._memories.add(memory, run)
        if done is None:
            steps: Steps = iter([(claim.task.id, transition)])
        else:
            steps = self._transitions.follow(
                view, claim.task, done, transition, fail_fast=fail_fast, run=run
            )
        self._transitions.carry_out(view, steps, fail_fast=fail_fast, run=run)
        if not isinstance(transition, Postponed):
            self._transitions.settle_sessions(claim.task.id, message, word)
        if is_accepted and done is None:
            self.db.execute(self.sql.forget_base, {"id": claim.task.id})
        if base is not None:
            self.db.execute(self.sql.move_base, {"id": claim.task.id, "base": as_json(base)})
        return view.node(claim.task.id)

    def _accept(self, claim: Claim, transition: Accepted) -> Task | None:
        """The short way for most of all settlements: check the claim and change the task in one
        statement, as `advance` does. None if the claim is gone, or a child is open."""
        verified = "passed" if transition.verified else None
        reviewed = "passed" if transition.reviewed else None
        row = self.db.row(self.sql.accept, (verified, reviewed, self.db.now(), *_key(claim)))
        return None if row is None else task_of(row)

    def base(self, task: TaskId) -> Snapshot | None:
        """The checkout as it was when the task was first claimed since it was last done, or since
        its work was taken out of the checkout."""
        base = self.db.value(self.sql.base, {"id": task})
        return None if base is None else decode(base, Snapshot)

    @synced_transaction
    def remember_base(self, task: TaskId, base: Snapshot | None, claim: Claim | None) -> None:
        """Store the snapshot that the task began with, once: later changes are its work. Without a
        claim: of a task that no worker holds, or ClaimLost."""
        self.require_writable(task, claim)
        self.db.execute(self.sql.remember_base, {"id": task, "base": as_json(base)})

    @synced_transaction
    def move_base(self, task: TaskId, base: Snapshot, claim: Claim | None) -> None:
        """Replace the base after others have changed the checkout. Claim: as above."""
        self.require_writable(task, claim)
        self.db.execute(self.sql.move_base, {"id": task, "base": as_json(base)})

    @synced_transaction
    def forget_base(self, task: TaskId, claim: Claim | None) -> None:
        """Its work was taken out of the checkout: no session is left to judge, and the next attempt
        starts afresh. A deleted task has nothing to forget. Claim: as above."""
        self.require_writable(task, claim)
        self.db.execute(self.sql.forget_base, {"id": task})
        self._transitions.settle_sessions(task)

    # Counting

    def counts(self, target: Target) -> Counts:
        sql = self.sql.counts % self.sql[SCOPES[type(target)]]
        return Counts(**dict(self.db.rows(sql, _values(target))))

    def user_counts(self, target: Target) -> Counts:
        """The counts of the tasks that are the user's: of all tasks, without those that plan."""
        counts = self.counts(target)
        if isinstance(target, AllTasks):
            for task in filter(None, map(self._tasks.get, self._tasks.planning())):
                counts = replace(counts, **{task.status: getattr(counts, task.status) - 1})
        return counts

    def has_tasks(self, target: Target) -> bool:
        return bool(self._value(self.sql.has_tasks, target))

    def has_open(self, target: Target) -> bool:
        """Whether any task is not settled, at a cost that does not grow with their number."""
        return bool(self._value(self.sql.has_open, target))

    def has_ready(self, target: Target) -> bool:
        """Return whether any task is ready, including tasks that wait for files."""
        sql = self.sql[f"has_ready_{SCOPES[type(target)]}"]
        return bool(self.db.value(sql, _values(target)))

    def in_progress(self, target: Target) -> int:
        return self._value(self.sql.in_progress, target)

    # The critical path

    def rank_chains(self) -> None:
        """Update the critical-path order if the graph has changed. It is computed between two
        transactions, so that no other process has to wait."""
        ((ranked, graph),) = self.db.rows(self.sql.ranked)
        if ranked != graph:
            self._save_ranks(self._moved_ranks(), graph)

    def _moved_ranks(self) -> Ranks:
        """The tasks whose place has changed, with their new one."""
        left = self.db.rows(self.sql.tasks_left)
        known = {task: chain for task, _, chain, is_open in left if is_open}
        parents = {task: parent for task, parent, _, _ in left if parent is not None}
        later: dict[TaskId, list[TaskId]] = {
            task: [parent] for task, parent in parents.items() if parent in known and task in known
        }
        children: dict[TaskId, list[TaskId]] = {}
        for task, parent in parents.items():
            children.setdefault(parent, []).append(task)
        for blocker, blocked in self.db.rows(self.sql.edges_left):
            if blocker in known:
                waiting = [blocked]
                for task in waiting:
                    waiting.extend(children.get(task, ()))
                later.setdefault(blocker, []).extend(task for task in waiting if task in known)
        lengths = chain_lengths(known, later)
        return [(length, task) for task, length in lengths.items() if length != known[task]]

    @transaction
    def _save_ranks(self, ranks: Ranks, graph: int) -> None:
        self.db.execute_many(self.sql.rank, ranks)
        self.db.execute(self.sql.set_ranked, {"version": graph})

    # The statements for a target

    def _next(self, target: Target, schedule: Schedule) -> str:
        order = "priority" if schedule is Schedule.PRIORITY else "chain"
        return self.sql[f"next_{SCOPES[type(target)]}_by_{order}"]

    def _value(self, sql: str, target: Target) -> int:
        """The only value of a statement about the tasks of a target."""
        return int(self.db.value(sql % self.sql[SCOPES[type(target)]], _values(target)))


def _claim_of(task: Task, worker: WorkerId) -> Claim:
    return Claim(task=task, worker=worker, attempt=task.attempt)


def _key(claim: Claim) -> Row:
    return claim.task.id, claim.worker, claim.attempt


def _values(target: Target) -> Row:
    """The values that the scope of a target takes: its id, if it has one."""
    return astuple(target)[:1]
