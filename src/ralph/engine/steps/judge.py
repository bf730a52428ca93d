"""Step 4: decide whether the work counts."""

from msgspec.structs import replace

from ralph.core.events import GatesWeighed
from ralph.core.gates import GateEvidence, compare_with_baseline, improved
from ralph.core.message_tags import read_message_tags
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_events import SessionRole
from ralph.core.snapshot import Snapshot, changed_work_files
from ralph.core.task import Task
from ralph.core.transitions import Accepted, Blocked
from ralph.core.verdict import (
    Verdict,
    on_broken_document,
    on_change,
    on_changed_gate_inputs,
    on_claim,
    on_ending,
    on_gates,
    on_history,
    on_missing_result,
    on_nested_repositories,
    on_tampering,
)
from ralph.engine.baseline import save_baseline
from ralph.engine.commit_gates import CommitGates, preview
from ralph.engine.control import handle_controls
from ralph.engine.gate_changes import undo_gate_changes
from ralph.engine.gate_input_check import check_gate_inputs
from ralph.engine.gates import run_gates_with_blame
from ralph.engine.review_comments import answer_comments
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import EndedAttempt
from ralph.engine.tampering import tampered
from ralph.engine.verification_and_review import review, verify
from ralph.ports.executor import Interrupted
from ralph.ports.task_document import DocumentClaim
from ralph.store.sessions import Checkpoint


def judge(ctx: RunContext, attempt: EndedAttempt) -> Verdict:
    """Return the verdict; a task that was skipped meanwhile gets none."""
    task, session = attempt.task, attempt.session
    # Said while the session was ending: too late to stop it, not too late to count.
    handle_controls(ctx, task.id)
    try:
        verdict = _judge(ctx, attempt)
    except Interrupted:
        if task.id not in ctx.controls.skipped:
            raise
        return _skip(ctx, task)
    if task.id in ctx.controls.skipped:
        return _skip(ctx, task)
    is_new = session.checkpoint is not Checkpoint.COMMITTED
    is_to_be_committed = attempt.after.dirty or ctx.own_documents or ctx.merge_branch is not None
    if isinstance(verdict.transition, Accepted) and is_new and is_to_be_committed:
        # A commit comes next; after a crash in the middle of it, it must be finished.
        ctx.store.sessions.save_checkpoint(session.id, Checkpoint.ACCEPTED, attempt.claim)
    return verdict


def _skip(ctx: RunContext, task: Task) -> Verdict:
    why = ctx.controls.take_skip(task.id)
    return Verdict(transition=Blocked(why), message=why)


def _judge(ctx: RunContext, attempt: EndedAttempt) -> Verdict:
    """Each step only if the one before allows it; every result leaves a durable checkpoint."""
    task, session, ending = attempt.task, attempt.session, attempt.ending
    if session.checkpoint in (Checkpoint.ACCEPTED, Checkpoint.COMMITTED):
        passed = {one.role for one in ctx.store.checks.of_session(session.id) if one.passed}
        accepted = Accepted(
            verified=SessionRole.VERIFY in passed, reviewed=SessionRole.REVIEW in passed
        )
        return Verdict(transition=accepted, message="accepted before Ralph was stopped")
    left = ctx.document.read_claim(task)
    for warning in left.warnings:
        ctx.log.warn(warning, task.id)
    claimed = session.socket_claim or ("done" if left.claims else None)
    return (
        _on_ending(ending, left)
        or on_broken_document(left.broken)
        or on_claim(task, read_message_tags(ending.message), claimed)
        or on_history(_lost(ctx, attempt))
        or on_tampering(tampered(ctx, attempt.base, attempt.after))
        or on_nested_repositories(_nested(ctx, attempt))
        or on_change(task, _changed_work(ctx, attempt), _never_committed(ctx, attempt))
        or on_missing_result(ctx.missing(task))
        or answer_comments(ctx, attempt)
        or _gates(ctx, attempt)
    )


def _on_ending(ending: SessionEnding, left: DocumentClaim) -> Verdict | None:
    # Who ticks a box has said something, also without a word.
    silent = ending.ended is EndingKind.NO_RESULT and not ending.message and left.claims
    return None if silent else on_ending(ending)


def _lost(ctx: RunContext, attempt: EndedAttempt) -> tuple[str, ...]:
    """Commits that the task began with and that its branch no longer has, unless the user has
    replaced them."""
    if attempt.base.head == attempt.after.head:
        return ()
    base = ctx.workspace.with_user_commits(attempt.base, attempt.after)
    return ctx.workspace.changes(attempt.after, base).commits


def _nested(ctx: RunContext, attempt: EndedAttempt) -> tuple[str, ...]:
    """Other repositories in what changed since the task was begun. What was committed may be on
    disk no longer: it would be there again after a checkout."""
    base, after = attempt.base, attempt.after
    if base.same_as(after):
        return ()
    found: list[str] = []
    for old, new in ((base, after), (Snapshot(head=base.head), Snapshot(head=after.head))):
        if not old.same_as(new):
            found += ctx.workspace.changes(old, new).nested
    return tuple(dict.fromkeys(found))


def _changed_work(ctx: RunContext, attempt: EndedAttempt) -> frozenset[str]:
    """The files that changed since the task was begun."""
    session, after = attempt.session, attempt.after
    changed = _changed(ctx, attempt.base, after)
    # A person may have committed its work before it was judged: it is work all the same.
    then = ctx.store.sessions.get(session.task_id, session.attempt)
    if changed <= ctx.checkout.kept and then and then.before and then.after not in (None, after):
        changed |= _changed(ctx, then.before, then.after)
    return changed


def _never_committed(ctx: RunContext, attempt: EndedAttempt) -> frozenset[str]:
    """What cannot count as work. Without any commits, work on top of what is not committed does: an
    earlier run may have left that in the tree."""
    if ctx.settings.config.git.commit != "none":
        return ctx.checkout.kept
    return ctx.checkout.kept - {*attempt.base.dirty}


def _changed(ctx: RunContext, base: Snapshot, after: Snapshot) -> frozenset[str]:
    if base.same_as(after):
        return frozenset()
    prefix = ctx.workspace.prefix
    # Ralph writes these, wherever settings have put them.
    own = ctx.own_documents | {prefix + ctx.settings.guardrails}
    return frozenset(changed_work_files(ctx.workspace.changes(base, after), prefix)) - own


def _gates(ctx: RunContext, attempt: EndedAttempt) -> Verdict:
    if not ctx.settings.gates.commands:
        return _verify_and_review(ctx, attempt, on_gates(GateEvidence.NO_GATES, None))
    task, session, results = attempt.task.id, attempt.session, attempt.session.gates
    if session.checkpoint is Checkpoint.ENDED:
        commit = CommitGates(ctx, attempt)
        results = run_gates_with_blame(ctx, task, attempt.base.head)
        results = commit.check(check_gate_inputs(ctx, attempt, results))
        ctx.store.sessions.save_checkpoint(session.id, Checkpoint.GATED, attempt.claim, results)
        attempt = replace(attempt, session=replace(session, gates=results))
    evidence, decisive = compare_with_baseline(ctx.state.baseline, results)
    ctx.log.record(GatesWeighed(task_id=task, evidence=evidence))
    verdict = replace(on_gates(evidence, decisive), improved=improved(ctx.state.baseline, results))
    if isinstance(verdict.transition, Accepted):
        verdict = (
            on_changed_gate_inputs(results, verifies=ctx.settings.verification.is_on) or verdict
        )
    if isinstance(verdict.transition, Accepted):
        undo_gate_changes(ctx, attempt.after, lambda: preview(ctx, attempt), task)
        verdict = _verify_and_review(ctx, attempt, verdict)
    if not isinstance(verdict.transition, Accepted):
        ctx.checkout.keep(_files_left_by_gates(ctx, attempt))
    elif ctx.merge_branch is None:
        # In a team that is said of the branch, and the work is not there yet.
        save_baseline(ctx, results)
    return verdict


def _verify_and_review(ctx: RunContext, attempt: EndedAttempt, so_far: Verdict) -> Verdict:
    """What the gates let through still has to pass those who look at it."""
    s = ctx.settings
    if not (s.verification.is_on or s.review.is_on):
        return so_far
    coming = preview(ctx, attempt)
    for is_on, check in ((s.verification.is_on, verify), (s.review.is_on, review)):
        if is_on and isinstance(so_far.transition, Accepted):
            so_far = check(ctx, attempt, coming, so_far)
    return so_far


def _files_left_by_gates(ctx: RunContext, attempt: EndedAttempt) -> frozenset[str]:
    """Reports and caches that the gates have left, which the retry must not commit. What they
    changed in the task's own files stays: formatters do that."""
    base, after = attempt.base, attempt.after
    own = {*after.dirty, *ctx.workspace.changes(base, after).files}
    return frozenset(ctx.checkout.snapshot().dirty) - own
