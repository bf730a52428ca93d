"""Step 1: take one ready task, for this worker alone."""

from msgspec.structs import replace

from ralph.core.ids import TaskId
from ralph.core.run import AllTasks, OneFeature, Subtree
from ralph.core.task import Task, TaskEdit
from ralph.engine.crash_recovery import session_pending_verdict
from ralph.engine.run_context import RunContext
from ralph.engine.work_commit import save_and_reset
from ralph.store.claims import Claim


def claim(ctx: RunContext) -> Claim | None:
    """Claim the task whose unfinished work is in the checkout, or the next one by the schedule."""
    s = ctx.settings
    taken = _again(ctx) or ctx.store.claims.claim(s.worker, s.run_id, ctx.state.target, s.schedule)
    if taken is not None and s.max_retries not in (None, taken.task.max_retries):
        edit = TaskEdit(max_retries=s.max_retries)
        taken = replace(taken, task=ctx.store.tasks.edit(taken.task.id, edit))
    ctx.log.publish()
    return taken


def _again(ctx: RunContext) -> Claim | None:
    left = ctx.checkout.take_unfinished()
    if left is None:
        return None
    s, is_asked_for = ctx.settings, _is_asked_for(ctx, left.task)
    taken = ctx.store.claims.claim_again(s.worker, s.run_id, left.task) if is_asked_for else None
    if taken is None:
        # Blocked, deleted, split up or not asked for: the next task needs a clean tree.
        save_and_reset(ctx, left)
    return taken


def _is_asked_for(ctx: RunContext, task: TaskId) -> bool:
    """By this run? A session that was paid for is judged anyway."""
    found = ctx.store.tasks.get(task)
    return found is not None and (
        _is_within(ctx, found) or session_pending_verdict(ctx, task) is not None
    )


def _is_within(ctx: RunContext, task: Task) -> bool:
    match ctx.state.target:
        case AllTasks():
            return True
        case OneFeature(feature=feature):
            return task.feature_id == feature
        case Subtree(root):
            while task.id != root and task.parent_id is not None:
                task = ctx.store.tasks.find(task.parent_id)
            return task.id == root
