"""What the loop does with its breaker: count, open, wait, try one session, close."""

from msgspec.structs import replace

from ralph.core.breaker import (
    PUT_ASIDE,
    Breaker,
    Cause,
    Recovery,
    State,
    counted,
    half_open,
    recovery,
    remembered,
)
from ralph.core.events import BreakerClosed, BreakerOpened, BreakerTried, Event
from ralph.core.ids import TaskId
from ralph.core.limits import Progress
from ralph.core.moment import iso
from ralph.core.transitions import Blocked
from ralph.engine.control import wait
from ralph.engine.kit import Kit
from ralph.engine.relay import leave
from ralph.engine.unjudged import is_here, last_session
from ralph.ports.ready import ready_in

RESET = "`ralph breaker reset` forgets it"


class Guard:
    """One run's hand on the breaker of its seat."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.has_worked = False
        self._can_afford = False
        """It was seen that a session may start."""
        self.breaker = Breaker()

    def begin(self) -> None:
        """Take up what the last run on this seat has left. That a person starts a new one is an
        intervention: one session may show whether it helped."""
        kit = self.kit
        now = kit.clock.now()
        self.breaker = remembered(kit.store.breaker(kit.settings.seat), kit.settings.breaker, now)
        if not self.breaker.is_closed and self.breaker.cause is not Cause.BUDGET:
            self._try()

    def afford(self) -> None:
        """There is money: what opened since there was none is closed, also the breakers of seats
        that nobody takes this time."""
        if self._can_afford:
            return
        self._can_afford = True
        kit = self.kit
        for seat, known in kit.store.breakers().items():
            if known.cause is Cause.BUDGET:
                closed = BreakerClosed(seat=seat, by="there is money again")
                kit.store.save_breaker(seat, Breaker(), closed, kit.settings.run_id)
        if self.breaker.cause is Cause.BUDGET:
            self.breaker = Breaker()
        kit.publish()

    def count(self, task: TaskId, progress: Progress) -> None:
        """One more iteration."""
        kit = self.kit
        self.has_worked |= progress.done
        # A person may have reset it meanwhile; a clean one cannot be reset.
        is_clean = self.breaker == Breaker(at=self.breaker.at)
        known = self.breaker if is_clean else kit.store.breaker(kit.settings.seat)
        after = counted(known, kit.settings.breaker, task, progress, kit.clock.now())
        if after == replace(known, at=after.at):
            return
        event: Event | None = None
        if after.is_closed and not known.is_closed:
            event = BreakerClosed(seat=kit.settings.seat)
        self._save(after, event)

    @property
    def is_open(self) -> bool:
        """Must nothing start?"""
        return self.breaker.state is State.OPEN

    def wait(self) -> str | None:
        """Do what may help, and wait. A reason: a person is needed."""
        kit, tolerance = self.kit, self.kit.settings.breaker
        task = self.breaker.task
        action = recovery(
            self.breaker,
            tolerance,
            has_worked=self.has_worked,
            others=any(one.id != task for one in ready_in(kit.store, kit.settings.target, 2)),
        )
        until = self.breaker.at + tolerance.cooldown_s
        opened = BreakerOpened(
            run_id=kit.settings.run_id,
            seat=kit.settings.seat,
            reason=self.breaker.why,
            recovery=action.value,
            until=None if action is Recovery.PERSON else iso(until),
        )
        self._save(self.breaker, opened)
        if action is Recovery.PERSON:
            return f"{self.breaker.why}; {RESET}"
        if action is Recovery.SKIP and task is not None:
            kit.store.apply(task, [Blocked(PUT_ASIDE + self.breaker.why)])
            kit.publish()
        if action is Recovery.HAND_OFF and task is not None:
            self._hand_off(task)
        wait(kit, until - kit.clock.now(), self._is_closed)
        if self._is_closed():
            self.breaker = Breaker(at=kit.clock.now())
        elif kit.hurry or kit.clock.now() >= until:
            self._try()
        return None

    def _hand_off(self, task: TaskId) -> None:
        """Whoever tries it next is told what was seen of the one that failed last."""
        kit = self.kit
        session = last_session(kit, task)
        if session is not None and is_here(kit, session):
            title = kit.store.find(task).title
            leave(kit, session, title=title, why=f"it came to nothing: {self.breaker.reason}")

    def spend(self, reason: str) -> None:
        """A budget is used up: nothing may start until there is more."""
        kit = self.kit
        breaker = Breaker(state=State.OPEN, cause=Cause.BUDGET, reason=reason, at=kit.clock.now())
        opened = BreakerOpened(
            run_id=kit.settings.run_id,
            seat=kit.settings.seat,
            reason=reason,
            recovery=Recovery.PERSON.value,
        )
        self._save(breaker, opened)

    def _is_closed(self) -> bool:
        """Has a person closed it meanwhile?"""
        return self.kit.store.breaker(self.kit.settings.seat).is_closed

    def _try(self) -> None:
        s = self.kit.settings
        tried = BreakerTried(run_id=s.run_id, seat=s.seat)
        self._save(half_open(self.breaker, self.kit.clock.now()), tried)

    def _save(self, breaker: Breaker, event: Event | None) -> None:
        kit = self.kit
        self.breaker = breaker
        kit.store.save_breaker(kit.settings.seat, breaker, event, kit.settings.run_id)
        if event is not None:
            kit.publish()
