"""Adding tasks: one or a hundred thousand, by the same road."""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from ralph.adapters.store import counters
from ralph.adapters.store.batch import Batch, Edge, Known, parents_first
from ralph.adapters.store.cycles import Newcomers, first_cycle
from ralph.adapters.store.lookup import LookupPart
from ralph.adapters.store.part import whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import STATUSES, as_json
from ralph.adapters.store.view import Lines, SqlView
from ralph.core import ids
from ralph.core.errors import CycleRefused, NoSuchTask, UsageError
from ralph.core.events import EdgeAdded, TaskAdded
from ralph.core.graph import closes_cycle, regrouped
from ralph.core.ids import FeatureId, TaskId
from ralph.core.lengths import refuse_long_task
from ralph.core.named_files import in_order
from ralph.core.task import Draft, Status, Task, TaskType

SQL = Queries("graph")


class AddingPart(LookupPart):
    """From drafts to tasks."""

    @whole
    def add_task(self, draft: Draft) -> Task:
        """Add it, pending. Refuses unknown parents and blockers, and cycles. A new child reopens
        a settled parent."""
        return self.task(self._add([draft])[0].id)

    @whole
    def add_many(self, drafts: Sequence[Draft]) -> int:
        """Add all or none. Drafts may name each other as parent or blocker, in any order."""
        return len(self._add(drafts))

    def _add(self, drafts: Sequence[Draft]) -> Sequence[Task]:
        for draft in drafts:
            refuse_long_task(draft)
        born = self._born(drafts)
        edges = _edges(born, drafts)
        known = self._known(born, edges)
        batch = Batch(self.placed(born, known), edges, known)
        self._insert(batch)
        self._refuse_cycles(batch)
        self.emit_all(TaskAdded(task=task) for task in batch.tasks)
        self.emit_all(EdgeAdded(blocker_id=one, blocked_id=other) for one, other in edges)
        self._regroup_parents(batch)
        self.graph_changed()
        for feature in {task.feature_id for task in batch.tasks}:
            self.touch(feature)
        return batch.tasks

    # Making values of them

    def _born(self, drafts: Sequence[Draft]) -> list[Task]:
        """Tasks with ids, and moments of birth that tell their order."""
        given = [draft.id for draft in drafts if draft.id is not None]
        taken = {row[0] for row in self.db.rows(SQL.known, {"ids": as_json(given)})}
        for task in given:
            if task in taken:
                raise UsageError(f"task {task} exists already")
            taken.add(task)
        made = iter(self._new_ids(len(drafts) - len(given), taken))
        return [
            Task(
                id=draft.id or next(made),
                title=draft.title,
                description=draft.description,
                # An import never brings a claim along.
                status=Status.PENDING if draft.status is Status.IN_PROGRESS else draft.status,
                parent_id=draft.parent_id,
                feature_id=draft.feature_id,
                priority=draft.priority,
                max_retries=draft.max_retries,
                alias=draft.alias,
                needs_change=draft.needs_change,
                reason=draft.reason,
                files=in_order(draft.files),
                created_at=moment,
                updated_at=moment,
            )
            for draft, moment in zip(drafts, self._births(len(drafts)), strict=True)
        ]

    def _new_ids(self, count: int, taken: set[TaskId]) -> list[TaskId]:
        """Ids that nobody has: those that collide are made anew, with one digit more."""
        made: list[TaskId] = []
        digits = ids.SHORTEST
        while len(made) < count:
            some = [_random_id(digits) for _ in range(count - len(made))]
            known = {row[0] for row in self.db.rows(SQL.known, {"ids": as_json(some)})}
            fresh = set(some) - known - taken
            taken |= fresh
            made.extend(fresh)
            digits += 1
        return made

    def _births(self, count: int) -> list[str]:
        """Moments later than any other task's, whatever the clock does: age tells their order."""
        step = timedelta(microseconds=1)
        moment = datetime.fromtimestamp(self.clock.now(), UTC)
        last = self.db.value(SQL.last_born)
        if last is not None:
            moment = max(moment, datetime.fromisoformat(last) + step)
        return [
            (moment + number * step).strftime("%Y-%m-%dT%H:%M:%S.%fZ") for number in range(count)
        ]

    def _known(self, new: Sequence[Task], edges: Sequence[Edge]) -> dict[TaskId, Known]:
        """The old tasks that new ones name; NoSuchTask if one of them does not exist."""
        named = {task.parent_id for task in new if task.parent_id is not None}
        named.update(blocker for blocker, _ in edges)
        named.difference_update(task.id for task in new)
        known = {
            task: Known(STATUSES[status], feature, bool(holds))
            for task, status, feature, holds in self.db.rows(
                SQL.known, {"ids": as_json(list(named))}
            )
        }
        for task in sorted(named - known.keys()):
            raise NoSuchTask(f"there is no task {task}")
        return known

    def placed(self, tasks: Sequence[Task], known: dict[TaskId, Known]) -> list[Task]:
        """Settle which feature each belongs to: its own, or its parent's."""
        homes = {task: one.feature for task, one in known.items()}
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
        known = {row[0] for row in self.db.rows(SQL.known_features, {"ids": as_json(list(named))})}
        for feature in sorted(named - known):
            raise NoSuchTask(f"there is no feature {feature}")

    def _refuse_taken_aliases(self, tasks: Sequence[Task]) -> None:
        rows = self.db.rows(SQL.known_aliases, {"ids": as_json([task.alias for task in tasks])})
        taken = {(alias, feature): task for alias, feature, task in rows}
        for task in tasks:
            if taken.setdefault((task.alias, task.feature_id), task.id) != task.id:
                raise UsageError(f"there is a task {task.alias} already")

    # Writing them down

    def _insert(self, batch: Batch) -> None:
        self.db.execute(SQL.parents_later)
        self.db.execute_many(SQL.insert_task, batch.rows())
        self.db.execute_many(SQL.insert_edge, batch.edges)
        self._insert_files(batch.tasks)
        for parent, children in batch.families.items():
            if not batch.is_new(parent):
                counters.joined(self.db, parent, children)

    def _insert_files(self, tasks: Iterable[Task]) -> None:
        named = [(task.id, path) for task in tasks for path in task.files]
        self.db.execute_many(SQL.insert_file, named)

    def _refuse_cycles(self, batch: Batch) -> None:
        """Nothing waits for a task that has just been added, except its parent."""
        if not batch.edges:
            return
        if len(batch.tasks) > 1:
            view = Newcomers(self.db, batch.tasks, batch.edges)
            circle = first_cycle(view, (task.id for task in batch.tasks))
            if circle:
                raise CycleRefused(f"task {circle[0]} would wait for itself{_by_way_of(circle)}")
        elif batch.tasks[0].parent_id is not None:
            for blocker, blocked in batch.edges:
                if closes_cycle(Lines(self.db), blocker, blocked):
                    raise CycleRefused(f"task {blocked} would wait for itself by way of {blocker}")

    def _regroup_parents(self, batch: Batch) -> None:
        """A new child reopens a settled parent; imported ones may settle theirs."""
        imported = any(task.status is not Status.PENDING for task in batch.tasks)
        for parent in reversed(batch.families):
            # Newcomers that are all pending ask nothing of each other.
            if imported or not batch.is_new(parent):
                view = SqlView(self.db)
                self.carry_out(view, regrouped(view, parent))


def _random_id(digits: int) -> TaskId:
    return ids.task_id(os.urandom(digits).hex()[:digits])


def _edges(new: Sequence[Task], drafts: Sequence[Draft]) -> list[Edge]:
    edges = dict.fromkeys(
        (blocker, task.id)
        for task, draft in zip(new, drafts, strict=True)
        for blocker in draft.blocked_by
    )
    for blocker, blocked in edges:
        if blocker == blocked:
            raise CycleRefused(f"task {blocked} would wait for itself")
    return list(edges)


def _by_way_of(circle: Iterable[TaskId]) -> str:
    names = list(dict.fromkeys(circle))[1:6]
    return f" by way of {', '.join(names)}" if names else ""
