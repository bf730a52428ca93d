"""Step 3: run one session of the agent and record how it ended."""

from msgspec.structs import replace

from ralph.core.errors import RalphError
from ralph.core.events import SessionEnded
from ralph.core.ids import session_id
from ralph.core.safe_text import first_few_paths, one_line
from ralph.core.session_ending import EndingKind
from ralph.core.task import Task
from ralph.core.times import to_iso
from ralph.engine.agent_selection import is_billed, tool_permissions
from ralph.engine.control import handle_controls, wait_while_paused
from ralph.engine.handoff import (
    HandoffTrigger,
    archive_segment,
    changes_of_session,
    ended_fields,
    message_if_finished,
    save_handoff_notes,
)
from ralph.engine.iteration_report import restore_guardrails
from ralph.engine.run_context import RunContext
from ralph.engine.session import SessionResult, run_session
from ralph.engine.steps.compose import compose
from ralph.engine.work_commit import (
    remove_user_changes_from_commits,
    warn_about_user_changes,
)
from ralph.ports.agent import Brief
from ralph.store.claims import Claim
from ralph.store.sessions import Checkpoint, Session


def execute(ctx: RunContext, claim: Claim, brief: Brief) -> Session:
    """Return the ended session with its final message, stored durably."""
    session = _start(ctx, claim, brief)
    began, hidden = ctx.clock.now(), ctx.workspace.hidden_files()
    guardrails = ctx.project_files.read(ctx.settings.guardrails).text or ""
    session, result, took = run_session_segments(ctx, claim, session, brief)
    restore_guardrails(ctx, claim.task, guardrails)
    trouble = _clean_up_after(ctx, claim.task, began, hidden)
    after, changes = changes_of_session(ctx, session)
    if changes.commits and remove_user_changes_from_commits(ctx, claim.task.id, session.before):
        after, changes = changes_of_session(ctx, session)
    if changes.commits and ctx.settings.config.git.commit == "none" and session.before is not None:
        count = "a commit" if len(changes.commits) == 1 else f"{len(changes.commits)} commits"
        ctx.log.warn(
            f"the session has made {count}, though nothing is to be committed;"
            f" `git reset --soft {session.before.head[:10]}` takes that back and keeps the work",
            claim.task.id,
        )
    ctx.state.count_commits(len(changes.commits))
    ended = replace(
        session,
        ended_at=to_iso(ctx.clock.now()),
        checkpoint=Checkpoint.ENDED,
        after=after,
        ending=result.ending,
        commits=changes.commits,
        duration_s=took,
    )
    _note_errors(ctx, claim, session, result)
    ending, exit_ = result.ending, result.exit
    event = SessionEnded(
        # Its own time: those before it have reported theirs when they handed over.
        **ended_fields(session, ending, changes, exit_.duration_s),
        detail=one_line(ending.detail, 300),
        swept=exit_.leftovers_ended,
        denied=tuple(one_line(name, 60) for name in ending.denied),
    )
    ctx.store.sessions.end(ended, claim, event)
    ctx.log.publish()
    if ended.before and ended.after:
        warn_about_user_changes(ctx, claim.task.id, ended.before, ended.after, changes.files)
    if trouble is not None:
        raise trouble  # now that its end and its cost are recorded
    return ctx.store.sessions.get(claim.task.id, claim.attempt) or ended


def run_session_segments(
    ctx: RunContext, claim: Claim, session: Session, brief: Brief
) -> tuple[Session, SessionResult, float]:
    """Run sessions until one of them ends the attempt: one whose context is full hands off to a
    fresh one. Return the last one, and how long all of them took."""
    took = 0.0
    while True:
        handoff = HandoffTrigger(ctx, ctx.agents.current, session, brief)
        permissions = tool_permissions(ctx, ctx.agents.current)
        lead = ctx.control_socket.open_session(session, claim, permissions, ctx.settings.home)
        try:
            result = run_session(
                ctx,
                ctx.agents.current,
                brief,
                claim,
                name=session.id,
                variables=lead,
                handoff=handoff,
            )
        finally:
            ctx.control_socket.close_session()
            ctx.memory_file.end_session()
        took += result.exit.duration_s
        if not handoff.continues(claim, result.ending):
            if result.ending.ended is not EndingKind.FINISHED:
                # It could not report its state, so its events have to do.
                why = f"it ended early: {result.ending.detail or result.ending.ended}"
                save_handoff_notes(ctx, session, why=why, is_idle=not result.digest.tool_uses)
            break
        if why := _stop_reason(ctx, claim):
            save_handoff_notes(ctx, session, why=why, said=message_if_finished(result.ending))
            ending = replace(result.ending, ended=EndingKind.INTERRUPTED, detail=why)
            result = replace(result, ending=ending)
            break
        archive_segment(
            ctx, claim, session, handoff, result.ending, duration_s=result.exit.duration_s
        )
        ctx.memory_file.begin_part()
        brief = compose(ctx, claim)
        session = replace(
            session,
            log=f"{ctx.files}.log",
            model=brief.terms.model,
            tier=brief.terms.tier,
            given=brief.given,
        )
        _record_start(ctx, claim, session)
    return session, result, took


def _stop_reason(ctx: RunContext, claim: Claim) -> str:
    """Why no fresh session may go on, if so: it waits for the next attempt."""
    handle_controls(ctx, claim.task.id)
    wait_while_paused(ctx)
    if signal := ctx.interrupted():
        return f"stopped by {signal} when it was handed over"
    if (
        ctx.controls.stopping
        or claim.task.id in ctx.controls.skipped
        or not ctx.store.claims.holds(claim)
    ):
        return ctx.controls.stopping or "it was taken away when it was handed over"
    ctx.budget_tracker.refresh()
    return (ctx.budget_tracker.used_up() or "") if is_billed(ctx, ctx.agents.current) else ""


def _clean_up_after(
    ctx: RunContext, task: Task, began: float, hidden: frozenset[str]
) -> RalphError | None:
    """Take away locks and changes that the session should not have left; return what went wrong."""
    try:
        # Everything that the session started is gone, and holds no lock any more.
        for aside in ctx.workspace.clear_locks(began):
            ctx.log.warn(f"the session left a lock of git's; it is {aside} now", task.id)
        # What is judged would not be what is committed.
        if shown := sorted(ctx.workspace.hidden_files() - hidden):
            ctx.workspace.show_files(shown)
            ctx.log.warn(
                f"the session hid changes from git, which sees them now: {first_few_paths(shown)}",
                task.id,
            )
        for line in ctx.document.session_ended(task):
            ctx.log.warn(line, task.id)
    except RalphError as error:
        return error
    return None


def _note_errors(ctx: RunContext, claim: Claim, session: Session, result: SessionResult) -> None:
    digest = result.digest
    known = ctx.store.sessions.get(session.task_id, session.attempt) if digest.tool_errors else None
    if known is not None:
        uses = known.tools.with_stream_errors(digest.tool_errors, digest.tool_error)
        ctx.store.sessions.save_tool_usage(session.id, uses, claim)


def _start(ctx: RunContext, claim: Claim, brief: Brief) -> Session:
    task, before = claim.task, ctx.checkout.snapshot()
    left = ctx.state.left_branch(before.branch) if ctx.merge_branch is None else ""
    if left:
        now = f"branch {before.branch}" if before.branch else "no branch"
        ctx.log.warn(
            f"the checkout is on {now}, not on {left}: that is where the work goes", task.id
        )
    session = Session(
        id=session_id(task.id, claim.attempt),
        task_id=task.id,
        attempt=claim.attempt,
        run_id=ctx.settings.run_id,
        worker=claim.worker,
        agent=ctx.agents.current.traits.name,
        model=brief.terms.model,
        tier=brief.terms.tier,
        strategy=ctx.settings.config.models.strategy,
        checkout=ctx.workspace.path,
        log=ctx.files + ".log",
        started_at=to_iso(ctx.clock.now()),
        before=before,
        given=brief.given,
    )
    _record_start(ctx, claim, session)
    ctx.state.count_attempt()
    return session


def _record_start(ctx: RunContext, claim: Claim, session: Session) -> None:
    ctx.store.sessions.start(session, claim)
    ctx.log.publish()
    ctx.write_state_files()
