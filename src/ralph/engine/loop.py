"""The run loop: iterate until every task is settled or the run must stop."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import random
from shlex import quote

from ralph.core.errors import BranchMoved, CannotWrite, RalphError, TemporaryFailure, Unavailable
from ralph.core.events import RunEnded, RunStarted
from ralph.core.graph import Schedule
from ralph.core.ids import TaskId
from ralph.core.policy.decision import Phase
from ralph.core.run import (
    AllTasks,
    OneFeature,
    RunEnding,
    RunOutcome,
    Subtree,
    Target,
    WaitKind,
    describe_target,
    overload_wait_s,
    reached_run_limit,
    strike_wait_s,
)
from ralph.core.session_ending import Consequence, EndingKind
from ralph.core.task import Task
from ralph.core.times import from_iso
from ralph.engine.agent_selection import account_of, agent_remedy, drop_fallback_agent, is_billed
from ralph.engine.baseline import take_baseline
from ralph.engine.control import (
    ask_user_guidance,
    handle_controls,
    refuse_if_abort_file,
    show_wait,
    wait,
    wait_while_paused,
)
from ralph.engine.crash_recovery import (
    find_unfinished_work,
    last_session,
    recover_dead_workers,
    reopen_lost_tasks,
)
from ralph.engine.iteration import IterationResult, interrupted_result, iterate
from ralph.engine.model_selection import no_such_tier
from ralph.engine.run_breaker import RunBreaker
from ralph.engine.run_context import RunContext
from ralph.engine.steps.claim import claim as take
from ralph.engine.usage_limit_wait import wait_for_usage_limit
from ralph.ports.executor import Interrupted
from ralph.store.claims import Claim, Counts
from ralph.store.costs import CostFilter

OVERLOADS_IN_A_ROW = 8
COLLISIONS_IN_A_ROW = 10
COLLISION_WAIT_S = 0.5


def run(ctx: RunContext) -> RunEnded:
    """Run to one outcome; its record is the last event."""
    refuse_if_abort_file(ctx)
    return RunLoop(ctx).run()


def _no_tasks(target: Target) -> str:
    if isinstance(target, OneFeature):
        name = quote(target.name)
        return f"feature {target.name} has no tasks; `ralph feature build {name}` makes them"
    return "there are no tasks"


class RunLoop:
    def __init__(self, ctx: RunContext) -> None:
        self.ctx = ctx
        self.counted = 0
        """Iterations."""
        self.guard = RunBreaker(ctx)
        self.began = ctx.clock.monotonic()
        self.strikes = 0
        self.overloads = 0
        self.collisions = 0
        self.has_baseline = not ctx.settings.gates.commands
        self.before: list[Target] = []
        """What it has worked on before its target of now."""
        self.interrupted_task: Task | None = None
        """Whose session a signal has just ended."""

    def run(self) -> RunEnded:
        """Start, work and end; an error of Ralph's own is recorded before it is raised."""
        ctx = self.ctx
        self.start()
        try:
            ending = self.work()
        except TemporaryFailure as error:
            # Of the machine: the next run goes on.
            why = "; ".join(filter(None, (str(error), error.hint)))
            ending = RunEnding(RunOutcome.PAUSED, why)
        except RalphError as error:
            self.end(RunEnding(RunOutcome.ERROR, str(error), error.exit_code))
            raise
        except Interrupted:
            # In the middle of something that could not be waited for.
            ending = RunEnding(RunOutcome.INTERRUPTED, f"by {ctx.interrupted()}")
        except BaseException as error:
            # A bug, unless the data are damaged.
            damage = ctx.as_damage(error)
            why, code = f"{type(error).__name__}: {error}", 70
            if damage is not None:
                why, code = str(damage), damage.exit_code
            self.end(RunEnding(RunOutcome.ERROR, why, code))
            raise
        return self.end(ending)

    def start(self) -> None:
        ctx, s = self.ctx, self.ctx.settings
        started = RunStarted(
            run_id=s.run_id,
            worker=s.worker,
            target=describe_target(ctx.state.target),
            agent=ctx.agents.current.traits.name,
            checkout=ctx.workspace.path,
            gates=tuple(gate.name for gate in s.gates.commands),
            sandbox=ctx.checkout_sandbox.name,
            account=account_of(ctx, ctx.agents.current).name,
        )
        ctx.store.runs.start(started, s.owner, s.lease_s)
        ctx.log.publish()
        for line in (*ctx.checkout_sandbox.warnings, no_such_tier(ctx), *s.warnings):
            if line:
                ctx.log.warn(line)

    def work(self) -> RunEnding:
        """Iterate. Terminal conditions come first, then limits, then the next task."""
        ctx = self.ctx
        self.prepare()
        while True:
            try:
                if end := self._asked_to_stop() or self._nothing_left() or self._spent():
                    return end
            except Interrupted:
                continue  # in the middle of what a document had to look at first
            if self.guard.is_open:
                if end := self._wait_for_breaker():
                    return end
                continue
            if not self.has_baseline:
                try:
                    take_baseline(ctx)
                except Interrupted:
                    continue
                self.has_baseline = True
            if not wait_for_usage_limit(ctx, partial(self._wait, kind=WaitKind.QUOTA)):
                continue
            taken = self.claim()
            if taken is None:
                if end := self.nothing_ready():
                    return end
            elif end := self._after(taken.task.id, self.work_on(taken)):
                return end

    def _wait_for_breaker(self) -> RunEnding | None:
        """Unless nothing that is left could start anyway."""
        if not self.guard.has_work():
            return self.nothing_ready()
        reason = self.guard.wait()
        return RunEnding(RunOutcome.PAUSED, reason) if reason else None

    def prepare(self) -> None:
        """Clean up after dead runs: claims, logins, checkouts, unfinished work."""
        ctx = self.ctx
        self.clean_up_after_dead_runs()
        find_unfinished_work(ctx)
        self._find_memory()
        if ctx.log.views is not None:
            ctx.log.views.begin()
        self.guard.begin()

    def clean_up_after_dead_runs(self) -> None:
        """Also prepare for a full disk and a lost database."""
        ctx = self.ctx
        ctx.store.db.keep_reserve()
        try:
            ctx.store.db.back_up()
        except CannotWrite as error:
            ctx.log.warn(str(error))
        reopen_lost_tasks(ctx)
        recover_dead_workers(ctx)
        homes = {agent.traits.name: agent.traits.home for agent in ctx.agents.all_agents}
        # Only now: an agent that outlived its run might still have refreshed its login.
        ctx.homes.remove_leftovers({name: home for name, home in homes.items() if home is not None})
        ctx.checkouts.remove_leftovers()

    def work_on(self, taken: Claim) -> IterationResult:
        """One iteration. If a person commits at the same moment, it goes on a little later."""
        try:
            result = iterate(self.ctx, taken)
        except BranchMoved as error:
            self.collisions += 1
            if self.collisions == COLLISIONS_IN_A_ROW:
                raise
            self.ctx.log.warn(f"{error}; it goes on with that", taken.task.id)
            wait(self.ctx, COLLISION_WAIT_S)
            return interrupted_result(self.ctx)
        self.collisions = 0
        return result

    def _find_memory(self) -> None:
        left = self.ctx.checkout.unfinished
        session = last_session(self.ctx, left.task) if left is not None else None
        self.ctx.memory_file.remove_leftovers()
        self.ctx.memory_file.find_owner(
            from_iso(session.started_at) if session is not None else None
        )

    def _follow(self) -> None:
        """People may have changed the document that the tasks stand in."""
        for line in self.ctx.document.sync():
            self.ctx.log.warn_once(line)

    def claim(self) -> Claim | None:
        if self.ctx.settings.schedule is Schedule.CRITICAL_PATH:
            self.ctx.store.claims.rank_chains()
        return take(self.ctx)

    def _asked_to_stop(self) -> RunEnding | None:
        ctx = self.ctx
        ctx.beat()
        if ctx.store.db.is_full:
            raise CannotWrite(
                "the disk is full; all that happened so far is recorded",
                hint="free some space, then `ralph run` goes on",
            )
        handle_controls(ctx, None)
        wait_while_paused(ctx)
        if signal := ctx.interrupted():
            interrupted_task, self.interrupted_task = self.interrupted_task, None
            is_ctrl_c = signal == "SIGINT"
            if (
                interrupted_task is None
                or not is_ctrl_c
                or not ask_user_guidance(ctx, interrupted_task)
            ):
                return RunEnding(RunOutcome.INTERRUPTED, f"by {signal}")
        if ctx.controls.stopping:
            return RunEnding(RunOutcome.PAUSED, ctx.controls.stopping)
        return None

    def _nothing_left(self) -> RunEnding | None:
        """No plan, or everything settled."""
        self._follow()
        store, target = self.ctx.store, self.ctx.state.target
        if store.claims.has_open(target) or self._continues_with_added_tasks():
            return None
        if not store.claims.has_tasks(target):
            return RunEnding(RunOutcome.NO_PLAN, _no_tasks(target))
        failed = self._counts().failed
        if failed:
            return RunEnding(RunOutcome.COMPLETE_WITH_FAILURES, f"{failed} failed")
        is_check = self.ctx.settings.phase is Phase.VALIDATION
        done = "every task" if isinstance(target, AllTasks) else describe_target(target)
        why = "all of it was looked at" if is_check else f"{done} is done"
        return RunEnding(RunOutcome.COMPLETE, why)

    def _continues_with_added_tasks(self) -> bool:
        """A run of one task also does what its sessions have added, which is beside it."""
        ctx = self.ctx
        if not isinstance(ctx.state.target, Subtree):
            return False
        for task in ctx.control_socket.added_tasks:
            if ctx.store.claims.has_open(more := Subtree(task)):
                self.before.append(ctx.state.target)
                ctx.state.change_target(more)
                return True
        return False

    def _counts(self) -> Counts:
        """Of all that the run was about; what lies within another part counts once."""
        store, now = self.ctx.store, self.ctx.state.target
        if not self.before:
            return store.claims.counts(now)
        every = {
            task.id: task.status
            for target in (*self.before, now)
            if isinstance(target, Subtree)
            for task in store.tasks.subtree(target.task)
        }
        return Counts(**Counter(status.value for status in every.values()))

    def _spent(self) -> RunEnding | None:
        """A limit of this run is reached, or its money is used up."""
        if reason := self.limit():
            return RunEnding(RunOutcome.LIMIT_REACHED, reason)
        ctx = self.ctx
        ctx.budget_tracker.refresh()
        # Without money for a verifier or reviewer no work could be accepted either.
        agents = (ctx.agents.current, *ctx.agents.verifiers, *ctx.agents.reviewers)
        is_hard = any(is_billed(ctx, agent) for agent in agents)
        reason = ctx.budget_tracker.used_up() if is_hard else None
        if reason is None:
            for line in ctx.budget_tracker.warnings(ctx.budget_tracker.usage, is_hard=is_hard):
                ctx.log.warn(line)
            self.guard.close_after_budget()
            return None
        self.guard.open_for_budget(reason)
        return RunEnding(RunOutcome.PAUSED, reason)

    def limit(self) -> str | None:
        return reached_run_limit(self.ctx.settings.limits, self.counted, self.elapsed())

    def nothing_ready(self) -> RunEnding | None:
        """Open tasks, but none that could run: wait for other workers, or give up."""
        recover_dead_workers(self.ctx)
        return self.wait_for_others()

    def wait_for_others(self) -> RunEnding | None:
        """Wait for tasks that other workers hold; end the run if there are none."""
        ctx, store, target = self.ctx, self.ctx.store, self.ctx.state.target
        # Asked before and after: what another run ends in between makes something ready, and what
        # it takes in between is no longer ready.
        busy = store.claims.in_progress(target)
        if store.claims.next_ready(target, ctx.settings.schedule) is not None:
            return None
        if busy or store.claims.in_progress(target) or store.claims.has_ready(target):
            # Another run holds what is left, or files of it: its end may make something ready.
            wait(ctx, 1.0)
            return None
        open_ = store.claims.counts(target).open
        why = f"{open_} open, none of them can run"
        return RunEnding(RunOutcome.BLOCKED, why) if open_ else None

    def _after(self, task: TaskId, iterated: IterationResult) -> RunEnding | None:
        """What an iteration means for the run."""
        self.interrupted_task = iterated.interrupted_task
        self.ctx.write_state_files()
        if iterated.counts:
            self.counted += 1
            self.guard.count(task, iterated.progress)
        if iterated.ends_run:
            return RunEnding(RunOutcome.FAILURE, iterated.progress.reason)
        match iterated.consequence:
            case Consequence.END_RUN | Consequence.PAUSE if drop_fallback_agent(
                self.ctx, iterated.agent, iterated.ended, iterated.detail
            ):
                pass
            case Consequence.END_RUN:
                hint = agent_remedy(self.ctx, iterated.ended, iterated.agent.traits)
                raise Unavailable(f"the agent cannot run: {iterated.detail}", hint=hint)
            case Consequence.PAUSE:
                hint = agent_remedy(self.ctx, iterated.ended, iterated.agent.traits)
                why = "; ".join(filter(None, (iterated.detail, hint)))
                return RunEnding(RunOutcome.PAUSED, why)
            case Consequence.BACK_OFF:
                self.overloads += 1
                is_offline = iterated.ended is EndingKind.NO_NETWORK
                why = f"no network: {iterated.detail}" if is_offline else iterated.detail
                if self.overloads >= OVERLOADS_IN_A_ROW:
                    why = f"{self.overloads} times in a row: {why}"
                    return RunEnding(RunOutcome.PAUSED, why)
                kind = WaitKind.OFFLINE if is_offline else WaitKind.OTHER
                self._wait(overload_wait_s(self.overloads, random()), why, kind=kind)
            case Consequence.JUDGE | Consequence.STRIKE | Consequence.NOTHING:
                self.overloads = 0
            case Consequence.WAIT:
                pass  # recorded with the session: the next look at the agents finds it
        self.strikes = self.strikes + 1 if iterated.progress.struck else 0
        if self.strikes and not self.limit():
            wait(self.ctx, strike_wait_s(self.strikes), self._is_all_settled)
        return None

    def _wait(
        self,
        seconds: float,
        reason: str,
        is_over: Callable[[], bool] = lambda: False,
        *,
        kind: WaitKind,
    ) -> None:
        ctx = self.ctx
        show_wait(ctx, reason, seconds, kind)
        if run_s := ctx.settings.limits.run_s:
            seconds = min(seconds, max(0.0, run_s - self.elapsed()))
        wait(ctx, seconds, lambda: is_over() or self._is_all_settled())

    def _is_all_settled(self) -> bool:
        """Whether others have settled what was left."""
        return not self.ctx.store.claims.has_open(self.ctx.state.target)

    def elapsed(self) -> float:
        return self.ctx.clock.monotonic() - self.began

    def end(self, ending: RunEnding) -> RunEnded:
        """Write the last event and show it."""
        ctx, s = self.ctx, self.ctx.settings
        # The last session may have removed the data: then this is the moment to put it back.
        ctx.beat()
        ended = self._account(ending)
        ctx.store.runs.end(s.run_id, ending.outcome, ending.reason, ended)
        ctx.log.publish()
        ctx.write_state_files(is_last=True)
        # The run is over and reported; the next one complains if there is reason to.
        with suppress(RalphError):
            ctx.store.db.back_up()
        return ended

    def _account(self, ending: RunEnding) -> RunEnded:
        ctx = self.ctx
        spent = ctx.store.costs.total(CostFilter(run=ctx.settings.run_id))
        # One session of unknown cost makes the sum unknown: never show less than was spent.
        total = spent.total_usd
        counts = self._counts()
        return RunEnded(
            run_id=ctx.settings.run_id,
            outcome=ending.outcome,
            exit_code=ending.exit_code,
            reason=ending.reason,
            done=counts.done,
            failed=counts.failed,
            blocked=counts.blocked,
            attempts=ctx.state.attempts,
            commits=ctx.state.commits,
            duration_s=round(self.elapsed(), 3),
            cost_usd=None if total is None else round(total, 6),
            spent=spent,
        )
