"""Adding tasks: one or a hundred thousand, in the same way."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import msgspec
from msgspec.structs import asdict, replace

from ralph.core import ids
from ralph.core.errors import CycleRefused, NoSuchTask, UsageError
from ralph.core.events import EdgeAdded, TaskAdded
from ralph.core.graph import closes_cycle, find_cycle, later_moments
from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import Task, TaskDraft, TaskStatus, TaskType, refuse_long_task, unique_paths
from ralph.store.database import Database, Part
from ralph.store.graph_view import StoredLines
from ralph.store.rows import as_json
from ralph.store.transitions import TaskTransitions

Edge = tuple[TaskId, TaskId]
"""Blocker, blocked."""


class TaskAdder(Part):
    """Makes tasks of drafts. Every method belongs to the transaction of its caller."""

    file = "task_adding"

    def __init__(self, db: Database, transitions: TaskTransitions) -> None:
        super().__init__(db)
        self._transitions = transitions

    def add(self, drafts: Sequence[TaskDraft]) -> list[Task]:
        """Add all or none. Drafts may name each other as parent or blocker, in any order."""
        for draft in drafts:
            refuse_long_task(draft)
        tasks = self._made_of(drafts)
        edges: dict[Edge, None] = {}
        for task, draft in zip(tasks, drafts, strict=True):
            if task.id in draft.blocked_by:
                raise CycleRefused(f"task {task.name} would wait for itself")
            edges |= dict.fromkeys((blocker, task.id) for blocker in draft.blocked_by)
        self.insert(tasks, list(edges))
        return tasks

    def insert(self, tasks: Sequence[Task], edges: Sequence[Edge]) -> None:
        """Insert tasks and the edges to them, with all that follows for the graph."""
        placed = self._placed(tasks, self._known_features(tasks, edges))
        self.db.execute(self.sql.parents_later)
        self.db.execute_many(self.sql.insert_task, map(_columns, placed))
        self.db.execute_many(self.sql.insert_edge, edges)
        self.insert_files(tasks)
        new = {task.id for task in placed}
        families: dict[TaskId, list[TaskStatus]] = {}
        for task in placed:
            if task.parent_id is not None:
                families.setdefault(task.parent_id, []).append(task.status)
        counters = self._transitions.counters
        for parent in families.keys() - new:
            counters.joined(parent, families[parent])
        # The counters of the others are zero.
        counters.recount((families.keys() & new) | {blocked for _, blocked in edges})
        counters.rehold(families.keys() & new)
        self._refuse_cycles(placed, edges)
        self.emit_all(TaskAdded(task=task) for task in placed)
        self.emit_all(EdgeAdded(blocker_id=one, blocked_id=other) for one, other in edges)
        # A new child reopens a settled parent; imported ones may settle theirs.
        is_import = any(task.status is not TaskStatus.PENDING for task in placed)
        for parent in reversed(families):
            # New tasks that are all pending ask nothing of each other.
            if is_import or parent not in new:
                self._transitions.regroup(parent)
        self._transitions.graph_changed()
        for feature in {task.feature_id for task in placed}:
            self._transitions.touch(feature)

    def insert_files(self, tasks: Iterable[Task]) -> None:
        named = [(task.id, path) for task in tasks for path in task.files]
        self.db.execute_many(self.sql.insert_file, named)

    def placed(self, task: Task) -> Task:
        """The task in its feature: its own, or its parent's."""
        return self._placed([task], self._known_features([task], []))[0]

    # New values

    def _made_of(self, drafts: Sequence[TaskDraft]) -> list[Task]:
        """Tasks with ids, and with birth times that tell their order."""
        given = [draft.id for draft in drafts if draft.id is not None]
        taken = self._stored(given)
        for task in given:
            if task in taken:
                raise UsageError(f"task {task} exists already")
            taken.add(task)
        made = iter(self._new_ids(len(drafts) - len(given), taken))
        tasks = []
        for draft, moment in zip(drafts, self._births(len(drafts)), strict=True):
            fields = asdict(draft) | {"id": next(made) if draft.id is None else draft.id}
            del fields["blocked_by"]
            if draft.status is TaskStatus.IN_PROGRESS:
                # An import never brings a claim along.
                fields["status"] = TaskStatus.PENDING
            fields["files"] = unique_paths(draft.files)
            tasks.append(Task(**fields, created_at=moment, updated_at=moment))
        return tasks

    def _stored(self, tasks: Sequence[TaskId]) -> set[TaskId]:
        return {row[0] for row in self.db.rows(self.sql.known, {"ids": as_json(tasks)})}

    def _new_ids(self, count: int, taken: set[TaskId]) -> list[TaskId]:
        """Ids that no task has: those that collide are replaced by longer ones."""
        made: list[TaskId] = []
        digits = ids.MIN_ID_DIGITS
        while len(made) < count:
            left = range(count - len(made))
            some = [ids.task_id(os.urandom(digits).hex()[:digits]) for _ in left]
            fresh = set(some) - self._stored(some) - taken
            taken |= fresh
            made.extend(fresh)
            digits += 1
        return made

    def _births(self, count: int) -> list[str]:
        """Times later than any other task's, whatever the clock does: age tells their order."""
        step = timedelta(microseconds=1)
        moment = datetime.fromtimestamp(self.db.clock(), UTC)
        last = self.db.value(self.sql.last_born)
        if last is not None:
            moment = max(moment, datetime.fromisoformat(last) + step)
        moment = moment.replace(tzinfo=None)
        times = (moment + number * step for number in range(count))
        return [f"{time.isoformat(timespec='microseconds')}Z" for time in times]

    def _known_features(
        self, new: Sequence[Task], edges: Sequence[Edge]
    ) -> dict[TaskId, FeatureId | None]:
        """The stored tasks' features that new ones name; NoSuchTask if one is missing."""
        named = {task.parent_id for task in new if task.parent_id is not None}
        named.update(blocker for blocker, _ in edges)
        named.difference_update(task.id for task in new)
        known: dict[TaskId, FeatureId | None] = dict(
            self.db.rows(self.sql.known, {"ids": as_json(list(named))})
        )
        for task in sorted(named - known.keys()):
            raise NoSuchTask(f"there is no task {task}")
        return known

    def _placed(
        self, tasks: Sequence[Task], known: Mapping[TaskId, FeatureId | None]
    ) -> list[Task]:
        homes = dict(known)
        for task in parents_first(tasks):
            above = homes[task.parent_id] if task.parent_id is not None else None
            homes[task.id] = task.feature_id or above
        placed = [
            replace(
                task,
                feature_id=homes[task.id],
                task_type=TaskType.FEATURE if homes[task.id] else TaskType.STANDALONE,
            )
            for task in tasks
        ]
        self._require_features({task.feature_id for task in placed if task.feature_id is not None})
        self._refuse_taken_aliases([task for task in placed if task.alias is not None])
        return placed

    def _require_features(self, named: set[FeatureId]) -> None:
        rows = self.db.rows(self.sql.known_features, {"ids": as_json(list(named))})
        for feature in sorted(named - {row[0] for row in rows}):
            raise NoSuchTask(f"there is no feature {feature}")

    def _refuse_taken_aliases(self, tasks: Sequence[Task]) -> None:
        aliases = as_json([task.alias for task in tasks])
        rows = self.db.rows(self.sql.known_aliases, {"ids": aliases})
        taken = {(alias, feature): task for alias, feature, task in rows}
        for task in tasks:
            if taken.setdefault((task.alias, task.feature_id), task.id) != task.id:
                raise UsageError(f"there is a task {task.alias} already")

    # What follows

    def _refuse_cycles(self, tasks: Sequence[Task], edges: Sequence[Edge]) -> None:
        if not edges:
            return
        if len(tasks) > 1:
            lines = StoredLines(self.db, tasks, edges)
            starts = [(task.id, False) for task in tasks]
            if circle := [task for task, _ in find_cycle(starts, partial(later_moments, lines))]:
                first, *others = [lines.node(task).name for task in dict.fromkeys(circle)][:6]
                way = f" by way of {', '.join(others)}" if others else ""
                raise CycleRefused(f"task {first} would wait for itself{way}")
        elif tasks[0].parent_id is not None:
            # Nothing waits for a task that has just been added, except its parent.
            for blocker, blocked in edges:
                if closes_cycle(StoredLines(self.db), blocker, blocked):
                    raise CycleRefused(f"task {blocked} would wait for itself by way of {blocker}")


def _columns(task: Task) -> tuple[object, ...]:
    """The columns of a task, in the order of `insert_task`."""
    columns = msgspec.to_builtins(task)
    del columns["files"]
    return tuple(columns.values())


def parents_first(tasks: Sequence[Task]) -> list[Task]:
    """Each after its parent, where that is among them. CycleRefused if one contains itself."""
    named = {task.id: task for task in tasks}
    ordered: dict[TaskId, Task] = {}
    for task in tasks:
        path: dict[TaskId, Task] = {}
        above: Task | None = task
        while above is not None and above.id not in ordered:
            if above.id in path:
                raise CycleRefused(f"task {above.name} would be below itself")
            path[above.id] = above
            above = named.get(above.parent_id) if above.parent_id is not None else None
        ordered.update(reversed(path.items()))
    return list(ordered.values())
