"""Part of step 5 in a team: merge accepted work into the branch, one task at a time."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.errors import Busy, TemporaryFailure
from ralph.core.events import GatesWeighed, MergeBegun, MergeQueued, WorkMerged, WorkSaved
from ralph.core.gates import GateEvidence, GateResult, compare_with_baseline
from ralph.core.ids import TaskId
from ralph.core.merge_conflict import conflict_text
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.core.transitions import Accepted, Conflicted, Rejected
from ralph.core.verdict import AttemptVerdict, Verdict, on_gates
from ralph.engine.baseline import current_baseline, save_baseline
from ralph.engine.commit_gates import CommitGates
from ralph.engine.control import tick
from ralph.engine.gates import run_gates_with_blame
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import EndedAttempt
from ralph.engine.work_commit import commit_message, trailers
from ralph.ports.executor import Interrupted
from ralph.ports.merge_branch import MergeBranch
from ralph.store.claims import Claim
from ralph.store.sessions import Checkpoint, Session

QUEUE_S: Final = 0.2
"""How often one who waits asks whether it is its turn."""
TRIES: Final = 5
TRIES_WITHOUT_LOCK: Final = 3
"""Tries during which others may merge."""
LOOKED_AT: Final = 10
FREE_CONFLICTS: Final = 8
"""Of the sessions that are looked at."""
OVERTAKEN: Final = 4
"""Conflicts after which the task holds the merge lock: quicker tasks would always be first."""
NAMED: Final = 5
"""Other tasks that a conflict names."""


class MergeResult(msgspec.Struct, frozen=True, kw_only=True):
    refused: Verdict | None = None
    """Instead of the verdict that let it come so far."""
    base: Snapshot | None = None
    """What refused work is based on now."""
    events: tuple[WorkMerged, ...] = ()
    """None where there was nothing to merge."""


def merge_work(ctx: RunContext, merge_branch: MergeBranch, attempt: EndedAttempt) -> MergeResult:
    """Save the work, rebase it on the head, run the gates again if the head has moved, and
    fast-forward. After a crash it starts again, or finds that it is done."""
    claim, session = attempt.claim, attempt.session
    if session.checkpoint is not Checkpoint.COMMITTED:
        merge_branch.save_accepted(claim.task.id)
        ctx.store.sessions.save_checkpoint(session.id, Checkpoint.COMMITTED, claim)
    for number in range(1, TRIES + 1):
        _clear(ctx, claim.task.id)
        # Others merge while the gates run; a task that was overtaken too often makes them wait.
        turn = wait_for_merge_lock(ctx, merge_branch, claim)
        whole, end = (
            (nullcontext(), turn) if number <= TRIES_WITHOUT_LOCK else (turn, nullcontext())
        )
        with whole:
            try:
                return _merge(ctx, merge_branch, attempt, end)
            except (Busy, TemporaryFailure):
                # A person has committed to the branch just now, and again, and again; or a git
                # was killed, and what it left is undone.
                if number == TRIES:
                    raise
    raise AssertionError


def _merge(
    ctx: RunContext,
    merge_branch: MergeBranch,
    attempt: EndedAttempt,
    turn: AbstractContextManager[None],
) -> MergeResult:
    session, task = attempt.session, attempt.task.id
    if merge_branch.is_merged(task):
        save_baseline(ctx, tuple(one for one in _earlier_gate_results(ctx, session) if one.passed))
        return _in_the_branch(ctx, merge_branch, task)
    base = ctx.store.claims.base(task)
    message = "" if ctx.settings.config.merge.keep_steps else commit_message(ctx, attempt.task)
    rebased = merge_branch.rebase(task, trailers(ctx, task), message)
    ctx.checkout.changed()
    if rebased.conflict is not None:
        conflict = rebased.conflict
        why = conflict_text(conflict.files, existing_tasks(ctx, conflict.theirs))
        return MergeResult(refused=_conflict_verdict(ctx, session, why))
    now = ctx.workspace.snapshot()
    onto = Snapshot(head=rebased.head, branch=now.branch)
    is_moved = base is None or base.head != rebased.head
    on_head = replace(attempt, base=onto, after=now)
    refused, results = _run_gates_on_head(ctx, on_head, is_moved=is_moved)
    if refused is not None:
        return MergeResult(refused=refused, base=onto)
    # From here on no gate has to run again, though Ralph should die now.
    ctx.store.claims.move_base(task, onto, attempt.claim)
    commits = ctx.workspace.changes(onto, now).commits
    ctx.store.sessions.replace_commits(session.id, commits, attempt.claim)
    with turn:
        merge_branch.fast_forward(task, rebased.head)
        if results:
            save_baseline(ctx, results)
    return _in_the_branch(ctx, merge_branch, task)


def _in_the_branch(ctx: RunContext, merge_branch: MergeBranch, task: TaskId) -> MergeResult:
    head, base = ctx.workspace.snapshot().head, ctx.store.claims.base(task)
    if base is not None and base.head == head:
        return MergeResult()
    return MergeResult(events=(WorkMerged(task_id=task, branch=merge_branch.branch, commit=head),))


def _clear(ctx: RunContext, task: TaskId) -> None:
    """Save what is uncommitted (reports of gates, likely secrets), and reset for a rebase."""
    now = ctx.workspace.snapshot()
    if not now.dirty:
        return
    ref = f"refs/ralph/kept/{task}/left"
    ctx.workspace.save(ref, f"Left uncommitted by {task}\n")
    ctx.workspace.restore(Snapshot(head=now.head, branch=now.branch))
    ctx.checkout.changed()
    ctx.log.record(WorkSaved(task_id=task, ref=ref))


@contextmanager
def wait_for_merge_lock(ctx: RunContext, merge_branch: MergeBranch, claim: Claim) -> Iterator[None]:
    """Wait for the right to move the branch; a signal, or the loss of the claim, ends that."""
    task, is_queued = claim.task.id, False
    while True:
        with merge_branch.merge_lock() as is_ours:
            if is_ours:
                ctx.log.record(MergeBegun(task_id=task))
                yield
                return
        if not is_queued:
            ctx.log.record(MergeQueued(task_id=task))
            is_queued = True
        ctx.executor.sleep(QUEUE_S, lambda: _is_called_off(ctx, claim))
        if _is_called_off(ctx, claim):
            raise Interrupted


def _is_called_off(ctx: RunContext, claim: Claim) -> bool:
    stop = tick(ctx, claim.task.id)
    return bool(stop or ctx.controls.stop_now or not ctx.store.claims.holds(claim))


def _run_gates_on_head(
    ctx: RunContext, attempt: EndedAttempt, *, is_moved: bool
) -> tuple[Verdict | None, tuple[GateResult, ...]]:
    """What the gates say on top of what others have done; a verdict if that is no."""
    if not ctx.settings.gates.commands:
        return None, ()
    task, session = attempt.task.id, attempt.session
    # What is green there by now stays green, whatever it was when the task began.
    ctx.state.set_baseline(current_baseline(ctx))
    alone = _earlier_gate_results(ctx, session)
    is_asked = (
        is_moved or compare_with_baseline(ctx.state.baseline, alone)[0] is GateEvidence.BROKEN
    )
    results = alone
    if is_asked:
        commit = CommitGates(ctx, attempt)
        results = commit.check(run_gates_with_blame(ctx, task, attempt.base.head))
    evidence, decisive = compare_with_baseline(ctx.state.baseline, results)
    verdict = on_gates(evidence, decisive)
    if is_asked:
        ctx.log.record(GatesWeighed(task_id=task, evidence=evidence))
    if isinstance(verdict.transition, Accepted):
        if is_asked:
            ctx.store.sessions.save_checkpoint(
                session.id, Checkpoint.COMMITTED, attempt.claim, results
            )
            _clear(ctx, task)
        return None, results
    why = f"{verdict.message}, once it is on top of what others have merged"
    rejected, passed = verdict.transition, {one.name for one in alone if one.passed}
    if decisive and isinstance(rejected, Rejected) and decisive.name in passed:
        details = rejected.reason.removeprefix(verdict.message)
        return _conflict_verdict(ctx, session, why, details), results
    return replace(verdict, message=why), results


def _earlier_gate_results(ctx: RunContext, session: Session) -> tuple[GateResult, ...]:
    """By the gates, about this work as it is."""
    judged = ctx.store.sessions.get(session.task_id, session.attempt)
    return judged.gates if judged is not None else ()


def _conflict_verdict(ctx: RunContext, session: Session, why: str, details: str = "") -> Verdict:
    """What was good by itself does not fit what others have merged: that costs the task nothing,
    unless it happens again and again. The next session reads the details."""
    is_free = count_conflicts(ctx, session.task_id) < FREE_CONFLICTS
    reason = why + details
    return Verdict(transition=Conflicted(reason) if is_free else Rejected(reason), message=why)


def count_conflicts(ctx: RunContext, task: TaskId) -> int:
    """Return how many of the task's newest sessions ended with a merge conflict."""
    judged = [one.judged for one in newest_sessions(ctx, task)]
    return judged.count(AttemptVerdict.CONFLICT)


def newest_sessions(ctx: RunContext, task: TaskId) -> list[Session]:
    """Return the sessions that decide how the task's next one begins, newest first."""
    return ctx.store.sessions.select(task=task, limit=LOOKED_AT)[::-1]


def existing_tasks(ctx: RunContext, tasks: tuple[TaskId, ...]) -> list[Task]:
    return [one for one in map(ctx.store.tasks.get, tasks[:NAMED]) if one is not None]
