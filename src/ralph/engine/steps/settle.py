"""Step 5: apply the verdict to the task and the checkout."""

from msgspec.structs import replace

from ralph.core.errors import ClaimLost, RalphError, TemporaryFailure
from ralph.core.memory import Memory
from ralph.core.memory_selection import memories_of_attempt
from ralph.core.message_tags import read_message_tags
from ralph.core.run import IterationProgress
from ralph.core.snapshot import changed_work_files
from ralph.core.task import Task, TaskStatus
from ralph.core.transitions import Accepted, Conflicted, Rejected, Struck
from ralph.core.verdict import Verdict
from ralph.documents.review_file import BLOCKERS, with_blocker
from ralph.engine.iteration_report import add_failure_guardrail, log_accepted_work
from ralph.engine.merge import MergeResult, merge_work
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import EndedAttempt, UnfinishedWork
from ralph.engine.work_commit import (
    commit_work,
    move_work_to_branch,
    save_and_reset,
    trailers,
    warn_about_secrets,
)
from ralph.store.claims import Claim
from ralph.store.sessions import Checkpoint, Session


def settle(ctx: RunContext, attempt: EndedAttempt, verdict: Verdict) -> IterationProgress:
    """Commit or save the work, change the task's state, and return what the iteration achieved."""
    task, session = attempt.task, attempt.session
    for warning in verdict.warnings:
        ctx.log.warn(warning, task.id)
    merged = MergeResult()
    if isinstance(verdict.transition, Accepted):
        if session.checkpoint is not Checkpoint.COMMITTED:
            move_work_to_branch(ctx, attempt)
            warn_about_secrets(ctx, attempt)
            # Now, so that the tick is part of the commit.
            ctx.document.write_verdict(task, done=True)
            log_accepted_work(ctx, attempt, verdict)
            commit_work(ctx, attempt)
            _note_work(ctx, attempt)
        if ctx.merge_branch is not None:
            merged = merge_work(ctx, ctx.merge_branch, attempt)
            verdict = merged.refused or verdict
    try:
        after = ctx.store.claims.settle(
            attempt.claim,
            verdict.transition,
            message=_log_line(attempt, verdict),
            fail_fast=ctx.settings.config.execution.fail_fast,
            run=ctx.settings.run_id,
            events=merged.events,
            memories=_memories_to_keep(ctx, attempt, verdict),
            base=merged.base,
        )
    except ClaimLost as lost:
        return keep_lost_work(ctx, attempt.claim, attempt.unfinished, lost)
    ctx.log.publish()
    attempt = replace(attempt, base=merged.base or attempt.base)
    if after.status is not TaskStatus.DONE:
        ctx.document.write_verdict(task, done=False)
    ctx.document.end_session(task)
    _clean_up_checkout(ctx, attempt, after, verdict)
    return _progress(ctx, attempt, after, verdict)


def _note_work(ctx: RunContext, attempt: EndedAttempt) -> None:
    """Record which files the work is in, for later sessions, and on the session's own commits which
    task they belong to. Commits that are merged get trailers instead."""
    base, after, task = attempt.base, attempt.after, attempt.task.id
    if ctx.merge_branch is not None or base.same_as(after):
        return
    changes = ctx.workspace.changes(base, after)
    touched = changed_work_files(changes, ctx.workspace.prefix)
    ctx.store.tasks.learn_files(task, [path for path in touched if path not in ctx.checkout.kept])
    if changes.commits:
        try:
            ctx.workspace.annotate(changes.commits, trailers(ctx, task))
        except TemporaryFailure as error:
            ctx.log.warn(f"its own commits do not name their task: {error}", task)


def _clean_up_checkout(
    ctx: RunContext, attempt: EndedAttempt, task: Task, verdict: Verdict
) -> None:
    """Rejected work stays for the retry to fix; work of a task that is over does not."""
    if isinstance(verdict.transition, Accepted):
        ctx.memory_file.clear(task.id)
    if task.status is TaskStatus.DONE:
        return
    if isinstance(verdict.transition, Accepted):
        return  # it counts, though the session has split its task up and that goes on below
    if task.status in (TaskStatus.FAILED, TaskStatus.BLOCKED):
        save_and_reset(ctx, attempt.unfinished)
        write_blocker(ctx, task, attempt.session.attempt, task.reason or verdict.message)
        if task.status is TaskStatus.FAILED:
            add_failure_guardrail(ctx, task, task.reason or verdict.message, is_done=False)
    elif task.status is TaskStatus.PENDING:
        ctx.checkout.leave_unfinished(attempt.unfinished)


def keep_lost_work(
    ctx: RunContext, claim: Claim, left: UnfinishedWork, lost: ClaimLost
) -> IterationProgress:
    """The task was taken away from its session: save its work under a ref."""
    ctx.log.warn(f"{lost}; its work is kept aside", claim.task.id)
    save_and_reset(ctx, left)
    # A session may block its own task, which takes the claim away.
    task = ctx.store.tasks.get(claim.task.id)
    if task is not None and task.status is TaskStatus.BLOCKED:
        write_blocker(ctx, task, claim.attempt, task.reason or "blocked")
    return IterationProgress(reason="the claim was lost")


def write_blocker(ctx: RunContext, task: Task, attempt: int, why: str) -> None:
    """A person has to decide what becomes of it."""
    try:
        ctx.project_files.change(BLOCKERS, lambda text: with_blocker(text, task, attempt, why))
    except RalphError as error:
        ctx.log.warn_once(f"{BLOCKERS} is not up to date: {error}")


def _log_line(attempt: EndedAttempt, verdict: Verdict) -> str:
    """What later sessions read about this one."""
    task, journal = attempt.task, read_message_tags(attempt.ending.message).journal
    if isinstance(verdict.transition, Accepted) and journal:
        return journal
    spent = isinstance(verdict.transition, Rejected) and task.retry_count >= task.max_retries
    used = f" ({task.retry_count} of {task.max_retries} retries used)" if spent else ""
    return f"attempt {attempt.session.attempt}: {verdict.message}{used}"


def _memories_to_keep(
    ctx: RunContext, attempt: EndedAttempt, verdict: Verdict
) -> tuple[Memory, ...]:
    if not ctx.settings.config.memory.enabled:
        return ()
    return memories_of_attempt(attempt.task, attempt.session.attempt, attempt.ending, verdict)


def _progress(
    ctx: RunContext, attempt: EndedAttempt, task: Task, verdict: Verdict
) -> IterationProgress:
    accepted = isinstance(verdict.transition, Accepted)
    failed = task.status is TaskStatus.FAILED
    is_settled = accepted or failed or task.status is TaskStatus.BLOCKED
    # Its work is good; only others were quicker.
    is_outdated = isinstance(verdict.transition, Conflicted)
    tags = read_message_tags(attempt.ending.message)
    # Research leaves no commit, but something to build on.
    has_added = bool(ctx.control_socket.additions or tags.journal or tags.knowledge)
    return IterationProgress(
        done=accepted,
        struck=isinstance(verdict.transition, Struck),
        failed=failed,
        moved=is_settled
        or has_added
        or verdict.improved
        or bool(attempt.session.commits)
        or is_outdated,
        reason=_reason(verdict, attempt.session),
    )


def _reason(verdict: Verdict, session: Session) -> str:
    """What a breaker that opens says: a session without a claim often stumbled over a tool."""
    stumbled = session.tools.last_error if isinstance(verdict.transition, Struck) else ""
    return f"{verdict.message}; its last tool failed: {stumbled}" if stumbled else verdict.message
