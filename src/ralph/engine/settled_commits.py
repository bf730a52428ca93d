"""At the start of a run: are the commits of the tasks that were done last still there?

A disk that lied, a power cut or `git gc --prune=now` in the wrong moment can take away what the
store calls done. A task whose commit is gone or broken is opened again.
"""

from typing import Final

from ralph.core.errors import NoSuchTask, RalphError
from ralph.core.snapshot import Snapshot
from ralph.core.task import Status
from ralph.engine.kit import Kit
from ralph.engine.unjudged import is_here
from ralph.ports.history import Session
from ralph.ports.store import Store
from ralph.ports.workspace import Lost

LOOKED_AT: Final = 20
"""Sessions. What is older has been on disk for long."""
MOST: Final = 200
"""Commits of theirs."""


def check_settled(kit: Kit) -> None:
    """Open again what was lost, and say so."""
    made = recent_commits(kit.store)
    try:
        lost = kit.workspace.lost([*made]) if made else Lost()
    except RalphError:
        return  # git cannot be asked; the run is about to find out why
    # First: a branch that leads nowhere stops every git.
    began = _leave_lost_head(kit, [made[commit] for commit in reversed(lost.broken)])
    for task_id in dict.fromkeys(made[commit].task_id for commit in lost.broken):
        gone = [commit for commit in lost.broken if made[commit].task_id == task_id]
        why = f"its commit {gone[0][:10]} is missing or broken in the repository"
        kit.store.reset(task_id)
        kit.store.log(task_id, f"opened again: {why}")
        kit.store.inject(f"Your earlier work on this was lost: {why}. Do it again.", task_id)
        kit.warn(f"task {task_id} is open again: {why}", task_id)
    if began is not None:
        # What the lost commits held may still be in the files: the newest task goes on with it.
        kit.store.remember_base(made[lost.broken[-1]].task_id, began)
    if lost.unreachable:
        names = ", ".join(f"{one[:10]} ({made[one].task_id})" for one in lost.unreachable[:5])
        kit.warn(f"no branch has these commits of done tasks any more: {names}")


def _leave_lost_head(kit: Kit, sessions: list[Session]) -> Snapshot | None:
    """Take the branch back to where a session began, if its head is lost; return that state."""
    ours = [one for one in sessions if one.before is not None and is_here(kit, one)]
    now = kit.workspace.leave_lost_head([one.before.head for one in ours if one.before])
    if not now:
        return None
    kit.snapshot = None
    kit.warn(f"the head's commit was lost; the branch is on {now[:10]}, and no file has changed")
    return next(one.before for one in ours if one.before and one.before.head == now)


def recent_commits(store: Store) -> dict[str, Session]:
    """The commits of tasks that were done last, each with the session that counted. In a team, the
    commits of earlier attempts went with their checkout, or became part of these."""
    made: dict[str, Session] = {}
    for session in store.sessions(limit=LOOKED_AT):
        try:
            task = store.find(session.task_id)
        except NoSuchTask:
            continue
        if task.status is Status.DONE and session.attempt == task.attempt:
            made |= dict.fromkeys(session.commits, session)
    return dict(list(made.items())[-MOST:])
