"""The memory store's graph: tasks, edges, features."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec.structs import replace

from ralph.core import events, ids
from ralph.core.errors import CycleRefused, IllegalTransition, NoSuchTask, UsageError
from ralph.core.graph import closes_cycle, parent_closes_cycle, regrouped, rewired
from ralph.core.ids import FeatureId, TaskId
from ralph.core.lengths import refuse_long_task
from ralph.core.named_files import in_order, learned
from ralph.core.task import OPEN, Draft, Edit, Feature, Status, Task, TaskType
from ralph.core.transitions import (
    UNTOLD,
    Accepted,
    GaveUp,
    Reset,
    Retried,
    Transition,
    Unblocked,
    advance,
    walk_to_done,
    walk_to_failed,
)
from ralph.ports.store import Filter, LogEntry
from ralph.testing.memory_state import State


class MemoryGraph:
    """`Graph` on plain dicts."""

    def __init__(self, state: State) -> None:
        self._state = state

    # Adding, changing, deleting

    def add_task(self, draft: Draft) -> Task:
        with self._state.transaction():
            return self._state.tasks[self._add([draft])[0]]

    def add_many(self, drafts: Sequence[Draft]) -> int:
        with self._state.transaction():
            return len(self._add(drafts))

    def _add(self, drafts: Sequence[Draft]) -> list[TaskId]:
        state = self._state
        for draft in drafts:
            refuse_long_task(draft)
        new = [self._insert(draft) for draft in drafts]
        for draft in drafts:
            for name in (draft.parent_id, *draft.blocked_by):
                if name is not None:
                    state.node(name)
        for task, draft in zip(new, drafts, strict=True):
            if draft.parent_id is not None:
                self._attach(task, draft.parent_id)
        for task in self._parents_first(new):
            self._place(task)
        for task in new:
            state.emit(events.TaskAdded(task=state.tasks[task]))
        for task, draft in zip(new, drafts, strict=True):
            for blocker in draft.blocked_by:
                self._link(blocker, task)
        for task in reversed(list(self._parents_first(new))):
            state.consider(regrouped, state.tasks[task].parent_id)
        return new

    def _insert(self, draft: Draft) -> TaskId:
        """The task by itself; parents and blockers follow when all of a batch are there."""
        state = self._state
        task = draft.id or self._new_id()
        if task in state.tasks:
            raise UsageError(f"task {task} exists already")
        born = state.birth()
        state.tasks[task] = Task(
            id=task,
            title=draft.title,
            description=draft.description,
            # An import never brings a claim along.
            status=Status.PENDING if draft.status is Status.IN_PROGRESS else draft.status,
            feature_id=draft.feature_id,
            priority=draft.priority,
            max_retries=draft.max_retries,
            alias=draft.alias,
            needs_change=draft.needs_change,
            reason=draft.reason,
            files=in_order(draft.files),
            created_at=born,
            updated_at=born,
        )
        return task

    def _new_id(self) -> TaskId:
        while True:
            task = ids.task_id(f"{self._state.next_number():0{ids.SHORTEST}x}")
            if task not in self._state.tasks:
                return task

    def _attach(self, task: TaskId, parent: TaskId) -> None:
        state = self._state
        state.node(parent)
        if parent_closes_cycle(state, task, parent):
            raise CycleRefused(f"task {task} under {parent} would wait for itself")
        state.tasks[task] = replace(state.tasks[task], parent_id=parent)

    def _parents_first(self, tasks: Sequence[TaskId]) -> list[TaskId]:
        return sorted(tasks, key=lambda task: len(list(self._state.above(task))))

    def _place(self, task: TaskId) -> None:
        """Settle which feature a task belongs to."""
        state = self._state
        node = state.tasks[task]
        feature = node.feature_id
        if feature is None and node.parent_id is not None:
            feature = state.tasks[node.parent_id].feature_id
        if feature is not None and feature not in state.features:
            raise NoSuchTask(f"there is no feature {feature}")
        if node.alias is not None and any(
            other.id != task and (other.alias, other.feature_id) == (node.alias, feature)
            for other in state.tasks.values()
        ):
            raise UsageError(f"there is a task {node.alias} already")
        kind = TaskType.FEATURE if feature is not None else TaskType.STANDALONE
        state.tasks[task] = replace(node, feature_id=feature, task_type=kind)

    def edit_task(self, task: TaskId, edit: Edit) -> Task:
        refuse_long_task(edit)
        state = self._state
        with state.transaction():
            old = state.node(task)
            changed = _changes(edit)
            if "files" in changed:
                changed["files"] = in_order(changed["files"])
                edit = replace(edit, files=changed["files"])
            moved = "parent_id" in changed and changed["parent_id"] != old.parent_id
            parent = changed.pop("parent_id", None)
            state.tasks[task] = replace(old, **changed, updated_at=state.now())
            if moved:
                # Judged without the old parent: its edges no longer hold.
                state.tasks[task] = replace(state.tasks[task], parent_id=None)
                if parent is not None:
                    self._attach(task, parent)
            if "feature_id" in changed:
                self._place(task)
                # A task without a feature takes its parent's: the journal tells what came of it.
                edit = replace(edit, feature_id=state.tasks[task].feature_id)
            state.emit(events.TaskEdited(task_id=task, edit=edit))
            if moved:
                state.consider(regrouped, old.parent_id)
                state.consider(regrouped, parent)
                state.consider(rewired, task)
            return state.tasks[task]

    def learn_files(self, task: TaskId, paths: Sequence[str]) -> None:
        known = self._state.tasks.get(task)
        files = learned(known.files, paths) if known is not None else ()
        if known is not None and files != known.files:
            self.edit_task(task, Edit(files=files))

    def delete_task(self, task: TaskId) -> list[TaskId]:
        with self._state.transaction():
            return self._delete(task)

    def _delete(self, task: TaskId) -> list[TaskId]:
        state = self._state
        parent = state.node(task).parent_id
        gone = state.below(task)
        freed = [one for went in gone for one in state.dependents(went) if one not in gone]
        for one in reversed(gone):
            deleted = state.tasks.pop(one)
            state.bases.pop(one, None)
            state.emit(events.TaskDeleted(task_id=one, title=deleted.title))
        state.edges = {edge for edge in state.edges if not set(edge) & set(gone)}
        state.logs = [entry for entry in state.logs if entry.task_id not in gone]
        state.dismissals = {key: one for key, one in state.dismissals.items() if key[0] not in gone}
        state.guidance = {
            number: said for number, said in state.guidance.items() if said.task not in gone
        }
        state.consider(regrouped, parent)
        for one in freed:
            state.consider(rewired, one)
        return gone

    # Looking

    def find(self, name: str) -> Task:
        tasks = self._state.tasks
        if name in tasks:
            return tasks[TaskId(name)]
        called = [task for task in self._state.sorted() if task.alias == name]
        if len(called) > 1:
            which = ", ".join(task.id for task in called)
            raise UsageError(f"{name} is the name of several tasks", hint=f"say which: {which}")
        if not called:
            names = [*tasks, *(task.alias for task in tasks.values() if task.alias)]
            near = get_close_matches(name, names)
            hint = f"did you mean {', '.join(near)}?" if near else "ralph task list --all"
            raise NoSuchTask(f"there is no task {name}", hint=hint)
        return called[0]

    def tasks(self, which: Filter) -> list[Task]:
        state = self._state
        found = [
            task
            for task in state.sorted()
            if (not which.statuses or task.status in which.statuses)
            and (which.feature is None or task.feature_id == which.feature)
            and (which.parent is None or task.parent_id == which.parent)
            and (not which.ready or state.is_ready(task))
        ][which.offset :]
        return found[: which.limit] if which.limit else found

    def subtree(self, root: TaskId | None, limit: int = 0) -> list[Task]:
        state = self._state
        if root is not None:
            state.node(root)
        found: list[Task] = []
        stack = (
            [root] if root else [one.id for one in state.sorted() if one.parent_id is None][::-1]
        )
        while stack:
            found.append(state.tasks[stack.pop()])
            stack.extend(reversed(state.children(found[-1].id)))
        return found[:limit] if limit else found

    def children(self, task: TaskId) -> list[Task]:
        return [self._state.tasks[one] for one in self._state.children(task)]

    def blockers(self, task: TaskId) -> list[Task]:
        found = set(self._state.blockers(task))
        return [one for one in self._state.sorted() if one.id in found]

    def dependents(self, task: TaskId) -> list[Task]:
        found = set(self._state.dependents(task))
        return [one for one in self._state.sorted() if one.id in found]

    def blocker_ids(self, tasks: Sequence[TaskId]) -> dict[TaskId, tuple[TaskId, ...]]:
        return {task: tuple(one.id for one in self.blockers(task)) for task in tasks}

    # Edges

    def link(self, blocker: TaskId, blocked: TaskId) -> None:
        with self._state.transaction():
            if self._link(blocker, blocked):
                self._state.consider(rewired, blocked)

    def _link(self, blocker: TaskId, blocked: TaskId) -> bool:
        state = self._state
        state.node(blocker)
        state.node(blocked)
        if (blocker, blocked) in state.edges:
            return False
        if closes_cycle(state, blocker, blocked):
            raise CycleRefused(f"task {blocked} would wait for itself by way of {blocker}")
        state.edges.add((blocker, blocked))
        state.emit(events.EdgeAdded(blocker_id=blocker, blocked_id=blocked))
        return True

    def unlink(self, blocker: TaskId, blocked: TaskId) -> bool:
        state = self._state
        with state.transaction():
            if (blocker, blocked) not in state.edges:
                return False
            state.edges.discard((blocker, blocked))
            state.emit(events.EdgeRemoved(blocker_id=blocker, blocked_id=blocked))
            state.consider(rewired, blocked)
            return True

    # Status by hand

    def apply(self, task: TaskId, steps: Sequence[Transition]) -> Task:
        state = self._state
        with state.transaction():
            state.node(task)
            for step in steps:
                state.move(task, step)
            return state.tasks[task]

    def force_done(self, task: TaskId) -> Task:
        state = self._state
        with state.transaction():
            for node in self._upwards(task):
                if not state.children(node.id):
                    self._walk(node, walk_to_done(node))
                elif node.status is Status.IN_PROGRESS:
                    state.move(node.id, Accepted())
                elif node.status is Status.FAILED:
                    # It failed in somebody's hands, not by its children: those are done.
                    state.move(node.id, Retried())
            return state.tasks[task]

    def force_failed(self, task: TaskId, reason: str, *, fail_fast: bool = False) -> Task:
        state = self._state
        with state.transaction():
            for node in self._upwards(task):
                if not state.children(node.id):
                    if node.status in OPEN or node.id == task:
                        self._walk(node, walk_to_failed(node, reason), fail_fast=fail_fast)
                elif node.status is Status.IN_PROGRESS:
                    state.move(node.id, GaveUp(reason or UNTOLD), fail_fast=fail_fast)
                elif node.status is Status.BLOCKED:
                    state.move(node.id, Unblocked())
            if state.tasks[task].status is not Status.FAILED:
                raise IllegalTransition(
                    f"task {task} has nothing open below it, so it cannot be failed"
                )
            return state.tasks[task]

    def reset(self, task: TaskId) -> Task:
        state = self._state
        with state.transaction():
            for node in self._upwards(task):
                if node != advance(node, Reset()) or node.id in state.bases:
                    state.move(node.id, Reset())
            return state.tasks[task]

    def retry(self, task: TaskId) -> Task:
        state = self._state
        with state.transaction():
            advance(state.node(task), Retried())
            for node in self._upwards(task):
                if node.status is Status.FAILED or (
                    node.id == task and node.status is Status.BLOCKED
                ):
                    state.move(node.id, Retried())
            return state.tasks[task]

    def _upwards(self, root: TaskId) -> Iterator[Task]:
        """A task and all below it, children first, each as it is when its turn comes."""
        self._state.node(root)
        for task in reversed(self._state.below(root)):
            yield self._state.tasks[task]

    def _walk(self, task: Task, steps: Sequence[Transition], *, fail_fast: bool = False) -> None:
        for step in steps:
            self._state.move(task.id, step, fail_fast=fail_fast)

    # Features and logs

    def add_feature(self, name: str) -> Feature:
        state = self._state
        with state.transaction():
            known = self.feature(name)
            if known is not None:
                return known
            now = state.now()
            made = ids.feature_id(f"{state.next_number():0{ids.SHORTEST}x}")
            state.features[made] = Feature(id=made, name=name, created_at=now, updated_at=now)
            state.emit(events.FeatureAdded(feature=state.features[made]))
            return state.features[made]

    def feature(self, name: str) -> Feature | None:
        features = self._state.features
        named = next((one for one in features.values() if one.name == name), None)
        return named or features.get(FeatureId(name))

    def features(self) -> list[Feature]:
        return list(self._state.features.values())

    def document_feature(
        self, feature: FeatureId, *, spec_path: str | None, plan_path: str | None
    ) -> Feature:
        state = self._state
        with state.transaction():
            old = self._known(feature)
            new = replace(old, spec_path=spec_path, plan_path=plan_path)
            if new != old:
                state.change_feature(replace(new, status=state.feature_status(new)))
            return state.features[feature]

    def delete_feature(self, feature: FeatureId) -> list[TaskId]:
        state = self._state
        with state.transaction():
            known = self._known(feature)
            gone: list[TaskId] = []
            for task in list(state.tasks.values()):
                if task.feature_id == feature and task.id in state.tasks:
                    gone += self._delete(task.id)
            del state.features[feature]
            state.emit(events.FeatureDeleted(feature_id=feature, name=known.name))
            return gone

    def _known(self, feature: FeatureId) -> Feature:
        if feature not in self._state.features:
            raise NoSuchTask(f"there is no feature {feature}")
        return self._state.features[feature]

    def log(self, task: TaskId, message: str) -> None:
        state = self._state
        with state.transaction():
            state.node(task)
            state.logs.append(LogEntry(task_id=task, message=message, timestamp=state.now()))
            state.emit(events.TaskLogged(task_id=task, message=message))

    def logs(self, task: TaskId, limit: int = 0) -> list[LogEntry]:
        found = [entry for entry in self._state.logs if entry.task_id == task]
        return found[-limit:] if limit else found


def _changes(edit: Edit) -> dict[str, Any]:
    values = {name: getattr(edit, name) for name in edit.__struct_fields__}
    return {name: value for name, value in values.items() if value is not msgspec.UNSET}
