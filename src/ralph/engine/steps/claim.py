"""Step 1: take one ready task, for this worker alone."""

from msgspec.structs import replace

from ralph.core.target import Subtree, Target
from ralph.core.task import Edit
from ralph.engine.kit import Kit
from ralph.engine.work import set_aside
from ralph.ports.store import Claim


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
    taken = _from(kit, Subtree(left.task))
    if taken is None or taken.task.id != left.task:
        # Blocked, deleted or split up in the meantime: the next task needs a clean tree.
        set_aside(kit, left.task, left.attempt, left.base)
    return taken


def _from(kit: Kit, target: Target) -> Claim | None:
    s = kit.settings
    return kit.store.claim(s.worker, s.run_id, target, s.schedule)
