"""The counters that keep readiness: whoever changes a status or an edge says so here.

A task is ready when it is pending, has no unmet blocker and no child, and nothing above it holds
it back. All of that stands in its row, so the next task costs the same among a million.
"""

from collections.abc import Iterable, Sequence

from ralph.adapters.store.batch import HOLDING, weight
from ralph.adapters.store.database import Database, Row
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import as_json
from ralph.core.ids import TaskId
from ralph.core.task import Status, Task

SQL = Queries("counters")


def moved(db: Database, before: Task, after: Task) -> bool:
    """A task has another status. False if nobody else's can follow from it: the counters show
    that at once, and most completions are such."""
    done = (after.status is Status.DONE) - (before.status is Status.DONE)
    failed = (after.status is Status.FAILED) - (before.status is Status.FAILED)
    may_follow = after.status is not Status.DONE or failed != 0
    if after.parent_id is not None and (done or failed):
        change = (-done, failed, after.parent_id)
        ((open_children, failed_children),) = db.rows(SQL.child_moved, change)
        # Otherwise the parent waits for the rest of its children.
        may_follow |= open_children == 0 or failed_children > 0
    # All of these flip the same way: nothing is both freed and held back by one step.
    holders: list[TaskId] = []
    if done:
        waiting = db.rows(SQL.dependents_of, (-done, after.id))
        holders = _turned(waiting, -done)
        may_follow |= any(status == "blocked" for _, _, _, status in waiting)
    if (before.status in HOLDING) != (after.status in HOLDING):
        holders.append(after.id)
    rehold(db, holders)
    return may_follow


def _turned(counted: list[Row], change: int) -> list[TaskId]:
    """The parents among these that now wait for nothing any more, or for the first time."""
    edge = 0 if change < 0 else 1
    return [task for task, unmet, children, _ in counted if children and unmet == edge]


def joined(db: Database, parent: TaskId, children: Sequence[Status]) -> None:
    """A parent got children with these statuses."""
    db.execute(SQL.family_changed, (len(children), *weight(children), parent))


def left(db: Database, parent: TaskId, child: Status) -> None:
    """A parent lost a child."""
    not_done, failed = weight([child])
    db.execute(SQL.family_changed, (-1, -not_done, -failed, parent))


def linked(db: Database, blocker: Task, blocked: TaskId, change: int) -> None:
    """An edge came (1) or went (-1)."""
    if blocker.status is not Status.DONE:
        counted = db.rows(SQL.blocked_by_one, (change, blocked))
        rehold(db, _turned(counted, change))


def rehold(db: Database, holders: Iterable[TaskId]) -> None:
    """Some tasks may have begun, or ceased, to hold back what is below them."""
    listed = list(holders)
    if listed:
        db.execute(SQL.rehold, {"ids": as_json(listed)})


def recount(db: Database, tasks: Iterable[TaskId]) -> None:
    """Count everything about some tasks anew, except whether they are held back."""
    db.execute(SQL.recount, {"ids": as_json(list(tasks))})


def mend(db: Database) -> list[str]:
    """Recount everything; put right what is wrong and tell it, one line each."""
    said = []
    wrong = db.rows(SQL.miscounted)
    for task, *pairs in wrong:
        names = ("unmet", "children", "open_children", "failed_children")
        for name, kept, true in zip(names, pairs[::2], pairs[1::2], strict=True):
            if kept != true:
                said.append(f"task {task} has {name} {kept}, but it is {true}")
    recount(db, [row[0] for row in wrong])
    misheld = db.rows(SQL.misheld)
    for task, held in misheld:
        how = "held back, but nothing holds it" if held else "free, but something above it waits"
        said.append(f"task {task} is {how}")
    db.execute(SQL.flip_held, {"ids": as_json([row[0] for row in misheld])})
    return said
