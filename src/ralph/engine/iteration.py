"""One iteration: claim, compose, execute, judge, settle."""

import contextlib

import msgspec
from msgspec.structs import replace

from ralph.core.errors import ClaimLost, RalphError
from ralph.core.run import IterationProgress
from ralph.core.session_ending import CONSEQUENCES, Consequence, EndingKind, SessionEnding
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task, TaskStatus
from ralph.core.transitions import Postponed, Released, Struck
from ralph.engine.crash_recovery import is_in_this_checkout, last_session, session_pending_verdict
from ralph.engine.iteration_report import log_iteration
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import EndedAttempt, UnfinishedWork
from ralph.engine.steps.compose import compose
from ralph.engine.steps.execute import execute
from ralph.engine.steps.judge import judge
from ralph.engine.steps.settle import keep_lost_work, settle, write_blocker
from ralph.engine.tampering import withdraw_protected
from ralph.engine.verification_and_review import CheckHalted
from ralph.ports.agent import Agent
from ralph.ports.executor import Interrupted
from ralph.store.claims import Claim
from ralph.store.sessions import Checkpoint, Session


class IterationResult(msgspec.Struct, frozen=True, kw_only=True):
    progress: IterationProgress = IterationProgress()
    ended: EndingKind
    agent: Agent
    """Whose session it was that ended so."""
    counts: bool = True
    """False when it was cut short by us or by a quota: waiting consumes no iteration."""
    detail: str = ""
    ends_run: bool = False
    interrupted_task: Task | None = None
    """Whose session a signal has ended."""

    @property
    def consequence(self) -> Consequence:
        return CONSEQUENCES[self.ended]


def iterate(ctx: RunContext, claim: Claim) -> IterationResult:
    """Take a claimed task to its verdict, and release the claim whatever happens."""
    ctx.state.begin_iteration()
    ctx.memory_file.begin_attempt()
    base = None
    try:
        session = _resume(ctx, claim)
        # Now, since deleting the task deletes its base as well.
        base = ctx.store.claims.base(claim.task.id)
        if session is None:
            brief = compose(ctx, claim)
            if ctx.interrupted():
                raise Interrupted  # a session would start only to be ended
            ctx.document.session_starts(claim.task)
            session = execute(ctx, claim, brief)
        # On a full disk a session ends without a snapshot: see now what it left.
        after = session.after or ctx.checkout.snapshot()
        withdraw_protected(ctx, claim.task.id, base or session.before or after, after)
    except ClaimLost as lost:
        return _claim_lost_result(ctx, claim, base, lost)
    except BaseException as error:
        if result := _broken_checkout_result(ctx, claim, error):
            return result
        release_claim(ctx, claim, _transition_after_error(ctx, claim))
        raise
    assert session.ending is not None
    return judge_and_settle(
        ctx,
        EndedAttempt(
            claim=claim,
            session=session,
            ending=session.ending,
            base=base or session.before or after,
            after=after,
        ),
    )


def _claim_lost_result(
    ctx: RunContext, claim: Claim, base: Snapshot | None, lost: ClaimLost
) -> IterationResult:
    """The result where the task was deleted or taken away before its session was on record."""
    task, progress = claim.task.id, IterationProgress()
    session = ctx.store.sessions.get(task, claim.attempt)
    began = base or (session.before if session is not None else None)
    if session is None or began is None:
        ctx.log.warn(f"task {task} is gone", task)  # nothing has been done
    else:
        left = UnfinishedWork(task=task, attempt=claim.attempt, base=began)
        progress = keep_lost_work(ctx, claim, left, lost)
    return IterationResult(
        ended=EndingKind.INTERRUPTED, agent=ctx.agents.current, progress=progress
    )


def _transition_after_error(ctx: RunContext, claim: Claim) -> Released | Postponed:
    """A session that is recorded as ended is judged by the next run, never repeated."""
    with contextlib.suppress(RalphError):
        if session_pending_verdict(ctx, claim.task.id) is not None:
            return Postponed("Ralph stopped before it was judged")
    return Released("Ralph stopped")


def _resume(ctx: RunContext, claim: Claim) -> Session | None:
    """The session that is left to judge, if there is one."""
    if claim.attempt == 1:
        return None
    last = last_session(ctx, claim.task.id)
    if last is not None and not is_in_this_checkout(ctx, last):
        # What it began with is the state of another checkout, and says nothing about this one.
        ctx.store.claims.forget_base(claim.task.id, claim)
    session = session_pending_verdict(ctx, claim.task.id)
    if session is None:
        return None
    ctx.log.warn(f"going on with {claim.task.id} where its last session ended", claim.task.id)
    if session.checkpoint in (Checkpoint.ACCEPTED, Checkpoint.COMMITTED):
        return session
    # What others have done since is on both sides of the comparison: see `crash_recovery`.
    return replace(session, after=ctx.checkout.snapshot())


def judge_and_settle(ctx: RunContext, attempt: EndedAttempt) -> IterationResult:
    """Judge and settle an attempt whose session has ended, now or before a crash."""
    claim, ending, ends_run = attempt.claim, attempt.ending, False
    try:
        verdict = judge(ctx, attempt)
        progress = settle(ctx, attempt, verdict)
        log_iteration(ctx, attempt, verdict)
        ends_run = verdict.ends_run
    except ClaimLost as lost:
        progress = keep_lost_work(ctx, claim, attempt.unfinished, lost)
    except Interrupted:
        release_claim(ctx, claim, Postponed("stopped before it was judged"))
        return interrupted_result(ctx)
    except CheckHalted as halted:
        release_claim(ctx, claim, Postponed(f"it cannot be checked now: {halted}"))
        ctx.checkout.leave_unfinished(attempt.unfinished)
        return IterationResult(
            ended=halted.ending.ended,
            agent=halted.agent,
            counts=False,
            detail=halted.ending.detail,
        )
    except BaseException as error:
        if result := _broken_checkout_result(ctx, claim, error):
            return result
        release_claim(ctx, claim, Postponed("Ralph stopped before it was settled"))
        ctx.checkout.leave_unfinished(attempt.unfinished)
        raise
    return IterationResult(
        progress=progress,
        ended=ending.ended,
        agent=ctx.agents.current,
        counts=ending.consequence in (Consequence.JUDGE, Consequence.STRIKE)
        or _was_taken_away(ctx, ending),
        detail=ending.detail,
        ends_run=ends_run,
        interrupted_task=claim.task
        if ending.ended is EndingKind.INTERRUPTED and ctx.interrupted()
        else None,
    )


def _broken_checkout_result(
    ctx: RunContext, claim: Claim, error: BaseException
) -> IterationResult | None:
    """The result where git cannot work any more in the private checkout of the task: that is the
    trouble of this task, not of the run. None: something else is wrong."""
    merge_branch, task = ctx.merge_branch, claim.task.id
    if not isinstance(error, RalphError) or merge_branch is None:
        return None
    try:
        merge_branch.head()  # otherwise the repository itself is broken
        if not merge_branch.put_aside_broken(task):
            return None
    except RalphError:
        return None
    why = f"its checkout is broken: {error}"
    if merge_branch.has_accepted(task):
        release_claim(ctx, claim, Postponed(f"{why}; its accepted work is safe"))
        return interrupted_result(ctx)
    try:
        ctx.store.claims.forget_base(task, claim)
        after = ctx.store.claims.settle(
            claim,
            Struck(why),
            message=f"attempt {claim.attempt}: {why}",
            fail_fast=ctx.settings.config.execution.fail_fast,
            run=ctx.settings.run_id,
        )
    except ClaimLost:
        return interrupted_result(ctx)
    ctx.log.publish()
    is_failed = after.status is TaskStatus.FAILED
    if is_failed:
        write_blocker(ctx, after, claim.attempt, why)
    return IterationResult(
        progress=IterationProgress(struck=True, failed=is_failed, moved=is_failed, reason=why),
        ended=EndingKind.AGENT_ERROR,
        agent=ctx.agents.current,
        detail=why,
    )


def interrupted_result(ctx: RunContext) -> IterationResult:
    """Return the result of an iteration that was interrupted outside of a session."""
    return IterationResult(ended=EndingKind.INTERRUPTED, agent=ctx.agents.current, counts=False)


def _was_taken_away(ctx: RunContext, ending: SessionEnding) -> bool:
    """Skipped, deleted, or blocked by its own session: an agent could do that for ever."""
    return ending.ended is EndingKind.INTERRUPTED and not (
        ctx.interrupted() or ctx.controls.stopping
    )


def release_claim(ctx: RunContext, claim: Claim, transition: Released | Postponed) -> None:
    """Release the claim after an error of Ralph's own, at no cost to the task."""
    # If the store is what failed, the lease frees the task; the first error is the one to report.
    with contextlib.suppress(RalphError):
        ctx.store.claims.settle(
            claim, transition, message=transition.reason, fail_fast=False, run=ctx.settings.run_id
        )
        ctx.log.publish()
