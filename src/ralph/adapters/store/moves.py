"""How a task's row changes state: `core` decides, this writes it down, and the event with it."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ralph.adapters.store import counters
from ralph.adapters.store.features import FeaturesPart
from ralph.adapters.store.part import whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.view import SqlView
from ralph.core.errors import IllegalTransition
from ralph.core.graph import follow_ups
from ralph.core.ids import RunId, TaskId
from ralph.core.moved import event_of
from ralph.core.task import OPEN, Status, Task
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
from ralph.core.tried import Judged

SQL = Queries("moves")

Steps = Iterator[tuple[TaskId, Transition]]


class MovesPart(FeaturesPart):
    """Transitions, one by one or by hand."""

    def carry_out(
        self, view: SqlView, steps: Steps, *, fail_fast: bool = False, run: RunId | None = None
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
            after = replace(advance(before, transition), updated_at=self.now())
            self._write(after, transition)
            stack.append(self.told(view, before, after, transition, fail_fast=fail_fast, run=run))

    def _write(self, after: Task, transition: Transition) -> None:
        self.db.execute(
            SQL.move,
            (
                after.status.value,
                after.attempt,
                after.retry_count,
                after.strikes,
                after.claimed_by,
                after.reason,
                after.verification_status,
                after.review,
                after.status is Status.DONE,
                after.updated_at,
                after.id,
            ),
        )
        if isinstance(transition, Reset):
            # Back to the beginning: what an earlier session claimed is not judged any more.
            self.settle_sessions(after.id)

    def told(
        self,
        view: SqlView,
        before: Task,
        after: Task,
        transition: Transition,
        *,
        fail_fast: bool,
        run: RunId | None,
    ) -> Steps:
        """Tell of a change that is written, and count it; return what follows from it."""
        view.put(after)
        self.emit(event_of(after, transition), run)
        self.touch(after.feature_id)
        if counters.moved(self.db, before, after):
            return follow_ups(view, before, after, fail_fast=fail_fast)
        return iter(())

    def settle_sessions(
        self, task: TaskId, verdict: str = "", judged: Judged | None = None
    ) -> None:
        """Leave the last mark, and what was decided, on every open session of a task."""
        self.db.execute(SQL.settle_sessions, (verdict, judged and judged.value, task))

    def graph_changed(self) -> None:
        """Say that the critical path has to be worked out again."""
        self.db.execute(SQL.graph_changed)

    # By hand

    @whole
    def apply(self, task: TaskId, steps: Sequence[Transition]) -> Task:
        """Take a task through legal transitions, with all that follows from them."""
        self.task(task)
        self._walk(SqlView(self.db), task, steps)
        self.graph_changed()
        return self.task(task)

    @whole
    def force_done(self, task: TaskId) -> Task:
        """Walk it to done; a parent by way of its leaves."""
        view = SqlView(self.db)
        for node, is_parent, _ in self._upwards(view, task):
            if not is_parent:
                self._walk(view, node.id, walk_to_done(node))
            elif node.status is Status.IN_PROGRESS:
                self._walk(view, node.id, [Accepted()])
            elif node.status is Status.FAILED:
                # It failed in somebody's hands, not by its children: those are done.
                self._walk(view, node.id, [Retried()])
        self.graph_changed()
        return self.task(task)

    @whole
    def force_failed(self, task: TaskId, reason: str, *, fail_fast: bool = False) -> Task:
        """Walk it to failed; a parent by way of its open leaves."""
        view = SqlView(self.db)
        for node, is_parent, _ in self._upwards(view, task):
            if not is_parent:
                if node.status in OPEN or node.id == task:
                    steps = walk_to_failed(node, reason)
                    self._walk(view, node.id, steps, fail_fast=fail_fast)
            elif node.status is Status.IN_PROGRESS:
                self._walk(view, node.id, [GaveUp(reason or UNTOLD)], fail_fast=fail_fast)
            elif node.status is Status.BLOCKED:
                self._walk(view, node.id, [Unblocked()])
        if view.node(task).status is not Status.FAILED:
            raise IllegalTransition(
                f"task {task} has nothing open below it, so it cannot be failed"
            )
        self.graph_changed()
        return self.task(task)

    @whole
    def reset(self, task: TaskId) -> Task:
        """Back to the beginning, and everything below it."""
        view = SqlView(self.db)
        for node, _, has_base in self._upwards(view, task):
            if has_base or node != advance(node, Reset()):
                self._walk(view, node.id, [Reset()])
        self.graph_changed()
        return self.task(task)

    @whole
    def retry(self, task: TaskId) -> Task:
        """A failed task, and what failed below it, gets a fresh set of tries."""
        view = SqlView(self.db)
        advance(self.task(task), Retried())
        for node, _, _ in self._upwards(view, task):
            if node.status is Status.FAILED or (node.id == task and node.status is Status.BLOCKED):
                self._walk(view, node.id, [Retried()])
        self.graph_changed()
        return self.task(task)

    def _walk(
        self, view: SqlView, task: TaskId, steps: Sequence[Transition], *, fail_fast: bool = False
    ) -> None:
        self.carry_out(view, ((task, step) for step in steps), fail_fast=fail_fast)

    def _upwards(self, view: SqlView, root: TaskId) -> Iterator[tuple[Task, bool, bool]]:
        """A task and all below it, children first, each as it is when its turn comes; whether it
        is a parent, and whether it remembers a checkout."""
        for task in reversed(self.below(root)):
            ((is_parent, has_base),) = self.db.rows(SQL.family, {"id": task})
            yield view.node(task), bool(is_parent), bool(has_base)

    def below(self, root: TaskId) -> list[TaskId]:
        """A task and everything below it, parents before children; NoSuchTask without it."""
        self.task(root)
        return [row[0] for row in self.db.rows(SQL.below, {"root": root})]
