"""A model of the graph for the property tests: the same answers, computed plainly from all tasks.

The store keeps counters and indexes so that the next task costs the same among a million. The model
keeps only tasks and edges, and looks at all of them for every answer. Both use the rules of `core`.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from types import SimpleNamespace
from typing import Concatenate, ParamSpec, TypeVar

import msgspec
from msgspec.structs import replace

from ralph.core.errors import CycleRefused, IllegalTransition, NoSuchTask
from ralph.core.graph import (
    GraphView,
    Schedule,
    after_blockers_changed,
    after_children_changed,
    closes_cycle,
    follow_ups,
    parent_closes_cycle,
)
from ralph.core.ids import FeatureId, TaskId
from ralph.core.run import AllTasks, Subtree, Target
from ralph.core.snapshot import Snapshot
from ralph.core.task import (
    OPEN,
    Feature,
    FeatureStatus,
    Task,
    TaskDraft,
    TaskEdit,
    TaskStatus,
    TaskType,
    feature_status,
    unique_paths,
    with_touched_files,
)
from ralph.core.transitions import (
    DEFAULT_FAIL_REASON,
    Accepted,
    GaveUp,
    Reset,
    Retried,
    Transition,
    Unblocked,
    advance,
    steps_to_done,
    steps_to_failed,
)
from ralph.ports.clock import Clock
from ralph.store.claims import Counts
from ralph.store.tasks import TaskFilter

P = ParamSpec("P")
T = TypeVar("T")
Moves = Iterable[tuple[TaskId, Transition]]


M = TypeVar("M", bound="GraphModel")


def transaction(
    method: Callable[Concatenate[M, P], T],
) -> Callable[Concatenate[M, P], T]:
    """All of the method or nothing: values are frozen, so copies of the containers are enough."""

    @wraps(method)
    def call(self: M, /, *args: P.args, **kwargs: P.kwargs) -> T:
        before = {name: copy.copy(vars(self)[name]) for name in ("nodes", "edges", "bases")}
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).update(before)
            raise

    return call


def by_priority(task: Task) -> tuple[int, str, str]:
    """Lower numbers first, then the older task."""
    return task.priority, task.created_at, task.id


class GraphModel:
    """Tasks and edges in plain containers; also the `View` that the rules of the graph look at."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.nodes: dict[TaskId, Task] = {}
        self.edges: set[tuple[TaskId, TaskId]] = set()
        self.named: dict[FeatureId, Feature] = {}
        self.bases: dict[TaskId, Snapshot] = {}
        self.chains: dict[TaskId, int] = {}
        # The parts, named as in the store.
        self.tasks = self
        self.features = SimpleNamespace(add=self._add_feature, get=self._feature, all=self._all)

    # The view

    def node(self, task: TaskId) -> Task:
        if task not in self.nodes:
            raise NoSuchTask(f"there is no task {task}")
        return self.nodes[task]

    def children(self, task: TaskId) -> list[TaskId]:
        found = [one for one in self.nodes.values() if one.parent_id == task]
        return [one.id for one in sorted(found, key=by_priority)]

    def blockers(self, task: TaskId) -> list[TaskId]:
        found = [self.nodes[one] for one, blocked in self.edges if blocked == task]
        return [one.id for one in sorted(found, key=by_priority)]

    def dependents(self, task: TaskId) -> list[TaskId]:
        found = [self.nodes[one] for blocker, one in self.edges if blocker == task]
        return [one.id for one in sorted(found, key=by_priority)]

    def open_children(self, task: TaskId) -> int:
        return sum(self.nodes[child].status is not TaskStatus.DONE for child in self.children(task))

    def failed_children(self, task: TaskId) -> int:
        return sum(self.nodes[child].status is TaskStatus.FAILED for child in self.children(task))

    def parents_with_failed_child(self) -> list[TaskId]:
        pending = (task.id for task in self.nodes.values() if task.status is TaskStatus.PENDING)
        return sorted(task for task in pending if self.failed_children(task))

    # Questions

    def sorted(self) -> list[Task]:
        return sorted(self.nodes.values(), key=by_priority)

    def find(self, name: TaskId) -> Task:
        return self.node(name)

    def select(self, which: TaskFilter) -> list[Task]:
        return [task for task in self.sorted() if not which.ready or self.is_ready(task)]

    def blocker_ids(self, tasks: Sequence[TaskId]) -> dict[TaskId, tuple[TaskId, ...]]:
        return {task: tuple(self.blockers(task)) for task in tasks}

    def below(self, root: TaskId) -> list[TaskId]:
        """A task and everything under it, parents before children."""
        found = [self.node(root).id]
        for one in found:
            found.extend(self.children(one))
        return found

    def above(self, task: TaskId) -> Iterator[Task]:
        parent = self.nodes[task].parent_id
        while parent is not None:
            yield self.nodes[parent]
            parent = self.nodes[parent].parent_id

    def is_ready(self, task: Task) -> bool:
        """This is what the counters of the store are compared with."""
        above = list(self.above(task.id))
        return (
            task.status is TaskStatus.PENDING
            and not self.children(task.id)
            and all(
                self.nodes[blocker].status is TaskStatus.DONE
                for waiting in (task, *above)
                for blocker in self.blockers(waiting.id)
            )
            and not any(one.status in (TaskStatus.FAILED, TaskStatus.BLOCKED) for one in above)
        )

    def next_ready(self, target: Target, schedule: Schedule) -> Task | None:
        within = set(self.nodes)
        if isinstance(target, Subtree):
            within = set(self.below(target.task)) if target.task in self.nodes else set()
        busy = {
            file
            for task in self.nodes.values()
            if task.status is TaskStatus.IN_PROGRESS
            for file in task.files
        }
        free = [
            task
            for task in self.select(TaskFilter(ready=True))
            if task.id in within and busy.isdisjoint(task.files)
        ]
        if schedule is Schedule.PRIORITY:
            return min(free, key=by_priority, default=None)
        chains = self.chains
        return min(
            free, key=lambda task: (-chains.get(task.id, 1), *by_priority(task)), default=None
        )

    def counts(self, _: AllTasks) -> Counts:
        statuses = [task.status for task in self.nodes.values()]
        return Counts(**{str(status): statuses.count(status) for status in TaskStatus})

    def has_open(self, _: AllTasks) -> bool:
        return any(task.status in OPEN for task in self.nodes.values())

    def base(self, task: TaskId) -> Snapshot | None:
        return self.bases.get(task)

    # Adding and changing

    @transaction
    def add(self, draft: TaskDraft) -> Task:
        return self._add(draft)

    @transaction
    def add_many(self, drafts: Sequence[TaskDraft]) -> int:
        return len([self._add(draft) for draft in drafts])

    def _add(self, draft: TaskDraft) -> Task:
        assert draft.id is not None
        for name in (draft.parent_id, *draft.blocked_by):
            if name is not None:
                self.node(name)
        feature = draft.feature_id
        if feature is None and draft.parent_id is not None:
            feature = self.node(draft.parent_id).feature_id
        # Age tells the order of tasks, and the ids of the property tests tell the age.
        self.nodes[draft.id] = Task(
            id=draft.id,
            title=draft.title,
            # An import never brings a claim along.
            status=TaskStatus.PENDING if draft.status is TaskStatus.IN_PROGRESS else draft.status,
            feature_id=feature,
            task_type=TaskType.STANDALONE if feature is None else TaskType.FEATURE,
            priority=draft.priority,
            max_retries=draft.max_retries,
            files=unique_paths(draft.files),
            created_at=draft.id,
        )
        if draft.parent_id is not None:
            self._attach(draft.id, draft.parent_id)
        for blocker in draft.blocked_by:
            self._link(blocker, draft.id)
        self._consider(after_children_changed, draft.parent_id)
        return self.nodes[draft.id]

    def _attach(self, task: TaskId, parent: TaskId) -> None:
        self.node(parent)
        if parent_closes_cycle(self, task, parent):
            raise CycleRefused(f"task {task} under {parent} would wait for itself")
        self.nodes[task] = replace(self.nodes[task], parent_id=parent)

    def _link(self, blocker: TaskId, blocked: TaskId) -> bool:
        self.node(blocker)
        self.node(blocked)
        if (blocker, blocked) in self.edges:
            return False
        if closes_cycle(self, blocker, blocked):
            raise CycleRefused(f"task {blocked} would wait for itself by way of {blocker}")
        self.edges.add((blocker, blocked))
        return True

    @transaction
    def link(self, blocker: TaskId, blocked: TaskId) -> None:
        if self._link(blocker, blocked):
            self._consider(after_blockers_changed, blocked)

    @transaction
    def unlink(self, blocker: TaskId, blocked: TaskId) -> bool:
        if (blocker, blocked) not in self.edges:
            return False
        self.edges.discard((blocker, blocked))
        self._consider(after_blockers_changed, blocked)
        return True

    @transaction
    def edit(self, task: TaskId, edit: TaskEdit) -> Task:
        """Change its files or its parent."""
        old = self.node(task)
        if edit.files is not msgspec.UNSET:
            self.nodes[task] = replace(old, files=unique_paths(edit.files))
        parent = edit.parent_id
        if parent is not msgspec.UNSET and parent != old.parent_id:
            # Judged without the old parent: its edges no longer hold.
            self.nodes[task] = replace(old, parent_id=None)
            if parent is not None:
                self._attach(task, parent)
            self._consider(after_children_changed, old.parent_id)
            self._consider(after_children_changed, parent)
            self._consider(after_blockers_changed, task)
        return self.nodes[task]

    def learn_files(self, task: TaskId, paths: Sequence[str]) -> None:
        if task in self.nodes:
            known = self.nodes[task]
            self.nodes[task] = replace(known, files=with_touched_files(known.files, paths))

    @transaction
    def delete(self, task: TaskId) -> list[TaskId]:
        parent, gone = self.node(task).parent_id, self.below(task)
        freed = [one for went in gone for one in self.dependents(went) if one not in gone]
        for one in gone:
            del self.nodes[one]
            self.bases.pop(one, None)
        self.edges = {edge for edge in self.edges if not set(edge) & set(gone)}
        self._consider(after_children_changed, parent)
        for one in freed:
            self._consider(after_blockers_changed, one)
        return gone

    # Features

    def _add_feature(self, name: str) -> Feature:
        self.named[FeatureId(name)] = Feature(id=FeatureId(name), name=name)
        return self.named[FeatureId(name)]

    def _feature(self, name: str) -> Feature | None:
        return self.named.get(FeatureId(name))

    def _all(self) -> list[Feature]:
        return [replace(one, status=self._feature_status(one)) for one in self.named.values()]

    def _feature_status(self, feature: Feature) -> FeatureStatus:
        tasks = [task for task in self.nodes.values() if task.feature_id == feature.id]
        roots = {task.status for task in tasks if task.parent_id is None}
        return feature_status({task.status for task in tasks}, roots, has_plan=False)

    # Moves

    def _move(self, task: TaskId, *steps: Transition, fail_fast: bool = False) -> None:
        self._follow(((task, step) for step in steps), fail_fast=fail_fast)

    def _consider(self, rule: Callable[[GraphView, TaskId], Moves], task: TaskId | None) -> None:
        """Let a rule look at a task after the graph around it has changed."""
        if task is not None:
            self._follow(rule(self, task))

    def _follow(self, moves: Moves, *, fail_fast: bool = False) -> None:
        for task, step in moves:
            before = self.node(task)
            self.nodes[task] = after = advance(before, step)
            if after.status is TaskStatus.DONE:
                self.bases.pop(task, None)
            self._follow(follow_ups(self, before, after, fail_fast=fail_fast), fail_fast=fail_fast)

    @transaction
    def apply(self, task: TaskId, steps: Sequence[Transition]) -> Task:
        self._move(task, *steps)
        return self.nodes[task]

    @transaction
    def force_done(self, task: TaskId) -> Task:
        for node in self._upwards(task):
            if not self.children(node.id):
                self._move(node.id, *steps_to_done(node))
            elif node.status is TaskStatus.IN_PROGRESS:
                self._move(node.id, Accepted())
            elif node.status is TaskStatus.FAILED:
                self._move(node.id, Retried())
        return self.nodes[task]

    @transaction
    def force_failed(self, task: TaskId, reason: str) -> Task:
        for node in self._upwards(task):
            if not self.children(node.id):
                if node.status in OPEN or node.id == task:
                    self._move(node.id, *steps_to_failed(node, reason))
            elif node.status is TaskStatus.IN_PROGRESS:
                self._move(node.id, GaveUp(reason or DEFAULT_FAIL_REASON))
            elif node.status is TaskStatus.BLOCKED:
                self._move(node.id, Unblocked())
        if self.nodes[task].status is not TaskStatus.FAILED:
            raise IllegalTransition(f"task {task} has nothing open below it")
        return self.nodes[task]

    @transaction
    def reset(self, task: TaskId) -> Task:
        for node in self._upwards(task):
            if node != advance(node, Reset()) or node.id in self.bases:
                self._move(node.id, Reset())
        return self.nodes[task]

    @transaction
    def retry(self, task: TaskId) -> Task:
        advance(self.node(task), Retried())
        for node in self._upwards(task):
            if node.status is TaskStatus.FAILED or (
                node.id == task and node.status is TaskStatus.BLOCKED
            ):
                self._move(node.id, Retried())
        return self.nodes[task]

    def _upwards(self, root: TaskId) -> Iterator[Task]:
        """A task and all below it, children first, each as it is when its turn comes."""
        for task in reversed(self.below(root)):
            yield self.nodes[task]
