"""Step 1: take one ready task, for this worker alone."""

from msgspec.structs import replace

from ralph.core.errors import NoSuchTask
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
    s, is_asked_for = kit.settings, _is_asked_for(kit, left.task)
    taken = kit.store.claim_again(s.worker, s.run_id, left.task) if is_asked_for else None
    if taken is None:
        # Blocked, deleted, split up or not asked for: the next task needs a clean tree.
        set_aside(kit, left.task, left.attempt, left.base)
    return taken


def _is_asked_for(kit: Kit, task: TaskId) -> bool:
    """By this run? A session that was paid for is judged anyway."""
    try:
        return _is_within(kit, kit.store.find(task)) or unjudged(kit, task) is not None
    except NoSuchTask:
        return False


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
