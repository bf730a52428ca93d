"""Tasks and edges: finding, adding, changing and deleting them, and moving them by hand."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import asdict, replace

from ralph.core.errors import CycleRefused, IllegalTransition, NoSuchTask, UsageError
from ralph.core.events import EdgeAdded, EdgeRemoved, TaskDeleted, TaskEdited, TaskLogged
from ralph.core.graph import after_blockers_changed, closes_cycle, parent_closes_cycle
from ralph.core.ids import FeatureId, TaskId
from ralph.core.run import AllTasks, OneFeature, Subtree, Target
from ralph.core.task import (
    OPEN,
    Task,
    TaskDraft,
    TaskEdit,
    TaskStatus,
    refuse_long_task,
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
from ralph.store.database import Database, Part, transaction
from ralph.store.documents import DocumentSnapshots
from ralph.store.graph_view import StoredGraph, StoredLines
from ralph.store.rows import as_json, columns_of, conjunction, task_of
from ralph.store.task_adding import TaskAdder
from ralph.store.transitions import TaskTransitions

LONGEST_NAME = 200
"""Letters of a mistyped name that are compared with others."""
PLANNING = "errands"
"""The key under which the commands of planning tasks are kept."""


class TaskFilter(msgspec.Struct, frozen=True, kw_only=True):
    statuses: frozenset[TaskStatus] = frozenset()
    feature: FeatureId | None = None
    parent: TaskId | None = None
    without: frozenset[TaskId] = frozenset()
    ready: bool = False
    limit: int = 0
    offset: int = 0


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    task_id: TaskId
    message: str
    timestamp: str


class Tasks(Part):
    file = "tasks"

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.transitions = TaskTransitions(db)
        self.adder = TaskAdder(db, self.transitions)
        self.documents = DocumentSnapshots(db)

    def planning(self) -> dict[TaskId, str]:
        """The tasks that prepare others, such as writing a spec, each with its command. Lists and
        counts of the user's tasks leave them out."""
        return self.documents.value(PLANNING, dict[TaskId, str]) or {}

    def set_planning(self, commands: Mapping[TaskId, str]) -> None:
        self.documents.save_value(PLANNING, commands)

    # Lookups

    def get(self, task: TaskId) -> Task | None:
        """The task of that id; None if there is none, or none any more."""
        row = self.db.row(self.sql.one_task, (task,))
        return None if row is None else task_of(row)

    def may_go_on(self, task: TaskId) -> bool:
        """Return whether it exists and is pending or in progress."""
        found = self.get(task)
        return found is not None and found.status in (TaskStatus.PENDING, TaskStatus.IN_PROGRESS)

    def find(self, name: str) -> Task:
        """By id or alias; otherwise NoSuchTask with near matches in the hint."""
        if (task := self.get(TaskId(name))) is not None:
            return task
        called = self.tasks_of(self.sql.by_alias, {"alias": name})
        if len(called) > 1:
            which = ", ".join(task.id for task in called)
            raise UsageError(f"{name} is the name of several tasks", hint=f"say which: {which}")
        if not called:
            from difflib import get_close_matches

            start = {"id": f"t-{name.removeprefix('t-')[:3]}", "alias": name[:3]}
            names = [row[0] for row in self.db.rows(self.sql.names_from, start)]
            near = [one for one in names if one.startswith((name, f"t-{name}"))][:3]
            near = near or get_close_matches(name[:LONGEST_NAME], names)
            hint = f"did you mean {', '.join(near)}?" if near else "ralph task list --all"
            raise NoSuchTask(f"there is no task {name}", hint=hint)
        return called[0]

    def select(self, which: TaskFilter) -> list[Task]:
        """By priority, then age."""
        conditions = conjunction(
            {
                self.sql.ready: which.ready,
                self.sql.with_status: which.statuses,
                self.sql.with_feature: which.feature,
                self.sql.with_parent: which.parent,
                self.sql.without: which.without,
            }
        )
        values = asdict(which)
        values["statuses"] = as_json(sorted(which.statuses))
        values["without"] = as_json(sorted(which.without))
        values["limit"] = self.db.limit(which.limit)
        return self.tasks_of(self.sql.listed_tasks % conditions, values)

    def ready(self, target: Target, limit: int) -> list[Task]:
        """The first ready tasks of a target, in the order of their turn."""
        match target:
            case AllTasks():
                return self.select(TaskFilter(ready=True, limit=limit))
            case OneFeature(feature):
                return self.select(TaskFilter(ready=True, feature=feature, limit=limit))
            case Subtree(root):
                inside = {one.id for one in self.subtree(root)}
                ready = self.select(TaskFilter(ready=True))
                return [one for one in ready if one.id in inside][:limit]

    def after(self, number: int, limit: int) -> list[tuple[int, Task]]:
        """The tasks after a number, in the order in which they were added, each with its number:
        for reading all tasks page by page."""
        rows = self.db.rows(self.sql.tasks_after, {"number": number, "limit": limit})
        return [(int(row[0]), task_of(row[1:])) for row in rows]

    def subtree(self, root: TaskId | None, limit: int = 0) -> list[Task]:
        """A task and everything below it (or all), parents before children."""
        if root is not None:
            self.task(root)
        start = self.sql.from_the_top if root is None else self.sql.from_root
        return self.tasks_of(self.sql.tree % start, {"root": root, "limit": self.db.limit(limit)})

    def children(self, task: TaskId, limit: int = 0) -> list[Task]:
        return self.tasks_of(self.sql.children, {"id": task, "limit": self.db.limit(limit)})

    def blockers(self, task: TaskId, limit: int = 0) -> list[Task]:
        return self.tasks_of(self.sql.blockers, {"id": task, "limit": self.db.limit(limit)})

    def dependents(self, task: TaskId, limit: int = 0) -> list[Task]:
        return self.tasks_of(self.sql.dependents, {"id": task, "limit": self.db.limit(limit)})

    def blocker_ids(self, tasks: Sequence[TaskId]) -> dict[TaskId, tuple[TaskId, ...]]:
        """The blockers of many tasks at once, for lists."""
        found: dict[TaskId, list[TaskId]] = {task: [] for task in tasks}
        for blocked, blocker in self.db.rows(self.sql.blocker_ids, {"ids": as_json(list(tasks))}):
            found[blocked].append(blocker)
        return {task: tuple(blockers) for task, blockers in found.items()}

    def names_of(self, tasks: Sequence[TaskId]) -> dict[TaskId, str]:
        """An unambiguous name for each task: its alias, unless another task has the same."""
        return dict(self.db.rows(self.sql.names_of, {"ids": as_json(list(tasks))}))

    # Logs

    @transaction
    def log(self, task: TaskId, message: str) -> None:
        self.task(task)
        self.note(task, message)
        self.emit(TaskLogged(task_id=task, message=message))

    def note(self, task: TaskId, message: str) -> None:
        """Add a line to a task's log within a transaction, without an event of its own."""
        self.db.execute(self.sql.add_log, (task, message, self.db.now()))

    def logs(self, task: TaskId, limit: int = 0) -> list[LogEntry]:
        """Oldest first; with a limit the newest of them."""
        return self.values(LogEntry, self.sql.logs, (task, self.db.limit(limit)))[::-1]

    # Adding

    @transaction
    def add(self, draft: TaskDraft) -> Task:
        """Add it, pending. Refuses unknown names and cycles; reopens a settled parent."""
        return self.task(self.adder.add([draft])[0].id)

    @transaction
    def add_many(self, drafts: Sequence[TaskDraft]) -> int:
        """Add all or none. Drafts may name each other as parent or blocker, in any order."""
        return len(self.adder.add(drafts))

    # Edges

    @transaction
    def link(self, blocker: TaskId, blocked: TaskId) -> None:
        """Add an edge, unless it exists. CycleRefused if something would wait for itself."""
        first, second = self.task(blocker), self.task(blocked)
        edge = {"blocker": blocker, "blocked": blocked}
        if self.db.row(self.sql.edge, edge) is not None:
            return
        if closes_cycle(StoredLines(self.db), blocker, blocked):
            raise CycleRefused(
                f"task {blocked} would wait for itself by way of {blocker}",
                hint=f"ralph task deps list {blocker} shows what it waits for",
            )
        self.db.execute(self.sql.insert_edge, (blocker, blocked))
        self.transitions.counters.linked(first, second.id, 1)
        self.emit(EdgeAdded(blocker_id=blocker, blocked_id=blocked))
        self._rewired(blocked)

    @transaction
    def unlink(self, blocker: TaskId, blocked: TaskId) -> bool:
        """Remove an edge. False if there was none."""
        edge = {"blocker": blocker, "blocked": blocked}
        if self.db.execute(self.sql.remove_edge, edge) == 0:
            return False
        self.transitions.counters.linked(self.task(blocker), blocked, -1)
        self.emit(EdgeRemoved(blocker_id=blocker, blocked_id=blocked))
        self._rewired(blocked)
        return True

    def _rewired(self, *tasks: TaskId) -> None:
        self.transitions.graph_changed()
        # What follows is looked for in all that waits for them, which may be nearly everything;
        # where nothing is stuck there is nothing to find.
        if self.db.value(self.sql.any_stuck):
            for task in tasks:
                view = StoredGraph(self.db)
                self.transitions.carry_out(view, after_blockers_changed(view, task))

    def _regrouped(self, *parents: TaskId | None) -> None:
        self.transitions.graph_changed()
        for parent in parents:
            if parent is not None:
                self.transitions.regroup(parent)

    # Tasks

    @transaction
    def edit(self, task: TaskId, edit: TaskEdit) -> Task:
        """Change what a user may change about a task."""
        refuse_long_task(edit)
        old = self.task(task)
        changed = {name: new for name, new in asdict(edit).items() if new is not msgspec.UNSET}
        if "files" in changed:
            changed["files"] = unique_paths(changed["files"])
            edit = replace(edit, files=changed["files"])
        new = replace(old, **changed)
        if new.parent_id != old.parent_id:
            self._move_under(old, new.parent_id)
            self.transitions.touch(old.feature_id)
        if "feature_id" in changed:
            new = self.adder.placed(new)
            # Without a feature it takes its parent's: the event says which.
            edit = replace(edit, feature_id=new.feature_id)
            self.transitions.touch(old.feature_id)
            self.transitions.touch(new.feature_id)
        self.db.execute(self.sql.edit, columns_of(new) | {"now": self.db.now()})
        if new.files != old.files:
            self.db.execute(self.sql.delete_files, (task,))
            self.adder.insert_files([new])
        self.emit(TaskEdited(task_id=task, edit=edit))
        if new.parent_id != old.parent_id:
            self._regrouped(old.parent_id, new.parent_id)
            self._rewired(task)
        return self.task(task)

    @transaction
    def learn_files(self, task: TaskId, paths: Sequence[str]) -> None:
        """Add the files that a session touched to those that the task names, up to a limit. A
        deleted task is ignored."""
        known = self.get(task)
        files = with_touched_files(known.files, paths) if known is not None else ()
        if known is not None and files != known.files:
            self.edit(task, TaskEdit(files=files))

    def _move_under(self, task: Task, parent: TaskId | None) -> None:
        # Judged without the old parent: its edges no longer hold.
        self.db.execute(self.sql.orphan, {"id": task.id})
        if task.parent_id is not None:
            self.transitions.counters.left(task.parent_id, task.status)
        if parent is not None:
            self.task(parent)
            if parent_closes_cycle(StoredLines(self.db), task.id, parent):
                raise CycleRefused(f"task {task.id} under {parent} would wait for itself")
            self.db.execute(self.sql.adopt, {"id": task.id, "parent": parent})
            self.transitions.counters.joined(parent, [task.status])
        self.transitions.counters.rehold([task.id])

    @transaction
    def delete(self, task: TaskId) -> list[TaskId]:
        """Delete it, everything below it and their edges; return the deleted ids."""
        top = self.task(task)
        gone = self.transitions.below(task)
        listed = {"ids": as_json(gone)}
        freed = [row[0] for row in self.db.rows(self.sql.waiting_outside, listed)]
        titles: dict[TaskId, str] = dict(self.db.rows(self.sql.titles, listed))
        for row in self.db.rows(self.sql.features_of, listed):
            self.transitions.touch(row[0])
        self.db.execute(self.sql.delete_guidance, listed)
        self.db.execute(self.sql.delete_tasks, listed)
        if top.parent_id is not None:
            self.transitions.counters.left(top.parent_id, top.status)
        self.transitions.counters.recount(freed)
        self.transitions.counters.rehold(freed)
        self.emit_all(TaskDeleted(task_id=one, title=titles[one]) for one in reversed(gone))
        self._regrouped(top.parent_id)
        self._rewired(*freed)
        return gone

    # Status changes by hand

    @transaction
    def apply(self, task: TaskId, steps: Sequence[Transition]) -> Task:
        """Take a task through legal transitions by hand, with all that follows from them.

        On a parent: see `force_done`, `force_failed`, `reset`, which change what is below it.
        """
        self.task(task)
        self.transitions.carry_out(StoredGraph(self.db), ((task, step) for step in steps))
        self.transitions.graph_changed()
        return self.task(task)

    @transaction
    def force_done(self, task: TaskId) -> Task:
        """Walk it to done; a parent by way of its open leaves."""

        def steps(one: _Stored) -> Sequence[Transition]:
            if not one.is_parent:
                return steps_to_done(one.task)
            if one.task.status is TaskStatus.IN_PROGRESS:
                return [Accepted()]
            # It did not fail by its children: those are done.
            return [Retried()] if one.task.status is TaskStatus.FAILED else []

        return self._change_below(task, steps)

    @transaction
    def force_failed(self, task: TaskId, reason: str, *, fail_fast: bool = False) -> Task:
        """Walk it to failed; a parent by way of its open leaves. A failed one gets the reason,
        unless that is empty. `fail_fast`: its parents fail with it."""

        def steps(one: _Stored) -> Sequence[Transition]:
            if not one.is_parent:
                is_meant = one.task.status in OPEN or one.task.id == task
                return steps_to_failed(one.task, reason) if is_meant else []
            if one.task.status is TaskStatus.IN_PROGRESS:
                return [GaveUp(reason or DEFAULT_FAIL_REASON)]
            return [Unblocked()] if one.task.status is TaskStatus.BLOCKED else []

        failed = self._change_below(task, steps, fail_fast=fail_fast)
        if failed.status is not TaskStatus.FAILED:
            raise IllegalTransition(
                f"task {task} has nothing open below it, so it cannot be failed"
            )
        return failed

    @transaction
    def reset(self, task: TaskId, reason: str = "") -> Task:
        """Back to the beginning, and everything below it; what must be open above is reopened. The
        next sessions of what was not open read the reason first."""

        def steps(one: _Stored) -> Sequence[Transition]:
            is_meant = one.task.id == task or one.task.status is not TaskStatus.PENDING
            reset = Reset(reason=(reason or None) if is_meant else None)
            return [reset] if one.has_base or one.task != advance(one.task, reset) else []

        return self._change_below(task, steps)

    @transaction
    def retry(self, task: TaskId) -> Task:
        """Give a failed or blocked task (or a failed parent's leaves) a fresh set of tries."""
        advance(self.task(task), Retried())

        def steps(one: _Stored) -> Sequence[Transition]:
            is_blocked = one.task.id == task and one.task.status is TaskStatus.BLOCKED
            return [Retried()] if is_blocked or one.task.status is TaskStatus.FAILED else []

        return self._change_below(task, steps)

    def _change_below(
        self,
        root: TaskId,
        steps: "Callable[[_Stored], Sequence[Transition]]",
        *,
        fail_fast: bool = False,
    ) -> Task:
        """Take a task and everything below it through transitions, children first. `steps` gets
        each task as it is when its turn comes."""
        view = StoredGraph(self.db)
        for task in reversed(self.transitions.below(root)):
            ((is_parent, has_base),) = self.db.rows(self.sql.family, {"id": task})
            wanted = steps(_Stored(view.node(task), bool(is_parent), bool(has_base)))
            self.transitions.carry_out(view, ((task, step) for step in wanted), fail_fast=fail_fast)
        self.transitions.graph_changed()
        return self.task(root)


class _Stored(NamedTuple):
    task: Task
    is_parent: bool
    has_base: bool
