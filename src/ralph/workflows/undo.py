"""Undo: take back what a task has committed, and open it again with all that builds on it."""

from collections import deque
from collections.abc import Iterator

import msgspec

from ralph.core.errors import Busy, UsageError
from ralph.core.ids import TaskId
from ralph.core.moment import epoch, iso
from ralph.core.safe_text import one_line
from ralph.core.task import Status, Task
from ralph.ports.past import Commit, Past
from ralph.ports.store import Store

MARGIN_S = 86_400.0
"""Clocks differ: a commit may look older than the task that it belongs to."""


class Undoing(msgspec.Struct, frozen=True, kw_only=True):
    """What will happen."""

    task: Task
    commits: list[Commit]
    """Taken back, newest first."""
    below: list[Task]
    """Parts of it that are opened again."""
    after: list[Task]
    """What builds on it and is done: opened again, though its commits stay."""


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """What has happened."""

    commit: str | None
    """None where nothing was left to take back."""
    reverted: tuple[str, ...]
    reopened: tuple[TaskId, ...]


def foresee(store: Store, past: Past, name: str) -> Undoing:
    """What undoing a task would mean."""
    task = store.find(name)
    parts = store.subtree(task.id)
    after = list(_building_on(store, [part.id for part in parts]))
    busy = [one for one in (*parts, *after) if one.status is Status.IN_PROGRESS]
    if busy:
        raise Busy(
            f"task {busy[0].id} is in progress, so nothing below it can be taken away",
            hint="`ralph stop` ends the run first",
        )
    recorded = {
        commit: part.id
        for part in parts
        for session in store.sessions(task=part.id)
        for commit in session.commits
    }
    since = iso(min(epoch(part.created_at) for part in parts) - MARGIN_S)
    commits = past.made_by({part.id for part in parts}, recorded, since)
    if not commits and task.status is Status.PENDING:
        raise UsageError(f"task {task.id} is pending and has no commits: there is nothing to undo")
    return Undoing(
        task=task,
        commits=commits,
        below=[part for part in parts if part.id != task.id and part.status is not Status.PENDING],
        after=[one for one in after if one.status is Status.DONE],
    )


def undo(store: Store, past: Past, plan: Undoing, reason: str) -> Undone:
    """First the commits, which may be refused; then the tasks. Doing it twice does it once."""
    task = plan.task
    commit = past.take_back(plan.commits, _message(plan)) if plan.commits else None
    store.reset(task.id)
    for one in plan.after:
        # A parent is opened by what is below it.
        if not store.children(one.id):
            store.reset(one.id)
    what = f"its work was taken back by {commit[:10]}" if commit else "it was opened again"
    store.log(task.id, f"undone: {what}{f': {reason}' if reason else ''}")
    if reason:
        # Otherwise the next session might do just the same.
        store.inject(f"Your earlier work on this was undone: {reason}", task.id)
    return Undone(
        commit=commit,
        reverted=tuple(one.id for one in plan.commits),
        reopened=tuple(one.id for one in (task, *plan.below, *plan.after)),
    )


def _message(plan: Undoing) -> str:
    task = plan.task
    listed = "\n".join(f"- {one.id[:12]} {one_line(one.subject, 72)}" for one in plan.commits)
    # Each part has its own line: a part that is done again and undone again is undone from here.
    names = dict.fromkeys((task.id, *(part.id for part in plan.below)))
    trailers = "\n".join(f"Ralph-Undo: {name}" for name in names)
    return f"Undo: {one_line(task.title, 66)}\n\nTakes back\n\n{listed}\n\n{trailers}\n"


def _building_on(store: Store, tasks: list[TaskId]) -> Iterator[Task]:
    """Everything that waits for these tasks, directly or not.

    With a task all above it are opened again, so that what waits for one of those does as well.
    """
    seen = set(tasks)
    queue = deque(tasks)
    while queue:
        task = queue.popleft()
        for waiting in _waiting_for(store, task):
            for one in store.subtree(waiting.id):
                if one.id not in seen:
                    seen.add(one.id)
                    queue.append(one.id)
                    yield one


def _waiting_for(store: Store, task: TaskId) -> Iterator[Task]:
    above: TaskId | None = task
    while above is not None:
        yield from store.dependents(above)
        above = store.find(above).parent_id
