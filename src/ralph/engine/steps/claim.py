"""Step 1: take one ready task, for this worker alone."""

from ralph.core.target import Subtree, Target
from ralph.engine.kit import Kit
from ralph.engine.work import set_aside
from ralph.ports.store import Claim


def claim(kit: Kit) -> Claim | None:
    """The task whose unfinished work lies in the checkout first; else by the schedule."""
    taken = _again(kit) or _from(kit, kit.settings.target)
    kit.publish()
    return taken


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
