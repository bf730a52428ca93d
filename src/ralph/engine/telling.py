"""What an iteration came to, for the chronicle."""

from msgspec.structs import replace

from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.core.verdict import Verdict
from ralph.engine.kit import Kit
from ralph.ports.chronicle import Account
from ralph.ports.history import Session


def announce(kit: Kit, task: Task, session: Session, verdict: Verdict) -> None:
    """The work counts, and is about to be committed."""
    if kit.chronicle is not None and session.after is not None:
        _say(kit, kit.chronicle.accepted(_account(kit, task, session, verdict, session.after)))


def write_down(kit: Kit, task: Task, session: Session, verdict: Verdict) -> None:
    """The iteration is over."""
    if kit.chronicle is not None:
        now = kit.take_snapshot()
        _say(kit, kit.chronicle.iterated(_account(kit, task, session, verdict, now)))


def _say(kit: Kit, trouble: str) -> None:
    if trouble:
        kit.warn_once(trouble)


def _account(kit: Kit, task: Task, session: Session, verdict: Verdict, now: Snapshot) -> Account:
    # What the gates said is on record, and the session was read before that.
    recorded = kit.store.session(session.task_id, session.attempt)
    account = Account(
        iteration=kit.iteration,
        task=task,
        session=replace(session, gates=recorded.gates) if recorded is not None else session,
        verdict=verdict,
        head=now.head,
        uncommitted=tuple(path for path in now.dirty if path not in kit.kept - kit.withheld),
    )
    if session.before is None or session.before.head == now.head:
        return account
    heads = Snapshot(head=session.before.head), Snapshot(head=now.head)
    changes = kit.workspace.changes(*heads)
    return replace(account, commits=changes.commits, committed=changes.files)
