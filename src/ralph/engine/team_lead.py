"""The lead of a team: starts workers, handles the user's requests, updates their checkout."""

from collections import Counter
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from ralph.core.errors import Busy, RalphError, UnusableData, UsageError
from ralph.core.events import RunEnded, TaskDone, TaskFailed, TaskMoved, WorkerLeft
from ralph.core.ids import RunId, WorkerId
from ralph.core.run import STOPPED, RunEnding, RunOutcome
from ralph.core.safe_text import first_few_paths
from ralph.core.session_events import ReviewStarted
from ralph.core.verdict import AttemptVerdict
from ralph.engine.baseline import accept_baseline
from ralph.engine.control import SKIPPED, block_task, check_abort_file, refuse_if_abort_file
from ralph.engine.crash_recovery import find_unfinished, recover_dead_workers
from ralph.engine.gates import run_gate
from ralph.engine.loop import RunLoop
from ralph.engine.run_context import MARKER, RunContext
from ralph.engine.work_commit import save_and_reset
from ralph.ports.executor import SECOND, Interrupted
from ralph.ports.merge_branch import MergeBranch
from ralph.ports.worker_pool import WorkerExit, WorkerPool
from ralph.store.messages import ControlRequest, ControlWord

TICK_S: Final = 0.5
WORKER_HANGS_S: Final = 660.0
"""Longer than any command that a worker waits for without looking up: a git may take 600 s."""
STOP_WORKERS_S: Final = 16.0
"""How long workers have to end in good order: each of them bounds its own end a little below."""
MAX_WORKER_DEATHS: Final = 5
"""A slot whose worker dies so often while the team settles nothing stays empty."""
SETUPS: Final = 3
"""A slot whose worker fails so often to prepare a checkout is tried again while others work."""
REST_S: Final = 1.0
LONGEST_REST_S: Final = 60.0
DOCUMENTS: Final = "Where the tasks stand"
LEARNED: Final = "What was learned"

TRANSIENT: Final = Busy.exit_code
"""Of an error that may not come again: another process was at it, or a git was killed."""

WORST_FIRST: Final = (
    RunOutcome.FAILURE,
    RunOutcome.ERROR,
    RunOutcome.LIMIT_REACHED,
    RunOutcome.PAUSED,
    RunOutcome.BLOCKED,
    RunOutcome.INTERRUPTED,
)
"""Which worker's reason is the run's, when work is left."""

IDLE: Final = (
    RunOutcome.COMPLETE,
    RunOutcome.COMPLETE_WITH_FAILURES,
    RunOutcome.NO_PLAN,
    RunOutcome.BLOCKED,
)
"""Outcomes after which a worker could go on, if there were more to do."""


class TeamLead(RunLoop):
    """A run whose work is done by worker processes."""

    def __init__(
        self, ctx: RunContext, merge_branch: MergeBranch, worker_pool: WorkerPool, workers: int
    ) -> None:
        super().__init__(ctx)
        self.merge_branch = merge_branch
        self.worker_pool = worker_pool
        self.slots = [f"teammate-{number}" for number in range(1, workers + 1)]
        self.empty: dict[str, RunEnding] = {}
        """Slots that stay empty, and why."""
        self.deaths: Counter[str] = Counter()
        self.setups: Counter[str] = Counter()
        """How often a checkout could not be prepared since the team has settled a task, by slot."""
        self.retry_at: dict[str, float] = {}
        """When such a slot is tried again."""
        self.target = ctx.state.target
        self.seq = ctx.store.events.last_seq()
        self.silent: dict[WorkerId, float] = {}
        """Who has not renewed its lease, and since when."""
        self.next_look = 0.0
        """When to look for dead workers of other runs."""
        self.not_updated = ""
        """Why the person's checkout does not follow."""

    def run(self) -> RunEnded:
        """Run to one outcome, if a team can work here."""
        self.check_project()
        return super().run()

    def check_project(self) -> None:
        """Check, before anything is recorded, that a team can work here."""
        ctx = self.ctx
        if ctx.settings.config.git.commit == "none":
            raise UsageError(
                "several workers need commits: their work comes together in git",
                hint="leave out --no-commit, or run with one worker",
            )
        refuse_if_abort_file(ctx)
        self.merge_branch.clean_up_after_crash()
        self.merge_branch.check_branch()
        if not ctx.dead_claims():
            self._check_clean()  # otherwise once it is known what the dead have left

    def _check_clean(self) -> None:
        ctx = self.ctx
        dirty = [path for path in ctx.workspace.uncommitted() if path not in ctx.own_documents]
        if left := find_unfinished(ctx):
            # The rest is what a run with one worker has left, which is put aside.
            dirty = [path for path in dirty if path in left.base.dirty]
        if dirty:
            hint = "commit it, or `git stash` it; one worker would leave it alone"
            if ctx.project_files.exists(".gitmodules"):
                # Committing one that lags behind would take back what was built in it.
                hint = f"a submodule: `git submodule update --no-fetch`; else {hint}"
            names = first_few_paths(dirty)
            raise UnusableData(
                f"several workers start from what is committed, and this is not: {names}", hint=hint
            )

    def prepare(self) -> None:
        """End what dead runs have left, and put aside the unfinished work of one worker: here it
        would count as the person's, and the branch could not follow."""
        ctx = self.ctx
        self.clean_up_after_dead_runs()
        if left := find_unfinished(ctx):
            save_and_reset(ctx, left)
        self._check_clean()
        clear_checkouts(ctx, self.merge_branch)
        ctx.memory_file.remove_leftovers()
        self._update_user_checkout()
        if ctx.log.views is not None:
            ctx.log.views.begin()

    def work(self) -> RunEnding:
        """Keep every slot filled while there is work, then report the outcome."""
        ctx = self.ctx
        try:
            self.prepare()
            if end := self._asked_to_stop() or self._nothing_left() or self._baseline():
                return end
            self._fill_slots()
            while self.worker_pool.running or self._has_new_work() or self._slot_will_return():
                ctx.executor.sleep(TICK_S, self._tick)
                if self._is_over():
                    self._stop_workers()
            return self._conclusion()
        finally:
            self.worker_pool.close()
            self._clean_up_all_workers()
            clear_checkouts(ctx, self.merge_branch)
            self.merge_branch.clean_up_after_crash()
            # Said when the run ends, if there is anything to say.
            self.not_updated = self.merge_branch.update_user_checkout()
            ctx.checkout.changed()
            self._commit_documents()

    def _baseline(self) -> RunEnding | None:
        """In a checkout of its own: files that gates leave are not the person's."""
        ctx = self.ctx
        if not ctx.settings.gates.commands:
            return None
        try:
            with self.merge_branch.temporary_checkout("baseline") as place:
                results = tuple(run_gate(ctx, gate, place) for gate in ctx.settings.gates.commands)
        except Interrupted:
            return self._asked_to_stop()
        accept_baseline(ctx, results)
        return None

    # Workers

    def _fill_slots(self) -> None:
        """Start a worker where a slot is free, while there is work."""
        ctx = self.ctx
        if (
            self._is_over()
            or ctx.controls.stopping
            or ctx.controls.paused
            or not ctx.store.claims.has_open(self.target)
        ):
            return
        if ctx.store.claims.has_ready(self.target):
            # Added since a worker has left because there was nothing to do.
            self.empty = {slot: one for slot, one in self.empty.items() if one.outcome not in IDLE}
        for slot in [slot for slot in self.retry_at if self._may_return(slot)]:
            if ctx.clock.monotonic() >= self.retry_at[slot]:
                del self.retry_at[slot], self.empty[slot]
        for slot in self.slots:
            if slot not in self.worker_pool.running and slot not in self.empty:
                self.worker_pool.start_worker(slot)

    def _may_return(self, slot: str) -> bool:
        return bool(self.worker_pool.running) or self.setups[slot] < SETUPS

    def _slot_will_return(self) -> bool:
        """All have left: will a slot be tried again?"""
        ctx = self.ctx
        is_wanted = not (self._is_over() or ctx.controls.stopping) and ctx.store.claims.has_open(
            self.target
        )
        return is_wanted and any(map(self._may_return, self.retry_at))

    def _has_new_work(self) -> bool:
        """All have left: was anything added meanwhile?"""
        self._follow()
        self._tick()
        return bool(self.worker_pool.running)

    def _tick(self) -> bool:
        """Look at everything once; True: something has changed that needs more than a look."""
        ctx = self.ctx
        ctx.beat()
        ctx.log.publish()
        ctx.write_state_files()
        ctx.log.sink.tick()
        self._forward_controls()
        check_abort_file(ctx, now=True)
        self._handle_new_events()
        self._kill_hanging_workers()
        for gone in self.worker_pool.exits():
            self._handle_exit(gone)
        if ctx.clock.monotonic() >= self.next_look:
            self.next_look = ctx.clock.monotonic() + ctx.settings.lease_s / 3
            recover_dead_workers(ctx)
        if not self._is_over():
            self._fill_slots()
        return self._is_over() or not (self.worker_pool.running or self._slot_will_return())

    def _handle_exit(self, gone: WorkerExit) -> None:
        ctx, report = self.ctx, gone.report
        self._clean_up_worker(gone.worker)
        if (
            report is None
            or report.outcome is RunOutcome.INTERRUPTED
            or report.exit_code == TRANSIENT
        ):
            if report is None:
                ctx.log.record(
                    WorkerLeft(
                        run_id=ctx.settings.run_id,
                        worker=gone.worker,
                        slot=gone.slot,
                        outcome=None,
                        reason=gone.reason,
                    )
                )
            self.deaths[gone.slot] += 1
            if self.deaths[gone.slot] < MAX_WORKER_DEATHS:
                return
            last = report.reason if report is not None else gone.reason
            why = f"{gone.slot} has died {MAX_WORKER_DEATHS} times in a row, the last time: {last}"
            # It reported that itself: then nothing is wrong with the work.
            outcome = RunOutcome.ERROR if report is None else RunOutcome.PAUSED
            report = RunEnding(outcome, why)
        self.empty[gone.slot] = report
        if report.may_pass:
            self.setups[gone.slot] += 1
            rest = REST_S * 2 ** min(self.setups[gone.slot] - 1, 10)
            self.retry_at[gone.slot] = ctx.clock.monotonic() + min(rest, LONGEST_REST_S)

    def _kill_hanging_workers(self) -> None:
        """A worker that holds a task and renews no lease hangs. Counted in our own time: a machine
        that sleeps lets every lease run out."""
        ctx, now = self.ctx, self.ctx.clock.monotonic()
        present = set(self.worker_pool.running.values())
        silent = {
            one.task.claimed_by
            for one in ctx.stale_claims()
            if one.expired and one.task.claimed_by in present
        }
        self.silent = {
            worker: self.silent.get(worker, now) for worker in silent if worker is not None
        }
        for worker, since in self.silent.items():
            if now - since > WORKER_HANGS_S:
                ctx.log.warn(f"{worker} gives no sign of life, and is ended")
                self.worker_pool.kill(worker)

    def _clean_up_worker(self, worker: WorkerId) -> None:
        """End what it has left running, and give back what it held."""
        self.ctx.executor.end_marked(f"{MARKER}={worker}")
        recover_dead_workers(self.ctx)

    def _clean_up_all_workers(self) -> None:
        for member in self.ctx.store.workers.of_run(self.ctx.settings.run_id):
            if member.slot:
                self.ctx.executor.end_marked(f"{MARKER}={member.worker}")
        recover_dead_workers(self.ctx)

    def _stop_workers(self) -> None:
        """All workers end in good order; those that do not are ended."""
        self.worker_pool.stop_all()
        is_patient = True

        def all_gone() -> bool:
            nonlocal is_patient
            if is_patient and self.ctx.interrupted() == SECOND:
                is_patient = False
                self.worker_pool.stop_all(at_once=True)
            self.ctx.beat()
            self.ctx.log.publish()
            self.ctx.log.sink.tick()
            for gone in self.worker_pool.exits():
                self._clean_up_worker(gone.worker)
                if gone.report is not None:
                    self.empty[gone.slot] = gone.report
            return not self.worker_pool.running

        self.ctx.executor.sleep(STOP_WORKERS_S, all_gone)
        self.worker_pool.close()

    def _is_over(self) -> bool:
        """Whether all workers have to end."""
        ctx = self.ctx
        failed = any(one.outcome is RunOutcome.FAILURE for one in self.empty.values())
        return bool(ctx.interrupted() or ctx.controls.stop_now or failed or ctx.store.db.is_full)

    def _conclusion(self) -> RunEnding:
        ctx = self.ctx
        if end := self._asked_to_stop():
            return end
        worst = sorted(
            self.empty.values(),
            key=lambda one: WORST_FIRST.index(one.outcome) if one.outcome in WORST_FIRST else 99,
        )
        if worst and worst[0].outcome is RunOutcome.FAILURE:
            return worst[0]
        if end := self._nothing_left():
            return end
        if worst and worst[0].outcome in WORST_FIRST:
            return worst[0]
        open_ = ctx.store.claims.counts(self.target).open
        return RunEnding(RunOutcome.BLOCKED, f"{open_} open, none of them can run")

    def end(self, ending: RunEnding) -> RunEnded:
        """With what all of them did, and where to find it if it is not where people look."""
        if self.not_updated:
            self.ctx.log.warn(self.not_updated)
        sessions = self.ctx.store.sessions.select(run=self.ctx.settings.run_id)
        # Commits of an attempt that did not fit are not in the branch.
        merged = [one for one in sessions if one.judged is AttemptVerdict.ACCEPTED]
        commits = sum(len(one.commits) for one in merged)
        self.ctx.state.set_counts(attempts=len(sessions), commits=commits)
        return super().end(ending)

    def _account(self, ending: RunEnding) -> RunEnded:
        command = ""
        with suppress(RalphError):  # said in a warning; the run is over
            command = self.merge_branch.catch_up_command() if self.not_updated else ""
        return replace(super()._account(ending), catch_up=command)

    # People

    def _forward_controls(self) -> None:
        """What people say to the run is said to its workers."""
        ctx = self.ctx
        for control in ctx.store.messages.take_controls(ctx.address):
            match control.word:
                case ControlWord.PAUSE:
                    ctx.controls.pause()
                    if ctx.store.claims.in_progress(self.target):
                        ctx.log.warn("the run will pause after the sessions that are at work")
                case ControlWord.RESUME:
                    ctx.controls.resume()
                case ControlWord.STOP | ControlWord.STOP_NOW:
                    ctx.controls.stop(STOPPED, now=control.word is ControlWord.STOP_NOW)
                case ControlWord.SKIP:
                    self._skip(control)
                    continue
                case _:
                    pass
            for worker in self.worker_pool.running.values():
                ctx.store.messages.forward_control(control, RunId(worker))

    def _skip(self, control: ControlRequest) -> None:
        ctx, task = self.ctx, control.task_id
        if task is None:
            return
        found = ctx.store.tasks.get(task)
        if found is None:
            return
        holder = found.claimed_by
        if holder is not None and holder in self.worker_pool.running.values():
            ctx.store.messages.forward_control(control, RunId(holder))
        else:
            block_task(ctx, task, control.reason or SKIPPED)

    # The branch

    def _handle_new_events(self) -> None:
        """What has happened since the last look may be news for the person's checkout."""
        ctx = self.ctx
        moved = False
        while recorded := ctx.store.events.select(after=self.seq, limit=1000):
            self.seq = recorded[-1].seq
            for one in recorded:
                moved = moved or isinstance(one.event, TaskMoved | ReviewStarted)
                if isinstance(one.event, TaskDone | TaskFailed):
                    self.deaths.clear()
                    self.setups.clear()
        if moved:
            self._update_user_checkout()
            # Ralph owns the status there, and people may have changed something.
            self._follow()

    def _commit_documents(self) -> None:
        """Between two merges, and so on top of the last one; if the person's checkout could not
        follow, they stay uncommitted."""
        ctx = self.ctx
        with self.merge_branch.merge_lock() as is_ours:
            now = ctx.workspace.snapshot()
            changed = ctx.own_documents.intersection(now.dirty)
            if not is_ours or self.not_updated or not changed:
                return
            guardrails = ctx.workspace.prefix + ctx.settings.guardrails
            title = LEARNED if changed == {guardrails} else DOCUMENTS
            message = f"{title}\n\nRalph-Run: {ctx.settings.run_id}\n"
            ctx.workspace.commit(now, now, message, frozenset(), ctx.own_documents)
            self.merge_branch.head()

    def _update_user_checkout(self) -> None:
        why = self.merge_branch.update_user_checkout()
        if why and why != self.not_updated:
            self.ctx.log.warn(why)
        self.not_updated = why
        self.ctx.checkout.changed()


def clear_checkouts(ctx: RunContext, merge_branch: MergeBranch) -> None:
    """Remove checkouts of tasks that are over, where a worker died before it could."""
    for task in merge_branch.open_checkouts():
        if not ctx.store.tasks.may_go_on(task):
            merge_branch.remove_checkout(task)
