"""Find what a task has changed: its commits, what an attempt left in the checkout, kept work."""

from collections.abc import Sequence

from ralph.core.errors import Missing, UsageError
from ralph.core.ids import kept_ref
from ralph.core.task import Task
from ralph.ports.workspace import BranchHistory
from ralph.store.sessions import Session
from ralph.store.store import Store
from ralph.workflows.undo import commits_of_tasks


def diff_arguments(
    store: Store, history: BranchHistory, name: str, attempt: int | None
) -> tuple[str, ...]:
    """Return the git command that shows it, without options: `show COMMIT…` or `diff FROM TO`;
    empty if there is nothing to show."""
    task = store.tasks.find(name)
    if attempt is not None:
        session = store.sessions.get(task.id, attempt)
        if session is None:
            known = ", ".join(str(one.attempt) for one in store.sessions.select(task=task.id))
            hint = f"it had attempts {known}" if known else "no session has worked on it"
            raise Missing(f"task {task.id} had no attempt {attempt}", hint=hint)
        return _changes(task, session, session)
    commits = commits_of_tasks(store, history, store.tasks.subtree(task.id))
    if commits:
        return ("show", *(commit.id for commit in reversed(commits)))
    sessions = store.sessions.select(task=task.id)
    if not sessions:
        return ()
    return _changes(task, _first_of(sessions), sessions[-1])


def _first_of(sessions: Sequence[Session]) -> Session:
    """The attempt with which the work began that the last one left."""
    first = sessions[-1]
    for session in reversed(sessions[:-1]):
        # Rejected work stays in the checkout, and the retry begins with it, and with what the gates
        # have dropped.
        after, before = session.after, first.before
        if after is None or before is None:
            break
        is_same_run = session.run_id == first.run_id and after.head == before.head
        if not (is_same_run or after.same_as(before)):
            break
        first = session
    return first


def find_kept_work(store: Store, name: str, attempt: int | None) -> tuple[str, str]:
    """Return the ref under which an attempt's work is kept, by default the newest, and the tree
    with which it began; empty if that is unknown."""
    task = store.tasks.find(name)
    kept = store.events.kept_work(task.id)
    wanted = [ref for ref in kept if attempt is None or ref == kept_ref(task.id, attempt)]
    if not wanted:
        what = "no work is" if attempt is None else f"no work of attempt {attempt} is"
        known = f"kept: {', '.join(kept)}" if kept else f"ralph diff {task.name}"
        raise Missing(f"{what} kept of task {task.name}", hint=known)
    ref, sessions = wanted[-1], store.sessions.select(task=task.id)
    while sessions and kept_ref(task.id, sessions[-1].attempt) != ref:
        sessions.pop()
    before = _first_of(sessions).before if sessions else None
    return ref, before.tree or before.head if before else ""


def _changes(task: Task, first: Session, last: Session) -> tuple[str, ...]:
    before, after = first.before, last.after
    if before is None or after is None:
        raise UsageError(
            f"attempt {last.attempt} at task {task.id} has not ended",
            hint=f"ralph logs {task.id}",
        )
    if before.same_as(after):
        return ()
    if not before.head and not before.tree:
        return ("show", after.head)  # the first commit of the repository
    return ("diff", before.tree or before.head, after.tree or after.head)
