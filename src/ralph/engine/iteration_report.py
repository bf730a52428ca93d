"""Report an iteration to the iteration log."""

from typing import Final
from zlib import crc32

from msgspec.structs import replace

from ralph.core.brief import Guardrail, GuardrailKind
from ralph.core.errors import RalphError
from ralph.core.policy.decision import Phase
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.core.times import to_iso
from ralph.core.verdict import Verdict
from ralph.documents.guardrails import add_guardrail_once, after_session, new_id, read
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import EndedAttempt
from ralph.ports.project_files import IterationReport

REASON_CHARS: Final = 200


def log_accepted_work(ctx: RunContext, attempt: EndedAttempt, verdict: Verdict) -> None:
    task = attempt.task
    if task.retry_count and task.reason:
        add_failure_guardrail(ctx, task, task.reason, is_done=True)
    if ctx.iteration_log is not None:
        report = _report(ctx, attempt, verdict, attempt.after)
        _warn(ctx, ctx.iteration_log.log_accepted(report))


def log_iteration(ctx: RunContext, attempt: EndedAttempt, verdict: Verdict) -> None:
    if ctx.iteration_log is not None:
        report = _report(ctx, attempt, verdict, ctx.checkout.snapshot())
        _warn(ctx, ctx.iteration_log.log_iteration(report))


def add_failure_guardrail(ctx: RunContext, task: Task, why: str, *, is_done: bool) -> None:
    """Add a guardrail about why an attempt failed. Only where the guardrails file exists."""
    s = ctx.settings
    reason = one_line(why.strip().partition("\n")[0], REASON_CHARS)
    is_wanted = s.config.memory.enabled and s.phase is Phase.BUILDING
    if not reason or not is_wanted or not ctx.project_files.exists(s.guardrails):
        return
    known = read(ctx.project_files.read(s.guardrails).text or "")
    if any(one.text.endswith(f": {reason}") for one in known):
        return
    how = "was done in the end; it had been refused" if is_done else "failed"
    now = ctx.clock.now()
    entry = Guardrail(
        id=new_id(GuardrailKind.FIX, int(now), f"{crc32(reason.encode()) % 0x10000:04x}"),
        kind=GuardrailKind.FIX,
        text=f"{one_line(task.title, 80)} ({task.name}) {how}: {reason}",
        tags=("learned",),
        created=to_iso(now)[:10],
    )
    keep_guardrail(ctx, entry)


def keep_guardrail(ctx: RunContext, entry: Guardrail) -> None:
    """Add it, unless it is known. Workers of a team write into one file, in the person's checkout,
    so that all know it at once and nothing has to be merged."""
    ctx.checkout.changed()
    try:
        ctx.project_files.change(
            ctx.settings.guardrails, lambda before: add_guardrail_once(before, entry)[0]
        )
    except RalphError as error:
        ctx.log.warn_once(f"no guardrail is kept: {error}")


def restore_guardrails(ctx: RunContext, task: Task, before: str) -> None:
    """Keep the guardrails that a session in the user's checkout has removed. In a team, what it
    writes in its own checkout is added to them instead."""
    path = ctx.settings.guardrails
    if ctx.merge_branch is not None or not before:
        return
    now = ctx.project_files.read(path).text or ""
    if after_session(before, now) == now:
        return
    try:
        ctx.project_files.change(path, lambda text: after_session(before, text))
    except RalphError as error:
        ctx.log.warn_once(f"the session changed {path}, which cannot be restored: {error}")
    else:
        ctx.log.warn(f"{path}: what the session wrote is added to what was there", task.id)


def _warn(ctx: RunContext, trouble: str) -> None:
    if trouble:
        ctx.log.warn_once(trouble)


def _report(
    ctx: RunContext, attempt: EndedAttempt, verdict: Verdict, now: Snapshot
) -> IterationReport:
    session = attempt.session
    # What the gates said is on record, and the session was read before that.
    recorded = ctx.store.sessions.get(session.task_id, session.attempt)
    account = IterationReport(
        iteration=ctx.state.iteration,
        task=attempt.task,
        session=replace(session, gates=recorded.gates) if recorded is not None else session,
        verdict=verdict,
        head=now.head,
        uncommitted=tuple(
            path for path in now.dirty if path not in ctx.checkout.kept - ctx.checkout.withheld
        ),
    )
    if session.before is None or session.before.head == now.head:
        return account
    heads = Snapshot(head=session.before.head), Snapshot(head=now.head)
    changes = ctx.workspace.changes(*heads)
    return replace(account, commits=changes.commits, committed=changes.files)
