"""What follows from a change in the graph: parents, dependents, cycles.

Every function sees the graph through a `View`, so the same rules serve every store.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, Protocol

from ralph.core.ids import TaskId
from ralph.core.task import OPEN, Status, Task
from ralph.core.transitions import (
    ChildFailed,
    ChildrenDone,
    ChildReopened,
    Transition,
    Unblocked,
)

FEW: Final = 50
"""Fewer tasks are looked at one by one, without asking which of them matter."""


class View(Protocol):
    """The graph as far as the rules need to see it."""

    def node(self, task: TaskId) -> Task: ...
    def children(self, task: TaskId) -> Iterable[TaskId]: ...
    def blockers(self, task: TaskId) -> Iterable[TaskId]: ...
    def dependents(self, task: TaskId) -> Iterable[TaskId]: ...
    def open_children(self, task: TaskId) -> int:
        """How many children are not done."""
        ...

    def failed_children(self, task: TaskId) -> int: ...
    def doubtful_parents(self) -> Iterable[TaskId]:
        """Pending parents of which a child has failed."""
        ...


def follow_ups(
    view: View, before: Task, after: Task, *, fail_fast: bool
) -> Iterator[tuple[TaskId, Transition]]:
    """Yield the transitions that a change of status brings about, one step up or along.

    Each is to be applied before the next is asked for; each in turn has its own follow-ups.
    """
    if before.status == after.status:
        return
    if after.status is Status.DONE:
        for dependent in list(view.dependents(after.id)):
            if _waits_only_for_blockers(view, dependent):
                yield dependent, Unblocked()
        if after.parent_id is not None:
            yield from _settle_parent(view, after.parent_id, fail_fast=fail_fast)
    elif after.status is Status.FAILED:
        if after.parent_id is not None:
            yield from _fail_parent(view, after.parent_id, fail_fast=fail_fast)
        if not fail_fast:
            yield from _doomed_parents(view, after.id)
    else:
        yield from _opened(view, before, after, fail_fast=fail_fast)
    if before.status is Status.FAILED:
        yield from _revived_parents(view, after.id)


def _opened(
    view: View, before: Task, after: Task, *, fail_fast: bool
) -> Iterator[tuple[TaskId, Transition]]:
    # Only a task that was settled reopens what is above it: otherwise giving back a running
    # task would undo what `fail_fast` did to its parent.
    parent = after.parent_id
    if before.status not in OPEN and parent and view.node(parent).status not in OPEN:
        yield parent, ChildReopened()
    if after.status is Status.PENDING and _has_children(view, after.id):
        # While it was blocked or in somebody's hands its children may have settled it.
        yield from _settle_parent(view, after.id, fail_fast=fail_fast)


def regrouped(view: View, parent: TaskId) -> Iterator[tuple[TaskId, Transition]]:
    """Yield what its children ask of a parent after one of them came, went or was moved."""
    status = view.node(parent).status
    if not _has_children(view, parent):
        if status is Status.FAILED:
            # What failed it is gone, so it is a task like any other again.
            yield parent, ChildReopened()
    elif status not in OPEN and view.open_children(parent):
        if (
            status is Status.DONE
            or view.failed_children(parent) == 0
            or any(can_still_run(view, child) for child in view.children(parent))
        ):
            yield parent, ChildReopened()
    else:
        yield from _settle_parent(view, parent, fail_fast=False)


def rewired(view: View, task: TaskId) -> Iterator[tuple[TaskId, Transition]]:
    """Yield what follows after the blockers of a task, or of those above it, have changed."""
    if _waits_only_for_blockers(view, task):
        yield task, Unblocked()
    parents: set[TaskId] = set()
    for waiting in (task, *_downstream(view, task, below=True)):
        parent = view.node(waiting).parent_id
        if parent is not None and parent not in parents:
            parents.add(parent)
            yield from regrouped(view, parent)


def _has_children(view: View, task: TaskId) -> bool:
    return any(True for _ in view.children(task))


def _waits_only_for_blockers(view: View, task: TaskId) -> bool:
    """A blocked task without a reason was blocked by its blockers, not by a person."""
    node = view.node(task)
    return (
        node.status is Status.BLOCKED
        and node.reason is None
        and all(view.node(blocker).status is Status.DONE for blocker in view.blockers(task))
    )


def _settle_parent(
    view: View, parent: TaskId, *, fail_fast: bool
) -> Iterator[tuple[TaskId, Transition]]:
    if view.open_children(parent):
        # One child less that could still run: the others may all be failed or doomed.
        yield from _fail_parent(view, parent, fail_fast=fail_fast)
    elif view.node(parent).status not in (Status.DONE, Status.IN_PROGRESS):
        # One that is in somebody's hands is settled by them, or when they give it back.
        yield parent, ChildrenDone()


def _fail_parent(
    view: View, parent: TaskId, *, fail_fast: bool
) -> Iterator[tuple[TaskId, Transition]]:
    node = view.node(parent)
    failed = view.failed_children(parent)
    if node.status is not Status.PENDING or failed == 0:
        return
    if fail_fast or not any(can_still_run(view, child) for child in view.children(parent)):
        yield parent, ChildFailed(f"{failed} of its children failed")


def _doomed_parents(view: View, failed: TaskId) -> Iterator[tuple[TaskId, Transition]]:
    """A failure may take away the last hope of tasks elsewhere, and so fail their parents."""
    # Mostly none or a few are in doubt, while half of a large graph may wait for the failed task.
    parents = list(islice(view.doubtful_parents(), FEW))
    if len(parents) == FEW:
        waiting = (view.node(task).parent_id for task in _downstream(view, failed))
        parents = list(dict.fromkeys(parent for parent in waiting if parent is not None))
    for parent in parents:
        yield from _fail_parent(view, parent, fail_fast=False)


def _revived_parents(view: View, risen: TaskId) -> Iterator[tuple[TaskId, Transition]]:
    """What waited for a failed task can run again, and its parent may have failed over it."""
    for task in _downstream(view, risen):
        parent = view.node(task).parent_id
        if (
            parent is not None
            and view.node(parent).status is Status.FAILED
            and can_still_run(view, task)
        ):
            yield parent, ChildReopened()


def _downstream(view: View, start: TaskId, *, below: bool = False) -> Iterator[TaskId]:
    """Tasks that wait for `start`, directly or not, parents' dependencies included.

    A failed parent counts: what is below it waits too. `below`: so does what is below `start`.
    """
    seen = {start}
    queue = deque([start])
    while queue:
        task = queue.popleft()
        for nxt in (
            *view.dependents(task),
            *(view.children(task) if below or task != start else ()),
        ):
            if nxt not in seen and view.node(nxt).status is not Status.DONE:
                seen.add(nxt)
                queue.append(nxt)
                yield nxt


def can_still_run(view: View, task: TaskId) -> bool:
    """True unless the task is settled, or waits, directly or not, for a failed one."""
    seen: set[TaskId] = set()
    stack = [task]
    if view.node(task).status not in OPEN:
        return False
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        node = view.node(current)
        if node.status is Status.FAILED:
            return False
        if node.status in OPEN:
            stack.extend(view.blockers(current))
            # What blocks a parent blocks its children; but the parent of the task that is
            # asked about may itself be waiting for this very answer.
            if node.parent_id is not None:
                stack.extend(_blockers_above(view, node.parent_id))
    return True


def _blockers_above(view: View, task: TaskId) -> Iterator[TaskId]:
    above: TaskId | None = task
    while above is not None:
        yield from view.blockers(above)
        above = view.node(above).parent_id


def derived_status(own: Status, children: Iterable[Status]) -> Status:
    """What a parent shows: its own status, except that work below it shows through."""
    below = set(children)
    if own is not Status.PENDING or not below:
        return own
    if below == {Status.DONE}:
        return Status.DONE
    if Status.IN_PROGRESS in below or Status.DONE in below:
        return Status.IN_PROGRESS
    return own


# Cycles. A task has a start and a finish. A parent starts before its children and finishes after
# them; a blocker finishes before what it blocks starts. An order exists when no circle does.

Moment = tuple[TaskId, bool]
"""A task and whether its finish is meant (else its start)."""


def closes_cycle(view: View, blocker: TaskId, blocked: TaskId) -> bool:
    """Would the edge make something wait for itself?"""
    return _reaches(view, (blocked, False), (blocker, True))


def parent_closes_cycle(view: View, child: TaskId, parent: TaskId) -> bool:
    """Would the new parent make something wait for itself, or contain itself?"""
    above: TaskId | None = parent
    while above is not None:
        if above == child:
            return True
        above = view.node(above).parent_id
    return _reaches(view, (child, False), (parent, False)) or _reaches(
        view, (parent, True), (child, True)
    )


def _reaches(view: View, start: Moment, goal: Moment) -> bool:
    """Search from both ends at once: the smaller side decides how long it takes, so adding an
    edge at either rim of a large graph costs next to nothing.
    """
    if start == goal:
        return True
    ahead, behind = {start}, {goal}
    front, back = deque([start]), deque([goal])
    while front and back:
        for moment in moments_after(view, front.popleft()):
            if moment in behind:
                return True
            if moment not in ahead:
                ahead.add(moment)
                front.append(moment)
        for moment in _before(view, back.popleft()):
            if moment in ahead:
                return True
            if moment not in behind:
                behind.add(moment)
                back.append(moment)
    return False


def moments_after(view: View, moment: Moment) -> Iterator[Moment]:
    """The moments that must wait for this one."""
    task, finish = moment
    if finish:
        for dependent in view.dependents(task):
            yield dependent, False
        parent = view.node(task).parent_id
        if parent is not None:
            yield parent, True
    else:
        yield task, True
        for child in view.children(task):
            yield child, False


def _before(view: View, moment: Moment) -> Iterator[Moment]:
    task, finish = moment
    if finish:
        yield task, False
        for child in view.children(task):
            yield child, True
    else:
        for blocker in view.blockers(task):
            yield blocker, True
        parent = view.node(task).parent_id
        if parent is not None:
            yield parent, False
