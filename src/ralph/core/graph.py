"""The rules of the task graph: what a change means for parents and dependents, which edges would
close a cycle, and which ready task comes first. Every function sees the graph through a
`GraphView`, so the same rules serve every store."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, TypeVar

from ralph.core.ids import TaskId
from ralph.core.task import OPEN, Task, TaskStatus
from ralph.core.transitions import ChildFailed, ChildrenDone, ChildReopened, Transition, Unblocked

N = TypeVar("N", bound=Hashable)
Steps = Iterator[tuple[TaskId, Transition]]
"""Transitions, each to be applied before the next is asked for."""


class GraphLines(Protocol):
    """The lines of the graph. For the search of cycles, of a node only the parent counts."""

    def node(self, task: TaskId) -> Task: ...
    def children(self, task: TaskId) -> Iterable[TaskId]: ...
    def blockers(self, task: TaskId) -> Iterable[TaskId]: ...
    def dependents(self, task: TaskId) -> Iterable[TaskId]: ...


class GraphView(GraphLines, Protocol):
    def open_children(self, task: TaskId) -> int:
        """How many children are not done."""

    def failed_children(self, task: TaskId) -> int: ...
    def parents_with_failed_child(self) -> Iterable[TaskId]:
        """Pending parents of which a child has failed."""


def follow_ups(view: GraphView, before: Task, after: Task, *, fail_fast: bool) -> Steps:
    """Yield the transitions that a change of status brings about, one step up or along.

    Each is to be applied before the next is asked for; each in turn has its own follow-ups.
    """
    if before.status == after.status:
        return
    if after.status is TaskStatus.DONE:
        for dependent in list(view.dependents(after.id)):
            if _waits_only_for_blockers(view, dependent):
                yield dependent, Unblocked()
        if after.parent_id is not None:
            yield from _settle_parent(view, after.parent_id, fail_fast=fail_fast)
    elif after.status is TaskStatus.FAILED:
        if after.parent_id is not None:
            yield from _fail_parent(view, after.parent_id, fail_fast=fail_fast)
        if not fail_fast:
            yield from _parents_that_fail(view)
    else:
        yield from _opened(view, before, after, fail_fast=fail_fast)
    if before.status is TaskStatus.FAILED:
        yield from _parents_that_reopen(view, after.id)


def _opened(view: GraphView, before: Task, after: Task, *, fail_fast: bool) -> Steps:
    # Only a task that was settled reopens what is above it: otherwise giving back a running
    # task would undo what `fail_fast` did to its parent.
    parent = after.parent_id
    if before.status not in OPEN and parent and view.node(parent).status not in OPEN:
        yield parent, ChildReopened()
    if after.status is TaskStatus.PENDING and _has_children(view, after.id):
        # While it was blocked or in progress, its children may have settled it.
        yield from _settle_parent(view, after.id, fail_fast=fail_fast)


def after_children_changed(view: GraphView, parent: TaskId) -> Steps:
    """Yield what its children ask of a parent after one of them came, went or was moved."""
    status = view.node(parent).status
    if not _has_children(view, parent):
        if status is TaskStatus.FAILED:
            # What failed it is gone, so it is a task like any other again.
            yield parent, ChildReopened()
    elif status not in OPEN and view.open_children(parent):
        if (
            status is TaskStatus.DONE
            or view.failed_children(parent) == 0
            or any(can_still_run(view, child) for child in view.children(parent))
        ):
            yield parent, ChildReopened()
    else:
        yield from _settle_parent(view, parent, fail_fast=False)


def after_blockers_changed(view: GraphView, task: TaskId) -> Steps:
    """Yield what follows after the blockers of a task, or of those above it, have changed."""
    if _waits_only_for_blockers(view, task):
        yield task, Unblocked()
    parents: set[TaskId] = set()
    for waiting in (task, *_downstream(view, task, below=True)):
        parent = view.node(waiting).parent_id
        if parent is not None and parent not in parents:
            parents.add(parent)
            yield from after_children_changed(view, parent)


def _has_children(view: GraphView, task: TaskId) -> bool:
    return any(True for _ in view.children(task))


def _waits_only_for_blockers(view: GraphView, task: TaskId) -> bool:
    """A blocked task without a reason was blocked by its blockers, not by a person."""
    node = view.node(task)
    return (
        node.status is TaskStatus.BLOCKED
        and node.reason is None
        and all(view.node(blocker).status is TaskStatus.DONE for blocker in view.blockers(task))
    )


def _settle_parent(view: GraphView, parent: TaskId, *, fail_fast: bool) -> Steps:
    if view.open_children(parent):
        # One child less that could still run: the others may all be failed or doomed.
        yield from _fail_parent(view, parent, fail_fast=fail_fast)
    elif view.node(parent).status not in (TaskStatus.DONE, TaskStatus.IN_PROGRESS):
        # One in progress is settled by its worker, or when the worker releases it.
        yield parent, ChildrenDone()


def _fail_parent(view: GraphView, parent: TaskId, *, fail_fast: bool) -> Steps:
    node = view.node(parent)
    failed = view.failed_children(parent)
    if node.status is not TaskStatus.PENDING or failed == 0:
        return
    if fail_fast or not any(can_still_run(view, child) for child in view.children(parent)):
        yield parent, ChildFailed(f"{failed} of its children failed")


def _parents_that_fail(view: GraphView) -> Steps:
    """A failure may take away the last hope of tasks elsewhere, and so fail their parents."""
    for parent in list(view.parents_with_failed_child()):
        yield from _fail_parent(view, parent, fail_fast=False)


def _parents_that_reopen(view: GraphView, risen: TaskId) -> Steps:
    """What waited for a failed task can run again, and its parent may have failed over it."""
    for task in _downstream(view, risen):
        parent = view.node(task).parent_id
        if (
            parent is not None
            and view.node(parent).status is TaskStatus.FAILED
            and can_still_run(view, task)
        ):
            yield parent, ChildReopened()


def _downstream(view: GraphView, start: TaskId, *, below: bool = False) -> Iterator[TaskId]:
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
            if nxt not in seen and view.node(nxt).status is not TaskStatus.DONE:
                seen.add(nxt)
                queue.append(nxt)
                yield nxt


def can_still_run(view: GraphView, task: TaskId) -> bool:
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
        if node.status is TaskStatus.FAILED:
            return False
        if node.status in OPEN:
            stack.extend(view.blockers(current))
            # What blocks a parent blocks its children; but the parent of the task that is
            # asked about may itself be waiting for this very answer.
            if node.parent_id is not None:
                stack.extend(_blockers_above(view, node.parent_id))
    return True


def _blockers_above(view: GraphView, task: TaskId) -> Iterator[TaskId]:
    above: TaskId | None = task
    while above is not None:
        yield from view.blockers(above)
        above = view.node(above).parent_id


def derived_status(own: TaskStatus, children: Iterable[TaskStatus]) -> TaskStatus:
    """What a parent shows: its own status, except that work below it shows through."""
    below = set(children)
    if own is not TaskStatus.PENDING or not below:
        return own
    if below == {TaskStatus.DONE}:
        return TaskStatus.DONE
    if TaskStatus.IN_PROGRESS in below or TaskStatus.DONE in below:
        return TaskStatus.IN_PROGRESS
    return own


def shown_statuses(tasks: Sequence[Task], *, is_cut: bool = False) -> dict[TaskId, TaskStatus]:
    """The status that each task shows; parents come first. `is_cut`: some are missing."""
    below: dict[TaskId, list[TaskStatus]] = {}
    shown: dict[TaskId, TaskStatus] = {}
    for task in reversed(tasks):
        children = below.get(task.id, [])
        if is_cut and children:
            # Some of its children may not be here, so that the others are done proves nothing.
            children = [*children, task.status]
        shown[task.id] = derived_status(task.status, children)
        if task.parent_id is not None:
            below.setdefault(task.parent_id, []).append(shown[task.id])
    return shown


# Cycles. A task has a start and a finish. A parent starts before its children and finishes after
# them; a blocker finishes before what it blocks starts. An order exists when no circle does.
StartOrEnd = tuple[TaskId, bool]
"""A task and whether its finish is meant (else its start)."""


def closes_cycle(view: GraphLines, blocker: TaskId, blocked: TaskId) -> bool:
    """Would the edge make something wait for itself?"""
    return _reaches(view, (blocked, False), (blocker, True))


def parent_closes_cycle(view: GraphLines, child: TaskId, parent: TaskId) -> bool:
    """Would the new parent make something wait for itself, or contain itself?"""
    above: TaskId | None = parent
    while above is not None:
        if above == child:
            return True
        above = view.node(above).parent_id
    return _reaches(view, (child, False), (parent, False)) or _reaches(
        view, (parent, True), (child, True)
    )


def _reaches(view: GraphLines, start: StartOrEnd, goal: StartOrEnd) -> bool:
    """Search from both ends at once: the smaller side decides how long it takes, so adding an
    edge at either rim of a large graph costs next to nothing.
    """
    if start == goal:
        return True
    ahead, behind = {start}, {goal}
    front, back = deque([start]), deque([goal])
    while front and back:
        for moment in later_moments(view, front.popleft()):
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


def later_moments(view: GraphLines, moment: StartOrEnd) -> Iterator[StartOrEnd]:
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


def _before(view: GraphLines, moment: StartOrEnd) -> Iterator[StartOrEnd]:
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


def find_cycle(roots: Iterable[N], after: Callable[[N], Iterable[N]]) -> list[N]:
    """Return the nodes of one cycle among the roots and what comes after them, or an empty list.

    Depth first and without recursion: chains may be long. A node that is met again while its own
    successors are still being looked at comes after itself.
    """
    is_finished: dict[N, bool] = {}
    for root in roots:
        path: list[N] = []
        ways = [iter([root])]
        while ways:
            node = next(ways[-1], None)
            if node is None:
                ways.pop()
                if path:
                    is_finished[path.pop()] = True
            elif node not in is_finished:
                is_finished[node] = False
                path.append(node)
                ways.append(iter(after(node)))
            elif not is_finished[node]:
                return path[path.index(node) :]
    return []


class Schedule(StrEnum):
    """How the next task is chosen."""

    PRIORITY = "priority"
    CRITICAL_PATH = "critical-path"


def chain_lengths(
    tasks: Iterable[TaskId], dependents: Mapping[TaskId, Iterable[TaskId]]
) -> dict[TaskId, int]:
    """For each task the number of tasks on the longest chain that starts with it.

    Without recursion: chains may be longer than Python's stack.
    """
    lengths: dict[TaskId, int] = {}
    for root in tasks:
        stack = [(root, False)]
        while stack:
            task, ready = stack.pop()
            if ready:
                lengths[task] = 1 + max((lengths[d] for d in dependents.get(task, ())), default=0)
            elif task not in lengths:
                stack.append((task, True))
                stack.extend((d, False) for d in dependents.get(task, ()) if d not in lengths)
    return lengths
