"""A worker of a team: the run loop with a checkout for each task and a shared branch."""

from collections.abc import Sequence
from contextlib import ExitStack, suppress

from msgspec.structs import replace

from ralph.core.errors import ClaimLost, RalphError, SetupFailed, TemporaryFailure
from ralph.core.events import WorkerJoined, WorkerLeft
from ralph.core.ids import TaskId
from ralph.core.merge_conflict import CheckoutStart, choose_checkout_start, conflict_brief_text
from ralph.core.run import (
    STOPPED,
    RunEnding,
    RunLimits,
    RunOutcome,
    iteration_limit_text,
    reached_run_limit,
)
from ralph.core.session_ending import EndingKind
from ralph.core.snapshot import Snapshot, changed_work_files
from ralph.core.task import TaskStatus
from ralph.core.transitions import Released
from ralph.engine.baseline import current_baseline
from ralph.engine.brief_inputs import BriefDocumentReader
from ralph.engine.crash_recovery import AFTER_SESSION, is_in_this_checkout
from ralph.engine.handoff import save_handoff_notes
from ralph.engine.iteration import IterationResult, interrupted_result, iterate, release_claim
from ralph.engine.loop import RunLoop
from ralph.engine.merge import (
    OVERTAKEN,
    count_conflicts,
    existing_tasks,
    newest_sessions,
    wait_for_merge_lock,
)
from ralph.engine.run_context import RunContext
from ralph.engine.state_files import write_review_file
from ralph.ports.executor import Interrupted
from ralph.ports.merge_branch import MergeBranch
from ralph.store.claims import Claim
from ralph.store.sessions import Checkpoint, Session


def run_team_worker(ctx: RunContext, merge_branch: MergeBranch) -> RunEnding:
    """Run one worker until nothing is left to do or it must stop."""
    teammate = TeamWorker(ctx, merge_branch)
    teammate.start()
    try:
        report = teammate.work()
    except RalphError as error:
        report = error_report(error)
    except Interrupted:
        report = RunEnding(RunOutcome.INTERRUPTED, f"by {ctx.interrupted()}")
    teammate.report_exit(report)
    return report


def error_report(error: RalphError) -> RunEnding:
    """Return the report of a worker that ended with an error."""
    hint = f" ({error.hint})" if error.hint else ""
    return RunEnding(
        outcome=RunOutcome.ERROR,
        reason=f"{error}{hint}",
        error_code=error.exit_code,
        may_pass=isinstance(error, SetupFailed),
    )


class CheckoutLost(Exception):
    """A session has no verdict yet, and its checkout is gone."""


class TeamWorker(RunLoop):
    def __init__(self, ctx: RunContext, merge_branch: MergeBranch) -> None:
        super().__init__(replace(ctx, merge_branch=merge_branch))
        self.merge_branch = merge_branch
        self.has_baseline = True  # the lead has taken it
        self.first_baseline = ctx.state.baseline
        """What the gates said when the run began."""
        self.used_up = ""
        """Which limit was met when the next iteration was to begin."""

    def start(self) -> None:
        """Take the slot; the lead has made the run known."""
        ctx, s = self.ctx, self.ctx.settings
        ctx.store.workers.join(s.worker, s.run_id, s.owner, s.lease_s, s.slot)
        ctx.log.record(WorkerJoined(run_id=s.run_id, worker=s.worker, slot=s.slot))

    def report_exit(self, report: RunEnding) -> None:
        ctx, s = self.ctx, self.ctx.settings
        ctx.beat()
        ctx.log.record(
            WorkerLeft(
                run_id=s.run_id,
                worker=s.worker,
                slot=s.slot,
                outcome=report.outcome,
                reason=report.reason,
            )
        )

    def prepare(self) -> None:
        """The lead has looked around."""
        self.guard.begin()

    def _asked_to_stop(self) -> RunEnding | None:
        """The lead passes on what people say; so that no session starts meanwhile, look oneself."""
        if not self.ctx.controls.stopping and self.ctx.store.messages.is_stop_requested(
            self.ctx.settings.run_id
        ):
            self.ctx.controls.stop(STOPPED)
        return super()._asked_to_stop()

    def limit(self) -> str | None:
        """Iterations are counted for the whole team, when one begins."""
        return reached_run_limit(RunLimits(run_s=self.ctx.settings.limits.run_s), 0, self.elapsed())

    def claim(self) -> Claim | None:
        """With the number of an iteration that no other worker has."""
        ctx, s = self.ctx, self.ctx.settings
        if ctx.store.claims.next_ready(ctx.state.target, s.schedule) is None:
            return None
        number = ctx.store.runs.begin_iteration(s.run_id, s.limits.iterations)
        if number is None:
            self.used_up = iteration_limit_text(s.limits.iterations)
            return None
        taken = super().claim()
        if taken is None:
            ctx.store.runs.uncount_iteration(s.run_id)
        ctx.state.number_iteration(number)
        return taken

    def nothing_ready(self) -> RunEnding | None:
        """The lead sees to what the dead have left."""
        if self.used_up:
            return RunEnding(RunOutcome.LIMIT_REACHED, self.used_up)
        return self.wait_for_others()

    def work_on(self, taken: Claim) -> IterationResult:
        """In the task's own checkout, which is gone when its work is safe."""
        with ExitStack() as until_merged:
            return self._work_on(taken, until_merged)

    def _work_on(self, taken: Claim, until_merged: ExitStack) -> IterationResult:
        ctx, task = self.ctx, taken.task.id
        try:
            if count_conflicts(ctx, task) >= OVERTAKEN:
                until_merged.enter_context(wait_for_merge_lock(ctx, self.merge_branch, taken))
            self._enter_checkout(taken)
        except CheckoutLost:
            gone = "its checkout is gone, and with it what its last session did"
            with suppress(ClaimLost):
                ctx.store.claims.forget_base(task, taken)
            release_claim(ctx, taken, Released(gone))
            ctx.store.runs.uncount_iteration(ctx.settings.run_id)
            return interrupted_result(ctx)
        except Interrupted:
            release_claim(ctx, taken, Released("stopped before its checkout was ready"))
            ctx.store.runs.uncount_iteration(ctx.settings.run_id)
            return interrupted_result(ctx)
        except BaseException:
            release_claim(ctx, taken, Released("its checkout could not be made ready"))
            raise
        iterated = iterate(ctx, taken)
        if not iterated.counts:
            ctx.store.runs.uncount_iteration(ctx.settings.run_id)
        # The next worker finds its work in its checkout.
        ctx.checkout.take_unfinished()
        self._leave_checkout(task)
        return iterated

    def _enter_checkout(self, taken: Claim) -> None:
        ctx, task = self.ctx, taken.task
        # Asked first: a tip that passes more than is known here does no harm, the merge asks again.
        ctx.state.set_baseline(current_baseline(ctx))
        is_there, sessions = self._open_checkout(task.id)
        # Documents as the others have left them, and what was said of its work.
        here = ctx.project_files_at(ctx.workspace.path)
        ctx.checkout.read_from(
            BriefDocumentReader(here, ctx.settings.guardrails, guardrails_in=ctx.project_files)
        )
        review_thread = ctx.store.reviews.thread(task.id)
        if review_thread.rounds or review_thread.comments:
            write_review_file(ctx.store, here, task)
        last = sessions[0] if sessions else None
        is_safe = (
            last is not None
            and last.checkpoint is Checkpoint.COMMITTED
            and self.merge_branch.has_accepted(task.id)
        )
        is_pending = last is not None and last.checkpoint in AFTER_SESSION
        if not is_safe and (not self._knows_states(task.id, last) if is_there else is_pending):
            raise CheckoutLost
        begins = choose_checkout_start([one.judged for one in sessions])
        if begins is CheckoutStart.AS_IT_IS:
            if is_there:
                # It may lack what has made a gate pass since.
                ctx.state.set_baseline(self.first_baseline)
            self._restore_unfinished(sessions)
            return
        ref = f"refs/ralph/conflict/{task.id}/{sessions[0].attempt}"
        theirs: list[TaskId] = []
        if begins is CheckoutStart.SIDE_BY_SIDE:
            theirs += self.merge_branch.merge_uncommitted(task.id, ref).theirs
        else:
            self.merge_branch.reset_checkout(task.id, ref)
        tip = ctx.workspace.snapshot()
        # All of it is the task's, also what is in the tree already.
        ctx.store.claims.move_base(task.id, Snapshot(head=tip.head, branch=tip.branch), taken)
        known = existing_tasks(ctx, tuple(theirs))
        ctx.checkout.describe_conflict(conflict_brief_text(begins, known, ref))

    def _open_checkout(self, task: TaskId) -> tuple[bool, list[Session]]:
        """Return whether it was there, and the sessions that worked in it, newest first."""
        ctx, merge_branch = self.ctx, self.merge_branch
        if ctx.store.claims.base(task) is None:
            # Left by sessions that a restored database does not know: nothing in it would count.
            merge_branch.remove_checkout(task)
        is_there = merge_branch.has_checkout(task)
        ctx.checkout.move_to(merge_branch.open_checkout(task))
        sessions = newest_sessions(ctx, task)
        if not sessions or is_in_this_checkout(ctx, sessions[0]):
            return is_there, sessions
        # A run with one worker has gone on with it in place: what is here would count as there
        # before the task, since nothing tells any more what it began with.
        if is_there:
            merge_branch.remove_checkout(task)
            ctx.checkout.move_to(merge_branch.open_checkout(task))
        return False, []

    def _knows_states(self, task: TaskId, last: Session | None) -> bool:
        """Can git read the recorded states? A restored database may know an earlier checkout."""
        ctx, base = self.ctx, self.ctx.store.claims.base(task)
        states = [ctx.checkout.snapshot()]
        if last is not None and last.after is not None and is_in_this_checkout(ctx, last):
            states.append(last.after)
        try:
            for state in states:
                ctx.workspace.changes(base or state, state)
        except TemporaryFailure:
            raise
        except RalphError:
            return False
        return True

    def _restore_unfinished(self, sessions: Sequence[Session]) -> None:
        """Its last worker may have died in the middle of it: then what was seen has to do."""
        last = next(iter(sessions), None)
        if last is None or last.ending is None or not is_in_this_checkout(self.ctx, last):
            return
        if last.ending.ended is EndingKind.LOST:
            save_handoff_notes(self.ctx, last, why=last.ending.detail)

    def _leave_checkout(self, task: TaskId) -> None:
        """Remove the checkout of a task that is over, or whose work others continue below it."""
        ctx = self.ctx
        found = ctx.store.tasks.get(task)
        status = found.status if found is not None else None
        if status is TaskStatus.IN_PROGRESS:
            return  # another worker has it already
        if status is not TaskStatus.PENDING or ctx.store.tasks.children(task):
            self.merge_branch.remove_checkout(task)
        elif (base := ctx.store.claims.base(task)) is not None:
            # The next worker keeps out of the way of others who are at these files.
            touched = changed_work_files(
                ctx.workspace.changes(base, ctx.checkout.snapshot()), ctx.workspace.prefix
            )
            ctx.store.tasks.learn_files(task, touched)
