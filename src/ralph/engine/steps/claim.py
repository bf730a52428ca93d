"""Step 1: take one ready task, for this worker alone."""

from msgspec.structs import replace

from ralph.core.ids import TaskId
from ralph.core.target import Everything, OneFeature, Subtree, Target
from ralph.core.task import Edit, Task
from ralph.engine.kit import Kit
from ralph.engine.unjudged import unjudged
from ralph.engine.work import set_aside
from ralph.ports.claims import Claim


def claim(kit: Kit) -> Claim | None:
    """The task whose unfinished work lies in the checkout first; else by the schedule."""
    taken = _again(kit) or _from(kit, kit.settings.target)
    if taken is not None:
        taken = _with_retries(kit, taken)
    kit.publish()
    return taken


def _with_retries(kit: Kit, taken: Claim) -> Claim:
    wanted = kit.settings.max_retries
    if wanted is None or wanted == taken.task.max_retries:
        return taken
    return replace(taken, task=kit.store.edit_task(taken.task.id, Edit(max_retries=wanted)))


def _again(kit: Kit) -> Claim | None:
    left, kit.unfinished = kit.unfinished, None
    if left is None:
        return None
    taken = _from(kit, Subtree(left.task)) if _may_go_on(kit, left.task) else None
    if taken is None:
        # Blocked, deleted, split up or not asked for: the next task needs a clean tree.
        set_aside(kit, left.task, left.attempt, left.base)
    return taken


def _may_go_on(kit: Kit, task: TaskId) -> bool:
    """Is it ready, and asked for by this run? A session that was paid for is judged anyway."""
    ready = kit.store.next_ready(Subtree(task), kit.settings.schedule)
    if ready is None or ready.id != task:
        return False
    return _is_within(kit, ready) or unjudged(kit, task) is not None


def _is_within(kit: Kit, task: Task) -> bool:
    match kit.settings.target:
        case Everything():
            return True
        case OneFeature(feature=feature):
            return task.feature_id == feature
        case Subtree(root):
            while task.id != root and task.parent_id is not None:
                task = kit.store.find(task.parent_id)
            return task.id == root


def _from(kit: Kit, target: Target) -> Claim | None:
    s = kit.settings
    return kit.store.claim(s.worker, s.run_id, target, s.schedule)
