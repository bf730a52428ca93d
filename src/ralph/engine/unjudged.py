"""Sessions that have ended and wait for their verdict: Ralph died, or was stopped, in between."""

from ralph.core.ids import TaskId
from ralph.engine.kit import Kit
from ralph.ports.history import Mark, Session

BEHIND_THE_SESSION = (Mark.ENDED, Mark.GATED, Mark.ACCEPTED, Mark.COMMITTED)


def unjudged(kit: Kit, task: TaskId) -> Session | None:
    """The task's last session, if it has ended, here, but was never judged.

    A paid session is not repeated because of that.
    """
    last = last_session(kit, task)
    if last is None or last.mark not in BEHIND_THE_SESSION or not is_here(kit, last):
        return None
    return last


def last_session(kit: Kit, task: TaskId) -> Session | None:
    """The newest one, in whatever checkout."""
    return next(iter(kit.store.sessions(task=task, limit=1)), None)


def is_here(kit: Kit, session: Session) -> bool:
    """Only in the session's own checkout can its work be judged."""
    return session.checkout == kit.workspace.path
