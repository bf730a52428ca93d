"""Step 5: make the verdict true, for the task and for the checkout."""

from ralph.core.errors import ClaimLost
from ralph.core.learning import worth_keeping
from ralph.core.limits import Progress
from ralph.core.memory import Memory
from ralph.core.sigils import read_sigils
from ralph.core.snapshot import Snapshot, work
from ralph.core.task import Status, Task
from ralph.core.transitions import Accepted, Conflicted, Rejected, Struck
from ralph.core.verdict import Verdict
from ralph.engine.kit import Kit, Unfinished
from ralph.engine.merging import Merged, merge
from ralph.engine.telling import announce, teach
from ralph.engine.work import bring_back, commit_work, mind_secrets, set_aside
from ralph.ports.claims import Claim
from ralph.ports.history import Mark, Session


def settle(
    kit: Kit, claim: Claim, session: Session, verdict: Verdict, base: Snapshot | None
) -> Progress:
    """Commit or set aside the work, move the task, and say what the iteration brought."""
    task = claim.task
    for warning in verdict.warnings:
        kit.warn(warning, task.id)
    merged = Merged()
    if isinstance(verdict.transition, Accepted) and base and session.after:
        if session.mark is not Mark.COMMITTED:
            bring_back(kit, task.id, base, session.after)
            mind_secrets(kit, task.id, base, session.after)
            if kit.document is not None:
                # Now, so that the tick is part of the commit.
                kit.document.conclude(task, done=True)
            announce(kit, task, session, verdict)
            commit_work(kit, task, session.id, base, session.after)
            _note_files(kit, task, base, session.after)
        if kit.trunk is not None:
            merged = merge(kit, kit.trunk, claim, session)
            verdict = merged.refused or verdict
    try:
        after = kit.store.settle(
            claim,
            verdict.transition,
            message=_log_line(task, session, verdict),
            fail_fast=kit.settings.fail_fast,
            run=kit.settings.run_id,
            events=merged.events,
            memories=_learned(kit, claim, session, verdict),
        )
    except ClaimLost as lost:
        kit.warn(f"{lost}; its work is kept aside", task.id)
        if base is not None:
            set_aside(kit, task.id, claim.attempt, base)
        return Progress(reason="the claim was lost")
    kit.publish()
    if merged.base is not None:
        base = merged.base
        kit.store.move_base(task.id, base)
    if kit.document is not None:
        if after.status is not Status.DONE:
            kit.document.conclude(task, done=False)
        kit.document.release(task)
    if base is not None:
        _tidy(kit, after, session, verdict, base)
    return _progress(kit, after, verdict, session)


def _note_files(kit: Kit, task: Task, base: Snapshot, after: Snapshot) -> None:
    """Those that come after it are told where its work is."""
    if kit.trunk is None and not base.same_as(after):
        touched = work(kit.workspace.changes(base, after), kit.workspace.prefix)
        kit.store.learn_files(task.id, [path for path in touched if path not in kit.kept])


def _tidy(kit: Kit, task: Task, session: Session, verdict: Verdict, base: Snapshot) -> None:
    """Rejected work stays for the retry to mend; work of a task that is over does not."""
    if isinstance(verdict.transition, Accepted):
        kit.memo.clear(task.id)
    if task.status is Status.DONE:
        return
    if isinstance(verdict.transition, Accepted):
        # It counts, though the session has split its task up and that goes on below.
        kit.store.forget_base(task.id)
    elif task.status in (Status.FAILED, Status.BLOCKED):
        set_aside(kit, task.id, session.attempt, base)
        if task.status is Status.FAILED:
            teach(kit, task, task.reason or verdict.message, is_done=False)
    elif task.status is Status.PENDING:
        kit.unfinished = Unfinished(task=task.id, attempt=session.attempt, base=base)


def _log_line(task: Task, session: Session, verdict: Verdict) -> str:
    """What later sessions read about this one."""
    journal = read_sigils(session.ending.message).journal if session.ending else None
    if isinstance(verdict.transition, Accepted) and journal:
        return journal
    spent = isinstance(verdict.transition, Rejected) and task.retry_count >= task.max_retries
    used = f" ({task.retry_count} of {task.max_retries} retries used)" if spent else ""
    return f"attempt {session.attempt}: {verdict.message}{used}"


def _learned(kit: Kit, claim: Claim, session: Session, verdict: Verdict) -> tuple[Memory, ...]:
    if not kit.settings.telling.memory or session.ending is None:
        return ()
    return worth_keeping(claim.task, session.attempt, session.ending, verdict)


def _progress(kit: Kit, task: Task, verdict: Verdict, session: Session) -> Progress:
    accepted = isinstance(verdict.transition, Accepted)
    failed = task.status is Status.FAILED
    is_settled = accepted or failed or task.status is Status.BLOCKED
    # Its work is good; only others were quicker.
    is_outdated = isinstance(verdict.transition, Conflicted)
    sigils = read_sigils(session.ending.message if session.ending else "")
    # Research leaves no commit, but something to build on.
    has_told = bool(kit.door.added or sigils.journal or sigils.knowledge)
    return Progress(
        done=accepted,
        struck=isinstance(verdict.transition, Struck),
        failed=failed,
        moved=is_settled or has_told or verdict.improved or bool(session.commits) or is_outdated,
        reason=_reason(verdict, session),
    )


def _reason(verdict: Verdict, session: Session) -> str:
    """What a breaker that opens says: a session without a claim often stumbled over a tool."""
    stumbled = session.tools.last_error if isinstance(verdict.transition, Struck) else ""
    return f"{verdict.message}; its last tool failed: {stumbled}" if stumbled else verdict.message
