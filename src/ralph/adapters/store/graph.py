"""Changing the graph: edges, parents, deletions. Adding tasks has a file of its own."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from ralph.adapters.store import counters
from ralph.adapters.store.adding import AddingPart
from ralph.adapters.store.part import whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import as_json, task_of
from ralph.adapters.store.view import Lines, SqlView
from ralph.core.errors import CycleRefused
from ralph.core.events import EdgeAdded, EdgeRemoved, FeatureDeleted, TaskDeleted, TaskEdited
from ralph.core.graph import closes_cycle, parent_closes_cycle, regrouped, rewired
from ralph.core.ids import FeatureId, TaskId
from ralph.core.lengths import refuse_long_task
from ralph.core.named_files import in_order, learned
from ralph.core.task import Edit, Task

SQL = Queries("graph")


class GraphPart(AddingPart):
    """`Graph` on the tables `tasks` and `dependencies`."""

    # Edges

    @whole
    def link(self, blocker: TaskId, blocked: TaskId) -> None:
        """Add an edge; adding it twice is adding it once. CycleRefused where it must be."""
        first, second = self.task(blocker), self.task(blocked)
        edge = {"blocker": blocker, "blocked": blocked}
        if self.db.row(SQL.edge, edge) is not None:
            return
        if closes_cycle(Lines(self.db), blocker, blocked):
            raise CycleRefused(
                f"task {blocked} would wait for itself by way of {blocker}",
                hint=f"ralph task deps list {blocker} shows what it waits for",
            )
        self.db.execute(SQL.insert_edge, (blocker, blocked))
        counters.linked(self.db, first, second.id, 1)
        self.emit(EdgeAdded(blocker_id=blocker, blocked_id=blocked))
        self._rewired(blocked)

    @whole
    def unlink(self, blocker: TaskId, blocked: TaskId) -> bool:
        """Remove an edge. False if there was none."""
        edge = {"blocker": blocker, "blocked": blocked}
        if self.db.row(SQL.edge, edge) is None:
            return False
        self.db.execute(SQL.remove_edge, edge)
        counters.linked(self.db, self.task(blocker), blocked, -1)
        self.emit(EdgeRemoved(blocker_id=blocker, blocked_id=blocked))
        self._rewired(blocked)
        return True

    def _rewired(self, *tasks: TaskId) -> None:
        """See what follows for tasks whose blockers have changed."""
        self.graph_changed()
        # What follows is looked for in all that waits for them, which may be nearly everything;
        # where nothing is stuck there is nothing to find.
        if self.db.value(SQL.any_stuck):
            for task in tasks:
                view = SqlView(self.db)
                self.carry_out(view, rewired(view, task))

    def _regrouped(self, *parents: TaskId | None) -> None:
        """See what follows for parents whose children have changed."""
        self.graph_changed()
        for parent in parents:
            if parent is not None:
                view = SqlView(self.db)
                self.carry_out(view, regrouped(view, parent))

    # Tasks

    @whole
    def edit_task(self, task: TaskId, edit: Edit) -> Task:
        """Change what a person may change about a task."""
        refuse_long_task(edit)
        old = self.task(task)
        changed = changes(edit)
        if "files" in changed:
            changed["files"] = in_order(changed["files"])
            edit = replace(edit, files=changed["files"])
        new = replace(old, **changed)
        if new.parent_id != old.parent_id:
            self._move_under(old, new.parent_id)
            self.touch(old.feature_id)
        if "feature_id" in changed:
            (new,) = self.placed([new], self._known([new], []))
            # Without a feature it takes its parent's: the journal tells what came of it.
            edit = replace(edit, feature_id=new.feature_id)
            self.touch(old.feature_id)
            self.touch(new.feature_id)
        self.db.execute(
            SQL.edit,
            {
                "id": task,
                "title": new.title,
                "description": new.description,
                "priority": new.priority,
                "max_retries": new.max_retries,
                "feature_id": new.feature_id,
                "task_type": new.task_type.value,
                "needs_change": new.needs_change,
                "now": self.now(),
            },
        )
        if new.files != old.files:
            self._name_files(new)
        self.emit(TaskEdited(task_id=task, edit=edit))
        if new.parent_id != old.parent_id:
            self._regrouped(old.parent_id, new.parent_id)
            self._rewired(task)
        return self.task(task)

    def _name_files(self, task: Task) -> None:
        self.db.execute(SQL.delete_files, (task.id,))
        self._insert_files([task])

    @whole
    def learn_files(self, task: TaskId, paths: Sequence[str]) -> None:
        """Add what a session has really touched to what the task says that it will modify."""
        row = self.db.row(SQL.one_task, (task,))
        if row is not None:
            known = task_of(row).files
            files = learned(known, paths)
            if files != known:
                self.edit_task(task, Edit(files=files))

    def _move_under(self, task: Task, parent: TaskId | None) -> None:
        # Judged without the old parent: its edges no longer hold.
        self.db.execute(SQL.orphan, {"id": task.id})
        if task.parent_id is not None:
            counters.left(self.db, task.parent_id, task.status)
        if parent is not None:
            self.task(parent)
            if parent_closes_cycle(Lines(self.db), task.id, parent):
                raise CycleRefused(f"task {task.id} under {parent} would wait for itself")
            self.db.execute(SQL.adopt, {"id": task.id, "parent": parent})
            counters.joined(self.db, parent, [task.status])
        counters.rehold(self.db, [task.id])

    @whole
    def delete_task(self, task: TaskId) -> list[TaskId]:
        """Delete it, everything below it and their edges; return what went."""
        top = self.task(task)
        gone = self.below(task)
        listed = {"ids": as_json(gone)}
        freed = [row[0] for row in self.db.rows(SQL.waiting_outside, listed)]
        titles: dict[TaskId, str] = dict(self.db.rows(SQL.titles, listed))
        for row in self.db.rows(SQL.features_of, listed):
            self.touch(row[0])
        self.db.execute(SQL.delete_guidance, listed)
        self.db.execute(SQL.delete_tasks, listed)
        if top.parent_id is not None:
            counters.left(self.db, top.parent_id, top.status)
        counters.recount(self.db, freed)
        counters.rehold(self.db, freed)
        self.emit_all(TaskDeleted(task_id=one, title=titles[one]) for one in reversed(gone))
        self._regrouped(top.parent_id)
        self._rewired(*freed)
        return gone

    @whole
    def delete_feature(self, feature: FeatureId) -> list[TaskId]:
        """Delete it with all its tasks, what is below them and their edges; return what went."""
        known = self.known_feature(feature)
        gone: list[TaskId] = []
        while top := self.db.row(SQL.top_of_feature, {"feature": feature}):
            gone += self.delete_task(top[0])
        self.db.execute(SQL.delete_feature, {"id": feature})
        self.emit(FeatureDeleted(feature_id=feature, name=known.name))
        return gone


def changes(edit: Edit) -> dict[str, Any]:
    """What is set in an edit."""
    values = {name: getattr(edit, name) for name in edit.__struct_fields__}
    return {name: value for name, value in values.items() if value is not msgspec.UNSET}
