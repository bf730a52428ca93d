"""What an iteration came to, for the chronicle."""

from typing import Final
from zlib import crc32

from msgspec.structs import replace

from ralph.core.errors import RalphError
from ralph.core.moment import iso
from ralph.core.policy.decision import Phase
from ralph.core.safe_text import one_line
from ralph.core.shelf import Guardrail, GuardrailKind
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.core.verdict import Verdict
from ralph.documents.guardrails import new_id
from ralph.documents.lessons import learned
from ralph.engine.kit import Kit
from ralph.ports.chronicle import Account
from ralph.ports.history import Session

LESSON_CHARS: Final = 200


def announce(kit: Kit, task: Task, session: Session, verdict: Verdict) -> None:
    """The work counts, and is about to be committed."""
    if task.retry_count and task.reason:
        teach(kit, task, task.reason, is_done=True)
    if kit.chronicle is not None and session.after is not None:
        _say(kit, kit.chronicle.accepted(_account(kit, task, session, verdict, session.after)))


def write_down(kit: Kit, task: Task, session: Session, verdict: Verdict) -> None:
    """The iteration is over."""
    if kit.chronicle is not None:
        now = kit.take_snapshot()
        _say(kit, kit.chronicle.iterated(_account(kit, task, session, verdict, now)))


def teach(kit: Kit, task: Task, why: str, *, is_done: bool) -> None:
    """Add to the guardrails what an attempt has failed for, so that others need not. Only where
    there are any: nobody wants files that they have not asked for."""
    path, s = kit.settings.guardrails, kit.settings
    reason = one_line(why.strip().partition("\n")[0], LESSON_CHARS)
    is_wanted = s.telling.memory and s.phase is Phase.BUILDING and kit.trunk is None
    if not reason or not is_wanted or not kit.library.exists(path):
        return
    how = "was done in the end; it had been refused" if is_done else "failed"
    now = kit.clock.now()
    entry = Guardrail(
        id=new_id(GuardrailKind.FIX, int(now), f"{crc32(reason.encode()) % 0x10000:04x}"),
        kind=GuardrailKind.FIX,
        text=f"{one_line(task.title, 80)} ({task.name}) {how}: {reason}",
        tags=("learned",),
        created=iso(now)[:10],
    )
    try:
        kit.library.change(path, lambda before: learned(before, entry)[0])
    except RalphError as error:
        kit.warn_once(f"no lesson is kept: {error}")


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
