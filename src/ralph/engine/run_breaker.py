"""How a run uses its breaker: count failures, wait, try one session, close."""

from msgspec.structs import replace

from ralph.core.breaker import (
    BLOCKED_BY_BREAKER,
    Breaker,
    BreakerCause,
    BreakerRecovery,
    BreakerState,
    choose_recovery,
    count_iteration,
    current_breaker,
    half_open,
)
from ralph.core.events import BreakerClosed, BreakerOpened, BreakerTried, Event
from ralph.core.ids import TaskId
from ralph.core.run import IterationProgress
from ralph.core.times import to_iso
from ralph.core.transitions import Blocked
from ralph.core.verdict import AttemptVerdict
from ralph.engine.control import wait
from ralph.engine.crash_recovery import is_in_this_checkout, last_session
from ralph.engine.handoff import save_handoff_notes
from ralph.engine.run_context import RunContext

RESET = "`ralph breaker reset` forgets it"


class RunBreaker:
    def __init__(self, ctx: RunContext) -> None:
        self.ctx = ctx
        self._can_afford = False
        """It was seen that a session may start."""
        self.breaker = Breaker()

    def begin(self) -> None:
        """Take up what the last run on this slot has left. That a person starts a new one is an
        intervention: one session may show whether it helped."""
        ctx = self.ctx
        now = ctx.clock.now()
        self.breaker = current_breaker(
            ctx.store.breakers.get(ctx.settings.slot), ctx.settings.config.breaker, now
        )
        if not self.breaker.is_closed and self.breaker.cause is not BreakerCause.BUDGET:
            self._try()

    def close_after_budget(self) -> None:
        """There is budget: close the breakers that opened for lack of it."""
        if self._can_afford:
            return
        self._can_afford = True
        ctx = self.ctx
        for slot, known in ctx.store.breakers.all().items():
            if known.cause is BreakerCause.BUDGET:
                closed = BreakerClosed(slot=slot, by="there is money again")
                ctx.store.breakers.save(slot, Breaker(), closed, ctx.settings.run_id)
        if self.breaker.cause is BreakerCause.BUDGET:
            self.breaker = Breaker()
        ctx.log.publish()

    def count(self, task: TaskId, progress: IterationProgress) -> None:
        ctx = self.ctx
        # A person may have reset it meanwhile; a clean one cannot be reset.
        is_clean = self.breaker == Breaker(at=self.breaker.at)
        known = self.breaker if is_clean else ctx.store.breakers.get(ctx.settings.slot)
        after = count_iteration(known, ctx.settings.config.breaker, task, progress, ctx.clock.now())
        if after == replace(known, at=after.at):
            return
        event: Event | None = None
        if after.is_closed and not known.is_closed:
            event = BreakerClosed(slot=ctx.settings.slot)
        self._save(after, event)

    @property
    def is_open(self) -> bool:
        """Return whether no session may start."""
        return self.breaker.state is BreakerState.OPEN

    def wait(self) -> str | None:
        """Try to recover, and wait. Returns a reason if the user is needed."""
        ctx, limits = self.ctx, self.ctx.settings.config.breaker
        task = self.breaker.task
        action = choose_recovery(
            self.breaker,
            limits,
            has_worked=self._has_worked(),
            others=any(one.id != task for one in ctx.store.tasks.ready(ctx.state.target, 2)),
        )
        until = self.breaker.at + limits.cooldown_s
        opened = BreakerOpened(
            run_id=ctx.settings.run_id,
            slot=ctx.settings.slot,
            reason=self.breaker.why,
            recovery=action.value,
            until=None if action is BreakerRecovery.PERSON else to_iso(until),
        )
        self._save(self.breaker, opened)
        if action is BreakerRecovery.PERSON:
            return f"{self.breaker.why}; {RESET}"
        if action is BreakerRecovery.SKIP and task is not None:
            ctx.store.tasks.apply(task, [Blocked(BLOCKED_BY_BREAKER + self.breaker.why)])
            ctx.log.publish()
        if action is BreakerRecovery.HAND_OFF and task is not None:
            self._hand_off(task)
        wait(ctx, until - ctx.clock.now(), self._is_in_vain)
        if self._is_closed():
            self.breaker = Breaker(at=ctx.clock.now())
        elif ctx.controls.hurry or ctx.clock.now() >= until:
            self._try()
        return None

    def _has_worked(self) -> bool:
        """Was something done in this run, by whichever worker? Then the set-up is right."""
        sessions = self.ctx.store.sessions.select(run=self.ctx.settings.run_id)
        return any(one.judged is AttemptVerdict.ACCEPTED for one in sessions)

    def _hand_off(self, task: TaskId) -> None:
        """Leave notes about the session that failed last to the next one."""
        ctx = self.ctx
        session = last_session(ctx, task)
        if session is not None and is_in_this_checkout(ctx, session):
            why = f"it came to nothing: {self.breaker.reason}"
            save_handoff_notes(ctx, session, why=why)

    def open_for_budget(self, reason: str) -> None:
        """A budget is used up: open the breaker until there is more."""
        ctx = self.ctx
        breaker = Breaker(
            state=BreakerState.OPEN, cause=BreakerCause.BUDGET, reason=reason, at=ctx.clock.now()
        )
        opened = BreakerOpened(
            run_id=ctx.settings.run_id,
            slot=ctx.settings.slot,
            reason=reason,
            recovery=BreakerRecovery.PERSON.value,
        )
        self._save(breaker, opened)

    def _is_in_vain(self) -> bool:
        """Whether waiting is pointless: others may have settled all that could run."""
        return self._is_closed() or not self.has_work()

    def has_work(self) -> bool:
        """Return whether a task is ready, or is worked on elsewhere, which may make one ready."""
        claims, target = self.ctx.store.claims, self.ctx.state.target
        return claims.has_ready(target) or claims.in_progress(target) > 0

    def _is_closed(self) -> bool:
        """Has a person closed it meanwhile?"""
        return self.ctx.store.breakers.get(self.ctx.settings.slot).is_closed

    def _try(self) -> None:
        s = self.ctx.settings
        tried = BreakerTried(run_id=s.run_id, slot=s.slot)
        self._save(half_open(self.breaker, self.ctx.clock.now()), tried)

    def _save(self, breaker: Breaker, event: Event | None) -> None:
        ctx = self.ctx
        self.breaker = breaker
        ctx.store.breakers.save(ctx.settings.slot, breaker, event, ctx.settings.run_id)
        if event is not None:
            ctx.log.publish()
