"""What the memory store remembers, and the one way in which a task moves there."""

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from ralph.core.breaker import Breaker
from ralph.core.errors import NoSuchTask
from ralph.core.events import Event, FeatureChanged, Recorded
from ralph.core.feature import Work, feature_status
from ralph.core.graph import View, follow_ups
from ralph.core.ids import FeatureId, RunId, SessionId, TaskId, WorkerId
from ralph.core.memory import Memory
from ralph.core.moment import iso
from ralph.core.moved import event_of
from ralph.core.order import by_priority
from ralph.core.review import Dismissal
from ralph.core.snapshot import Snapshot
from ralph.core.target import Everything, OneFeature, Subtree, Target
from ralph.core.task import Feature, FeatureStatus, Status, Task
from ralph.core.transitions import Reset, Transition, advance
from ralph.core.tried import Judged
from ralph.ports.clock import Clock
from ralph.ports.crew import Member, Owner
from ralph.ports.history import Check, Control, Mark, Run, Session
from ralph.ports.papers import Paper
from ralph.ports.stints import Stint
from ralph.ports.store import LogEntry

Moves = Iterable[tuple[TaskId, Transition]]


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that has joined, and how long it is believed to live."""

    member: Member
    seen: float
    """When it last showed a sign of life."""
    lease_s: float
    """How long that is good for."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """Guidance: for a task, or for whichever comes next."""

    task: TaskId | None
    text: str
    new: bool = True


class Archived(msgspec.Struct, frozen=True, kw_only=True):
    """A task that was taken out of the graph."""

    root: TaskId
    task: Task
    logs: tuple[LogEntry, ...]
    blockers: tuple[TaskId, ...]


class State:
    """Everything, in plain containers. Also the `View` that the rules of the graph look at."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.tasks: dict[TaskId, Task] = {}
        self.edges: set[tuple[TaskId, TaskId]] = set()
        self.features: dict[FeatureId, Feature] = {}
        self.logs: list[LogEntry] = []
        self.bases: dict[TaskId, Snapshot] = {}
        self.chains: dict[TaskId, int] = {}
        self.workers: dict[WorkerId, Lease] = {}
        self.runs: dict[RunId, tuple[Run, Owner]] = {}
        self.iterations: dict[RunId, tuple[int, int]] = {}
        """How many have begun, and how many of these do not count."""
        self.sessions: dict[SessionId, Session] = {}
        self.checks: dict[tuple[SessionId, str, int], Check] = {}
        self.dismissals: dict[tuple[TaskId, str], Dismissal] = {}
        self.stints: dict[tuple[SessionId, int], Stint] = {}
        self.limits: list[tuple[str, float]] = []
        """Agents that are out of quota, and until when."""
        self.breakers: dict[str, Breaker] = {}
        self.guidance: dict[int, Said] = {}
        self.controls: list[tuple[RunId, Control]] = []
        self.memories: dict[int, Memory] = {}
        self.papers: dict[str, Paper] = {}
        self.archive: dict[TaskId, Archived] = {}
        self.events: list[Recorded] = []
        self.made = 0
        """How many ids have been made, for tasks, features, guidance and controls alike."""
        self.youngest = 0.0
        """When the last task was made."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing: values are frozen, so copies of the containers are enough."""
        before = {name: copy.copy(value) for name, value in vars(self).items() if name != "clock"}
        try:
            yield
            self._follow_features()
        except BaseException:
            vars(self).update(before)
            raise

    # The view

    def node(self, task: TaskId) -> Task:
        if task not in self.tasks:
            raise NoSuchTask(f"there is no task {task}")
        return self.tasks[task]

    def children(self, task: TaskId) -> list[TaskId]:
        found = [one for one in self.tasks.values() if one.parent_id == task]
        return [one.id for one in sorted(found, key=by_priority)]

    def blockers(self, task: TaskId) -> list[TaskId]:
        return [blocker for blocker, blocked in sorted(self.edges) if blocked == task]

    def dependents(self, task: TaskId) -> list[TaskId]:
        return [blocked for blocker, blocked in sorted(self.edges) if blocker == task]

    def open_children(self, task: TaskId) -> int:
        return sum(self.tasks[child].status is not Status.DONE for child in self.children(task))

    def failed_children(self, task: TaskId) -> int:
        return sum(self.tasks[child].status is Status.FAILED for child in self.children(task))

    def doubtful_parents(self) -> list[TaskId]:
        return sorted(
            task.id
            for task in self.tasks.values()
            if task.status is Status.PENDING and self.failed_children(task.id)
        )

    # Questions

    def sorted(self) -> list[Task]:
        return sorted(self.tasks.values(), key=by_priority)

    def below(self, root: TaskId) -> list[TaskId]:
        """A task and everything under it, level by level."""
        found, level = [root], {root}
        while level:
            deeper = [one for one in self.sorted() if one.parent_id in level]
            level = {one.id for one in deeper}
            found += [one.id for one in deeper]
        return found

    def above(self, task: TaskId) -> Iterator[Task]:
        parent = self.tasks[task].parent_id
        while parent is not None:
            yield self.tasks[parent]
            parent = self.tasks[parent].parent_id

    def is_ready(self, task: Task) -> bool:
        """Told plainly: this is what the counters of the other store are measured against."""
        above = list(self.above(task.id))
        return (
            task.status is Status.PENDING
            and not self.children(task.id)
            and all(
                self.tasks[blocker].status is Status.DONE
                for waiting in (task, *above)
                for blocker in self.blockers(waiting.id)
            )
            and not any(one.status in (Status.FAILED, Status.BLOCKED) for one in above)
        )

    def is_free(self, task: Task) -> bool:
        """Nothing in progress names a file of it."""
        busy = [one for one in self.tasks.values() if one.status is Status.IN_PROGRESS]
        return all(set(task.files).isdisjoint(one.files) for one in busy)

    def within(self, target: Target) -> list[Task]:
        match target:
            case Everything():
                return self.sorted()
            case OneFeature(feature=feature):
                return [task for task in self.sorted() if task.feature_id == feature]
            case Subtree(root):
                inside = set(self.below(root)) if root in self.tasks else set()
                return [task for task in self.sorted() if task.id in inside]

    # Changes

    def now(self) -> str:
        return iso(self.clock.now())

    def birth(self) -> str:
        """A moment for a new task: later than any other's, so that age tells their order."""
        self.youngest = max(self.clock.now(), self.youngest + 1e-6)
        return iso(self.youngest)

    def next_number(self) -> int:
        self.made += 1
        return self.made

    def emit(self, event: Event, run: RunId | None = None) -> None:
        self.events.append(
            Recorded(seq=len(self.events) + 1, time=self.now(), run_id=run, event=event)
        )

    def move(
        self,
        task: TaskId,
        transition: Transition,
        *,
        fail_fast: bool = False,
        run: RunId | None = None,
    ) -> None:
        """Take a task one step, then whatever follows from it, depth first."""
        self.follow(iter([(task, transition)]), fail_fast=fail_fast, run=run)

    def follow(
        self, moves: Iterator[tuple[TaskId, Transition]], *, fail_fast: bool, run: RunId | None
    ) -> None:
        # A stack instead of recursion: chains of parents may be longer than Python's stack.
        stack = [moves]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                continue
            before = self.node(step[0])
            after = replace(advance(before, step[1]), updated_at=self.now())
            self._put(after, step[1])
            self.emit(event_of(after, step[1]), run)
            stack.append(follow_ups(self, before, after, fail_fast=fail_fast))

    def _follow_features(self) -> None:
        for feature in list(self.features.values()):
            status = self.feature_status(feature)
            if status is not feature.status:
                self.change_feature(replace(feature, status=status))

    def feature_status(self, feature: Feature) -> FeatureStatus:
        tasks = [task for task in self.tasks.values() if task.feature_id == feature.id]
        kinds = {task.status.value: True for task in tasks}
        top = {task.status for task in tasks if task.parent_id is None}
        work = Work(
            **kinds,
            top_open=not top.isdisjoint({Status.PENDING, Status.IN_PROGRESS}),
            top_blocked=Status.BLOCKED in top,
            top_failed=Status.FAILED in top,
        )
        return feature_status(work, has_plan=feature.plan_path is not None)

    def change_feature(self, feature: Feature) -> None:
        changed = replace(feature, updated_at=self.now())
        self.features[feature.id] = changed
        self.emit(FeatureChanged(feature=changed))

    def consider(self, rule: Callable[[View, TaskId], Moves], task: TaskId | None) -> None:
        """Let a rule look at a task after the graph around it has changed."""
        if task is not None:
            self.follow(iter(rule(self, task)), fail_fast=False, run=None)

    def _put(self, task: Task, transition: Transition) -> None:
        self.tasks[task.id] = task
        if task.status is Status.DONE:
            self.bases.pop(task.id, None)
        if isinstance(transition, Reset):
            # Back to the beginning: what an earlier session claimed is not judged any more.
            self.settle_sessions(task.id)

    def settle_sessions(
        self, task: TaskId, verdict: str = "", judged: Judged | None = None
    ) -> None:
        """Leave the last mark, and what was decided, on every open session of a task."""
        for session in self.sessions.values():
            if session.task_id == task and session.mark is not Mark.SETTLED:
                self.sessions[session.id] = replace(
                    session, mark=Mark.SETTLED, verdict=verdict, judged=judged
                )
