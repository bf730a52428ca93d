"""How a task's row changes state: `core` decides, this writes the row, and the event with it."""

from msgspec.structs import replace

from ralph.core.graph import Steps, after_children_changed, follow_ups
from ralph.core.ids import FeatureId, RunId, TaskId
from ralph.core.task import Task, TaskStatus
from ralph.core.transitions import Reset, Transition, advance, event_of_transition
from ralph.core.verdict import AttemptVerdict
from ralph.store.counters import Counters
from ralph.store.database import Database, Part
from ralph.store.graph_view import StoredGraph


class TaskTransitions(Part):
    """Changes of status, with all that follows from them for parents and dependents. Every method
    belongs to the transaction of its caller."""

    file = "transitions"

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.counters = Counters(db)
        self.touched_features: set[FeatureId] = set()
        """Those whose tasks have changed: their status is updated before the transaction ends."""

    def carry_out(
        self, view: StoredGraph, steps: Steps, *, fail_fast: bool = False, run: RunId | None = None
    ) -> None:
        """Take each step, and before the next one all that follows from it.

        A stack instead of recursion: chains of parents may be longer than Python's stack.
        """
        stack = [steps]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                continue
            task, transition = step
            before = view.node(task)
            after = replace(advance(before, transition), updated_at=self.db.now())
            self._write(after, transition)
            stack.append(self.follow(view, before, after, transition, fail_fast=fail_fast, run=run))

    def _write(self, after: Task, transition: Transition) -> None:
        self.db.execute(
            self.sql.move,
            (
                after.status.value,
                after.attempt,
                after.retry_count,
                after.strikes,
                after.claimed_by,
                after.reason,
                after.verification_status,
                after.review,
                after.status is TaskStatus.DONE,
                after.updated_at,
                after.id,
            ),
        )
        if isinstance(transition, Reset):
            # Back to the beginning: what an earlier session claimed is not judged any more.
            self.settle_sessions(after.id)

    def follow(
        self,
        view: StoredGraph,
        before: Task,
        after: Task,
        transition: Transition,
        *,
        fail_fast: bool,
        run: RunId | None,
    ) -> Steps:
        """Record and count the event of a change; return what follows from it."""
        view.put(after)
        self.emit(event_of_transition(after, transition), run)
        self.touch(after.feature_id)
        if self.counters.moved(before, after):
            return follow_ups(view, before, after, fail_fast=fail_fast)
        return iter(())

    def settle_sessions(
        self, task: TaskId, verdict: str = "", judged: AttemptVerdict | None = None
    ) -> None:
        """Leave the last checkpoint, and what was decided, on every open session of a task."""
        self.db.execute(self.sql.settle_sessions, (verdict, judged and judged.value, task))

    def graph_changed(self) -> None:
        """Note that the critical path has to be computed again."""
        self.db.execute(self.sql.graph_changed)

    def touch(self, feature: FeatureId | None) -> None:
        """A task of this feature was changed, added or deleted."""
        if feature is not None:
            self.touched_features.add(feature)

    def regroup(self, parent: TaskId) -> None:
        view = StoredGraph(self.db)
        self.carry_out(view, after_children_changed(view, parent))

    def below(self, root: TaskId) -> list[TaskId]:
        """A task and everything below it, parents before children; NoSuchTask without it."""
        self.task(root)
        return [row[0] for row in self.db.rows(self.sql.below, {"root": root})]
