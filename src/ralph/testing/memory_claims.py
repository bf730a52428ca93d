"""The memory store's claims: who works on what."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ralph.core.errors import ClaimLost
from ralph.core.events import Event, TaskClaimed
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.memory import Memory
from ralph.core.moved import event_of
from ralph.core.order import Schedule, by_critical_path, by_priority, chain_lengths
from ralph.core.snapshot import Snapshot
from ralph.core.target import Target
from ralph.core.task import OPEN, Status, Task
from ralph.core.transitions import TRIED, Claimed, Postponed, Released, Transition
from ralph.core.tried import Judged, judged
from ralph.ports.claims import Claim, Counts, Stale
from ralph.ports.store import LogEntry
from ralph.testing.memory_memories import remember
from ralph.testing.memory_state import State


class MemoryClaims:
    """`Claims` on plain dicts."""

    def __init__(self, state: State) -> None:
        self._state = state

    def next_ready(self, target: Target, schedule: Schedule) -> Task | None:
        state = self._state
        ready = [
            task for task in state.within(target) if state.is_ready(task) and state.is_free(task)
        ]
        return min(ready, key=self._order(schedule), default=None)

    def _order(self, schedule: Schedule) -> Callable[[Task], tuple[int | str, ...]]:
        chains = self._state.chains
        match schedule:
            case Schedule.PRIORITY:
                return by_priority
            case Schedule.CRITICAL_PATH:
                return lambda task: by_critical_path(task, chains.get(task.id, 1))

    def claim(
        self, worker: WorkerId, run: RunId | None, target: Target, schedule: Schedule
    ) -> Claim | None:
        state = self._state
        with state.transaction():
            task = self.next_ready(target, schedule)
            if task is None:
                return None
            state.move(task.id, Claimed(worker), run=run)
            return self._hand_over(task.id, worker)

    def claim_again(self, worker: WorkerId, run: RunId | None, task: TaskId) -> Claim | None:
        state = self._state
        with state.transaction():
            if task not in state.tasks or not state.is_ready(state.tasks[task]):
                return None
            state.move(task, Claimed(worker), run=run)
            return self._hand_over(task, worker)

    def _hand_over(self, task: TaskId, worker: WorkerId) -> Claim:
        state = self._state
        if worker in state.workers:
            # A claim is a sign of life too.
            state.workers[worker] = replace(state.workers[worker], seen=state.clock.now())
        return Claim(task=state.tasks[task], worker=worker, attempt=state.tasks[task].attempt)

    def heartbeat(self, worker: WorkerId, lease_s: float) -> None:
        state = self._state
        with state.transaction():
            if worker in state.workers:
                state.workers[worker] = replace(
                    state.workers[worker], seen=state.clock.now(), lease_s=lease_s
                )

    def holds(self, claim: Claim) -> bool:
        task = self._state.tasks.get(claim.task.id)
        return (
            task is not None
            and task.status is Status.IN_PROGRESS
            and (task.claimed_by, task.attempt) == (claim.worker, claim.attempt)
        )

    def stale(self, me: WorkerId) -> list[Stale]:
        state = self._state
        found = []
        for task in state.sorted():
            if task.claimed_by is not None and task.claimed_by != me:
                holder = state.workers.get(task.claimed_by)
                # One who never joined has no lease at all.
                expired = holder is None or holder.seen + holder.lease_s <= state.clock.now()
                owner = holder.member.owner if holder else None
                seen = holder.seen if holder else None
                found.append(Stale(task=task, owner=owner, expired=expired, seen=seen))
        return found

    def take_over(self, task: TaskId, attempt: int, worker: WorkerId) -> Claim:
        state = self._state
        with state.transaction():
            held = state.tasks.get(task)
            if held is None or held.status is not Status.IN_PROGRESS or held.attempt != attempt:
                raise ClaimLost(f"attempt {attempt} of task {task} is over")
            state.tasks[task] = replace(held, claimed_by=worker, updated_at=state.now())
            event = event_of(state.tasks[task], Claimed(worker))
            assert isinstance(event, TaskClaimed)
            state.emit(event)
            return self._hand_over(task, worker)

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
        state = self._state
        with state.transaction():
            task, word = claim.task.id, judged(transition)
            self.require(claim)
            if isinstance(transition, TRIED) and state.open_children(task):
                transition = Released("it was split up: there are open tasks below it")
                word = Judged.SPLIT
            for event in events:
                state.emit(event, run)
            if message:
                entry = LogEntry(task_id=task, message=message, timestamp=state.now())
                state.logs.append(entry)
            for memory in memories:
                remember(state, memory, run)
            state.move(task, transition, fail_fast=fail_fast, run=run)
            if not isinstance(transition, Postponed):
                # All of them: one that was judged late belongs to an earlier attempt.
                state.settle_sessions(task, message, word)
            return state.tasks[task]

    def require(self, claim: Claim) -> None:
        """ClaimLost unless the claim holds."""
        if not self.holds(claim):
            raise ClaimLost(f"task {claim.task.id} is no longer held by {claim.worker}")

    def base(self, task: TaskId) -> Snapshot | None:
        return self._state.bases.get(task)

    def remember_base(self, task: TaskId, base: Snapshot | None) -> None:
        with self._state.transaction():
            if base is not None:
                self._state.bases.setdefault(task, base)

    def move_base(self, task: TaskId, base: Snapshot) -> None:
        with self._state.transaction():
            if task in self._state.bases:
                self._state.bases[task] = base

    def forget_base(self, task: TaskId) -> None:
        with self._state.transaction():
            self._state.bases.pop(task, None)
            self._state.settle_sessions(task)

    def counts(self, target: Target) -> Counts:
        statuses = [task.status for task in self._state.within(target)]
        return Counts(**{str(status): statuses.count(status) for status in Status})

    def has_tasks(self, target: Target) -> bool:
        return bool(self._state.within(target))

    def has_open(self, target: Target) -> bool:
        return any(task.status in OPEN for task in self._state.within(target))

    def has_ready(self, target: Target) -> bool:
        return any(self._state.is_ready(task) for task in self._state.within(target))

    def in_progress(self, target: Target) -> int:
        return self.counts(target).in_progress

    def rank_chains(self) -> None:
        state = self._state
        with state.transaction():
            open_ = {task.id for task in state.tasks.values() if task.status in OPEN}
            after = {task: [one for one in self._later(task) if one in open_] for task in open_}
            state.chains = chain_lengths(open_, after)

    def _later(self, task: TaskId) -> list[TaskId]:
        """What can finish only after it: its parent, what it blocks, and all below that."""
        state = self._state
        blocked = [one for each in state.dependents(task) for one in state.below(each)]
        parent = state.tasks[task].parent_id
        return [*blocked, *([parent] if parent else [])]
