"""Recover from a crash: release the claims of dead workers, continue after their last checkpoint,
and reopen tasks whose commits are lost."""

from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from ralph.core.errors import ClaimLost, RalphError, TemporaryFailure, UnusableData
from ralph.core.events import SessionEnded, Warned
from ralph.core.ids import TaskId
from ralph.core.run import RunOutcome
from ralph.core.safe_text import first_few_paths
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.snapshot import Snapshot
from ralph.core.task import TaskStatus
from ralph.core.times import from_iso, to_iso
from ralph.core.transitions import Postponed, Released
from ralph.engine.run_context import MARKER, RunContext
from ralph.engine.run_state import UnfinishedWork
from ralph.engine.tampering import withdraw_protected
from ralph.engine.work_commit import save_and_reset
from ralph.ports.workspace import LostCommits
from ralph.store.claims import Claim
from ralph.store.sessions import Checkpoint, Session
from ralph.store.store import Store

AFTER_SESSION = (Checkpoint.ENDED, Checkpoint.GATED, Checkpoint.ACCEPTED, Checkpoint.COMMITTED)


def session_pending_verdict(ctx: RunContext, task: TaskId) -> Session | None:
    """Return the task's last session in this checkout, if it ended without a verdict.

    A paid session is not repeated because of that.
    """
    last = last_session(ctx, task)
    if last is None or last.checkpoint not in AFTER_SESSION or not is_in_this_checkout(ctx, last):
        return None
    return last


def last_session(ctx: RunContext, task: TaskId) -> Session | None:
    """Return the task's newest session, in any checkout."""
    return next(iter(ctx.store.sessions.select(task=task, limit=1)), None)


def is_in_this_checkout(ctx: RunContext, session: Session) -> bool:
    """Return whether the session worked in this checkout. Only here its work can be judged."""
    return session.checkout == ctx.workspace.path


def recover_dead_workers(ctx: RunContext) -> None:
    """End the processes of dead runs, then release the claims of dead workers."""
    _end_dead_runs(ctx)
    for stale in ctx.dead_claims():
        # Another run may be quicker, now or while we are at it.
        with suppress(ClaimLost):
            claim = ctx.store.claims.take_over(stale, ctx.settings.worker)
            seen = from_iso(stale.beat) if stale.beat else None
            _release(ctx, claim, _session_of(ctx, claim), seen)
    ctx.log.publish()


def _session_of(ctx: RunContext, claim: Claim) -> Session | None:
    """The session of the claim; or, if its worker died while it judged an earlier one, that one."""
    session = ctx.store.sessions.get(claim.task.id, claim.attempt)
    last = last_session(ctx, claim.task.id) if session is None else None
    return last if last is not None and last.checkpoint in AFTER_SESSION else session


def _end_dead_runs(ctx: RunContext) -> None:
    """Also a run that held no claim may have died, while its gates ran."""
    for run, owner in ctx.store.runs.live():
        if run.id == ctx.settings.run_id or ctx.leases.is_alive(owner) is not False:
            continue
        # Its workers first, then what they had started.
        for member in ctx.store.workers.of_run(run.id):
            ctx.executor.end_marked(f"{MARKER}={member.worker}")
        why = "its process died"
        ctx.store.runs.end(run.id, RunOutcome.ERROR, why, Warned(message=f"run {run.id}: {why}"))


def _release(ctx: RunContext, claim: Claim, session: Session | None, seen: float | None) -> None:
    transition: Released | Postponed
    if session is not None and session.checkpoint in AFTER_SESSION:
        transition = Postponed("its worker died before the session was judged")
    else:
        transition = Released(f"attempt {claim.attempt} was lost: its worker died")
    if session is not None and session.checkpoint is Checkpoint.STARTED:
        _record_loss(ctx, claim, session, transition.reason, seen or ctx.clock.now())
    ctx.store.claims.settle(
        claim,
        transition,
        message=transition.reason,
        fail_fast=ctx.settings.config.execution.fail_fast,
        run=ctx.settings.run_id,
    )


def _record_loss(ctx: RunContext, claim: Claim, session: Session, why: str, seen: float) -> None:
    lost = replace(
        session,
        # When its worker was last seen: a machine may have been off for days since.
        ended_at=to_iso(max(seen, from_iso(session.started_at))),
        ending=SessionEnding(ended=EndingKind.LOST, detail=why),
        checkpoint=Checkpoint.ENDED,
        # From here on, what a person changes is kept apart from what it left.
        after=_snapshot_at_end(ctx, session, seen) if is_in_this_checkout(ctx, session) else None,
    )
    event = SessionEnded(
        session_id=session.id, task_id=session.task_id, ended=EndingKind.LOST, detail=why
    )
    ctx.store.sessions.end(lost, claim, event)
    if lost.after is not None:
        ctx.memory_file.find_owner(from_iso(session.started_at))
        changes = ctx.workspace.changes(session.before or lost.after, lost.after)
        if changes.commits and lost.after != ctx.checkout.snapshot():
            what = f"what it had committed, up to {lost.after.head[:10]}"
            ctx.log.warn(f"{what}, stays: there are commits of yours since", session.task_id)
        if left := [path for path in changes.files if path in lost.after.dirty]:
            # A person may have written there since, which nothing tells: warn them.
            said = f"a session died and left {first_few_paths(left)}: what is uncommitted there"
            ctx.log.warn(f"{said} counts as its work", session.task_id)
        ctx.memory_file.save_session_notes(session, changes, why=why)
        base = ctx.store.claims.base(session.task_id) or session.before or lost.after
        withdraw_protected(ctx, session.task_id, base, lost.after)


def _snapshot_at_end(ctx: RunContext, session: Session, seen: float) -> Snapshot | None:
    """What it left. Commits of later are a person's, and so is what lies on top of them."""
    try:
        now = ctx.checkout.snapshot()
        last = seen + ctx.settings.lease_s
        return ctx.workspace.snapshot_at(session.before or now, now, last)
    except TemporaryFailure:
        raise  # the next run finds the claim with a dead owner once more
    except RalphError:
        return None  # release the claim first; the error is reported elsewhere


def find_unfinished_work(ctx: RunContext) -> None:
    """Distinguish a user's uncommitted changes from work that an earlier run left unfinished."""
    left = find_unfinished(ctx)
    if left is not None:
        _continue_or_remove(ctx, left)
    dirty = left.base.dirty if left is not None else ctx.checkout.snapshot().dirty
    ctx.checkout.set_kept(frozenset(dirty) - ctx.own_documents)
    if kept := sorted(ctx.checkout.kept):
        ctx.log.warn(f"not committed, and left as they are: {first_few_paths(kept, 3)}")


def find_unfinished(ctx: RunContext) -> UnfinishedWork | None:
    """The work in this checkout, and what it started from.

    After a crash in mid-session nothing tells its edits from a person's; they are taken for the
    session's, or its retry could never commit them.
    """
    last = ctx.store.sessions.unfinished_in(ctx.workspace.path)
    base = ctx.store.claims.base(last.task_id) if last is not None else None
    if last is None or base is None:
        return None
    newest = last_session(ctx, last.task_id)
    if newest is not None and newest.id != last.id:
        return None  # the task has moved on in another checkout, where it began with something else
    now = ctx.checkout.snapshot()
    try:
        base = _with_user_changes(ctx, last, base, now)
        ctx.workspace.changes(base, now)
    except UnusableData as error:
        # Weeks have passed, and git has thrown the recorded states away. Better to learn it now
        # than after the next session.
        ctx.log.warn(f"the work of {last.task_id} is taken for yours: {error}", last.task_id)
        ctx.store.claims.forget_base(last.task_id, None)
        return None
    return UnfinishedWork(task=last.task_id, attempt=last.attempt, base=base)


def _with_user_changes(
    ctx: RunContext, session: Session, base: Snapshot, now: Snapshot
) -> Snapshot:
    """What changed after the session's end is a person's: the next attempt begins with it."""
    if session.after is None or session.after == now:
        return base
    if session.checkpoint in (Checkpoint.ENDED, Checkpoint.GATED) and _is_touched(
        ctx, session, base, now
    ):
        # What would be judged is not what would be committed.
        ctx.log.warn(f"the last session of {session.task_id} is not judged: its files were changed")
        ctx.store.sessions.leave_unjudged(session)
    moved = ctx.workspace.rebase_base(base, session.after, now)
    ctx.store.claims.move_base(session.task_id, moved, None)
    return moved


def _is_touched(ctx: RunContext, session: Session, base: Snapshot, now: Snapshot) -> bool:
    """Whether a person has changed what the session had changed."""
    after = session.after or now
    theirs = ctx.workspace.changes(after, now).files
    return not set(theirs).isdisjoint(ctx.workspace.changes(base, after).files)


def _continue_or_remove(ctx: RunContext, left: UnfinishedWork) -> None:
    """Go on with it, or take it out of the way if its task is over."""
    if ctx.store.tasks.find(left.task).status is not TaskStatus.PENDING:
        save_and_reset(ctx, left)
        return
    ctx.checkout.leave_unfinished(left)
    session = last_session(ctx, left.task)
    run = ctx.store.runs.get(session.run_id) if session is not None else None
    # One taken now would see that work: what it has broken would count as broken before.
    ctx.state.set_baseline(run.baseline if run is not None else ())


LOOKED_AT: Final = 20
"""Sessions. What is older has been on disk for long."""
MOST: Final = 200
"""Commits of theirs."""


def reopen_lost_tasks(ctx: RunContext) -> None:
    made = recent_commits(ctx.store)
    try:
        lost = ctx.workspace.lost_commits([*made]) if made else LostCommits()
    except RalphError:
        return  # git cannot be asked; the run is about to find out why
    # First: a branch that leads nowhere stops every git.
    began = _leave_lost_head(ctx, [made[commit] for commit in reversed(lost.broken)])
    for task_id in dict.fromkeys(made[commit].task_id for commit in lost.broken):
        gone = [commit for commit in lost.broken if made[commit].task_id == task_id]
        why = f"its commit {gone[0][:10]} is missing or broken in the repository"
        reason = f"Your earlier work on this was lost: {why}. Do it again."
        ctx.store.tasks.reset(task_id, reason)
        ctx.store.tasks.log(task_id, f"opened again: {why}")
        ctx.log.warn(f"task {task_id} is open again: {why}", task_id)
    if began is not None:
        # What the lost commits held may still be in the files: the newest task goes on with it.
        ctx.store.claims.remember_base(made[lost.broken[-1]].task_id, began, None)
    if lost.unreachable:
        names = ", ".join(f"{one[:10]} ({made[one].task_id})" for one in lost.unreachable[:5])
        ctx.log.warn(
            f"no branch has these commits of done tasks any more: {names}; `git cherry-pick` brings"
            " one back, `ralph task reset` does its task again"
        )


def _leave_lost_head(ctx: RunContext, sessions: list[Session]) -> Snapshot | None:
    """Take the branch back to where a session began, if its head is lost; return that state."""
    ours = [one for one in sessions if one.before is not None and is_in_this_checkout(ctx, one)]
    now = ctx.workspace.recover_lost_head([one.before.head for one in ours if one.before])
    if not now:
        return None
    ctx.checkout.changed()
    ctx.log.warn(
        f"the head's commit was lost; the branch is on {now[:10]}, and no file has changed"
    )
    return next(one.before for one in ours if one.before and one.before.head == now)


def recent_commits(store: Store) -> dict[str, Session]:
    """The commits of tasks that were done last, each with the session that counted. In a team, the
    commits of earlier attempts went with their checkout, or became part of these."""
    made: dict[str, Session] = {}
    for session in store.sessions.select(limit=LOOKED_AT):
        task = store.tasks.get(session.task_id)
        if task and task.status is TaskStatus.DONE and session.attempt == task.attempt:
            made |= dict.fromkeys(session.commits, session)
    return dict(list(made.items())[-MOST:])
