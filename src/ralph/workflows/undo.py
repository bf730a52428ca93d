"""Undo: revert the commits of a task, and reopen it with all tasks that build on it."""

from collections import deque
from collections.abc import Iterator, Sequence

import msgspec

from ralph.core.errors import Busy, UsageError
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.core.task import Task, TaskStatus
from ralph.core.times import from_iso, to_iso
from ralph.ports.workspace import BranchHistory, TaskCommit
from ralph.store.store import Store

MARGIN_S = 86_400.0
"""A commit may look older than its task, since clocks differ."""


class UndoPlan(msgspec.Struct, frozen=True, kw_only=True):
    task: Task
    commits: list[TaskCommit]
    """The commits to revert, newest first."""
    below: list[Task]
    after: list[Task]
    """Done tasks that build on it. They are opened again; their commits stay."""


class UndoResult(msgspec.Struct, frozen=True, kw_only=True):
    commit: str | None
    """None if there was nothing to revert."""
    reverted: tuple[str, ...]
    reopened: tuple[TaskId, ...]


def plan_undo(store: Store, past: BranchHistory, name: str) -> UndoPlan:
    task = store.tasks.find(name)
    parts = store.tasks.subtree(task.id)
    after = list(_dependents_of(store, [part.id for part in parts]))
    busy = [one for one in (*parts, *after) if one.status is TaskStatus.IN_PROGRESS]
    if busy:
        raise Busy(
            f"task {busy[0].id} is in progress, so nothing below it can be taken away",
            hint="`ralph stop` ends the run first",
        )
    commits = commits_of_tasks(store, past, parts)
    if not commits and task.status is TaskStatus.PENDING:
        raise UsageError(f"task {task.id} is pending and has no commits: there is nothing to undo")
    return UndoPlan(
        task=task,
        commits=commits,
        below=[
            part for part in parts if part.id != task.id and part.status is not TaskStatus.PENDING
        ],
        after=[one for one in after if one.status is TaskStatus.DONE],
    )


def commits_of_tasks(store: Store, past: BranchHistory, tasks: Sequence[Task]) -> list[TaskCommit]:
    """Return the tasks' commits on the branch that were not reverted, newest first."""
    recorded = {
        commit: task.id
        for task in tasks
        for session in store.sessions.select(task=task.id)
        for commit in session.commits
    }
    since = to_iso(min(from_iso(task.created_at) for task in tasks) - MARGIN_S)
    return past.commits_of({task.id for task in tasks}, recorded, since)


def undo(store: Store, past: BranchHistory, plan: UndoPlan, reason: str) -> UndoResult:
    """Revert the commits, which may be refused; then reopen the tasks. Doing this twice is safe."""
    task = plan.task
    commit = past.revert(plan.commits, _message(plan)) if plan.commits else None
    # Otherwise the next session might do the same.
    store.tasks.reset(task.id, f"Your earlier work on this was undone: {reason}" if reason else "")
    for one in plan.after:
        # A parent is opened by its children.
        if not store.tasks.children(one.id):
            store.tasks.reset(one.id)
    what = f"its work was taken back by {commit[:10]}" if commit else "it was opened again"
    store.tasks.log(task.id, f"undone: {what}{f': {reason}' if reason else ''}")
    return UndoResult(
        commit=commit,
        reverted=tuple(one.id for one in plan.commits),
        reopened=tuple(one.id for one in (task, *plan.below, *plan.after)),
    )


def _message(plan: UndoPlan) -> str:
    task = plan.task
    listed = "\n".join(f"- {one.id[:12]} {one_line(one.subject, 72)}" for one in plan.commits)
    # A line for each part, so that a part can be done and undone again by itself.
    names = dict.fromkeys((task.id, *(part.id for part in plan.below)))
    trailers = "\n".join(f"Ralph-Undo: {name}" for name in names)
    return f"Undo: {one_line(task.title, 66)}\n\nTakes back\n\n{listed}\n\n{trailers}\n"


def _dependents_of(store: Store, tasks: list[TaskId]) -> Iterator[Task]:
    """All tasks that wait for these, directly or not. With a task its parents are opened again, so
    tasks that wait for a parent are among them."""
    seen = set(tasks)
    queue = deque(tasks)
    while queue:
        task = queue.popleft()
        for waiting in _waiting_for(store, task):
            for one in store.tasks.subtree(waiting.id):
                if one.id not in seen:
                    seen.add(one.id)
                    queue.append(one.id)
                    yield one


def _waiting_for(store: Store, task: TaskId) -> Iterator[Task]:
    above: TaskId | None = task
    while above is not None:
        yield from store.tasks.dependents(above)
        above = store.tasks.find(above).parent_id
