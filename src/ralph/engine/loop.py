"""The loop: iterate until everything is settled, or something says stop."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from random import random
from shlex import quote

from msgspec.structs import replace

from ralph.core.ended import Cost
from ralph.core.errors import CannotWrite, RalphError, TemporaryFailure, Unavailable
from ralph.core.events import RunEnded, RunStarted
from ralph.core.ids import TaskId
from ralph.core.limits import back_off_s, overload_s, spent
from ralph.core.moment import epoch, iso
from ralph.core.order import Schedule
from ralph.core.outcome import EXIT_CODES, Outcome
from ralph.core.policy.decision import Phase
from ralph.core.target import OneFeature, Subtree, Target, describe
from ralph.core.task import Task
from ralph.engine.breaker import Guard
from ralph.engine.checking import awaited
from ralph.engine.choosing import no_such_tier
from ralph.engine.control import (
    ask_person,
    listen,
    refuse_while_aborted,
    show_wait,
    wait,
    wait_while_paused,
)
from ralph.engine.gates import take_baseline
from ralph.engine.iteration import Iterated, iterate
from ralph.engine.kit import Kit
from ralph.engine.recovery import look_around, recover
from ralph.engine.roster import checkers, choose, first_free, leave_out, remedy
from ralph.engine.settled_commits import check_settled
from ralph.engine.steps.claim import claim as take
from ralph.engine.unjudged import last_session, unjudged
from ralph.ports.claims import Claim, Counts
from ralph.ports.executor import Interrupted
from ralph.ports.history import Run
from ralph.ports.ledger import Asked

OVERLOADS_IN_A_ROW = 8

End = tuple[Outcome, str]
"""How a run ends, and why."""


def run(kit: Kit) -> RunEnded:
    """Run to one outcome; the record of it is the last event."""
    refuse_while_aborted(kit)
    loop = Loop(kit)
    loop.start()
    try:
        outcome, reason = loop.until_settled()
    except TemporaryFailure as error:
        return loop.end(*paused(error))
    except RalphError as error:
        loop.end(Outcome.ERROR, str(error), error.exit_code)
        raise
    except Interrupted:
        # In the middle of something that could not be waited for.
        outcome, reason = Outcome.INTERRUPTED, f"by {kit.interrupted()}"
    except BaseException as error:
        loop.end(*broken(kit, error))
        raise
    return loop.end(outcome, reason, EXIT_CODES[outcome])


def broken(kit: Kit, error: BaseException) -> tuple[Outcome, str, int]:
    """What nobody has foreseen: a bug, unless the data are damaged."""
    damage = kit.as_damage(error)
    if damage is not None:
        return Outcome.ERROR, str(damage), damage.exit_code
    return Outcome.ERROR, f"{type(error).__name__}: {error}", 70


def paused(error: TemporaryFailure) -> tuple[Outcome, str, int]:
    """The machine could not do what was asked of it: the run ends, and the next one goes on."""
    why = "; ".join(filter(None, (str(error), error.hint)))
    return Outcome.PAUSED, why, EXIT_CODES[Outcome.PAUSED]


def _no_tasks(target: Target) -> str:
    if isinstance(target, OneFeature):
        name = quote(target.name)
        return f"feature {target.name} has no tasks; `ralph feature build {name}` makes them"
    return "there are no tasks"


class Loop:
    """One run, from its first event to its last."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.counted = 0
        """Iterations."""
        self.guard = Guard(kit)
        self.began = kit.clock.monotonic()
        self.strikes = 0
        self.overloads = 0
        self.has_baseline = not kit.settings.gates
        self.before: list[Target] = []
        """What it has worked on before its target of now."""
        self.cut_short: Task | None = None
        """Whose session a signal has just ended."""

    def start(self) -> None:
        """Make the run known."""
        kit, s = self.kit, self.kit.settings
        started = RunStarted(
            run_id=s.run_id,
            worker=s.worker,
            target=describe(s.target),
            agent=kit.agent.traits.name,
            checkout=kit.workspace.path,
            gates=tuple(gate.name for gate in s.gates),
            sandbox=kit.wall.name,
            account=kit.account(kit.agent).name,
        )
        record = Run(
            id=s.run_id,
            worker=s.worker,
            target=started.target,
            agent=started.agent,
            checkout=started.checkout,
            sandbox=started.sandbox,
            started_at=iso(kit.clock.now()),
        )
        kit.store.start_run(record, s.owner, s.lease_s, started)
        kit.publish()
        for line in filter(None, (*kit.wall.warnings, *s.absent, no_such_tier(kit))):
            kit.warn(line)
        if s.dropped:
            names = ", ".join(s.dropped)
            kit.warn(f"sessions do not get {names}; [agent] pass_env would pass them on")
        for warning in s.warnings:
            kit.warn(warning)

    def until_settled(self) -> End:
        """Iterate. Terminal conditions come first, then limits, then the next task."""
        kit = self.kit
        self.prepare()
        while True:
            try:
                if end := self._asked_to_stop() or self._nothing_left() or self._spent():
                    return end
            except Interrupted:
                continue  # in the middle of what a document had to look at first
            if self.guard.is_open:
                if reason := self.guard.wait():
                    return Outcome.PAUSED, reason
                continue
            if not self.has_baseline:
                try:
                    take_baseline(kit)
                except Interrupted:
                    continue
                self.has_baseline = True
            if not self._has_agent():
                continue
            taken = self.claim()
            if taken is None:
                if end := self.nothing_ready():
                    return end
            elif end := self._after(taken.task.id, self.work_on(taken)):
                return end

    def prepare(self) -> None:
        """See what others have left: dead runs, their logins and checkouts, work in the tree."""
        kit = self.kit
        self.secure()
        recover(kit)
        homes = {agent.traits.name: agent.traits.home for agent in kit.everyone}
        # Only now: an agent that outlived its run might still have refreshed its login.
        kit.homes.tidy({name: home for name, home in homes.items() if home is not None})
        kit.checkouts.tidy()
        look_around(kit)
        self._find_memory()
        if kit.views is not None:
            kit.views.begin()
        self.guard.begin()

    def secure(self) -> None:
        """Be ready for the worst: a full disk, a lost database."""
        kit = self.kit
        kit.store.keep_reserve()
        try:
            kit.store.back_up()
        except CannotWrite as error:
            kit.warn(str(error))
        check_settled(kit)

    def work_on(self, taken: Claim) -> Iterated:
        """One iteration."""
        return iterate(self.kit, taken)

    def _find_memory(self) -> None:
        left = self.kit.unfinished
        session = last_session(self.kit, left.task) if left is not None else None
        self.kit.memo.tidy()
        self.kit.memo.look(epoch(session.started_at) if session is not None else None)

    def _follow(self) -> None:
        """People may have changed the document that the tasks stand in."""
        document = self.kit.document
        for line in document.follow() if document is not None else ():
            self.kit.warn_once(line)

    def _has_agent(self) -> bool:
        """Is there one that can work now? If not, wait for the first one to come back."""
        kit = self.kit
        left = unjudged(kit, kit.unfinished.task) if kit.unfinished is not None else None
        role = awaited(kit, left) if left is not None else None
        if left is not None and role is None:
            return True  # only to be judged: no session is needed
        wanted = checkers(kit, role, left) if left is not None and role is not None else ()
        until = first_free(kit, wanted)[1] if wanted else choose(kit)
        if not until or not self._is_wanted():
            return True

        def is_over() -> bool:
            # By the clock on the wall: a machine that sleeps does not count the seconds.
            return kit.clock.now() >= until or not self._is_wanted()

        names = " and ".join(agent.traits.name for agent in wanted or kit.agents)
        self._wait(until - kit.clock.now(), f"{names}: out of quota", is_over)
        return False

    def _is_wanted(self) -> bool:
        """Is there anything that an agent could do? A person may skip or settle all that is left,
        and nobody waits for hours to hear of that."""
        return self.kit.store.has_ready(self.kit.settings.target)

    def claim(self) -> Claim | None:
        if self.kit.settings.schedule is Schedule.CRITICAL_PATH:
            self.kit.store.rank_chains()
        return take(self.kit)

    def _asked_to_stop(self) -> End | None:
        kit = self.kit
        kit.look_after()
        if kit.store.is_full:
            raise CannotWrite(
                "the disk is full; all that happened so far is recorded",
                hint="free some space, then `ralph run` goes on",
            )
        listen(kit, None)
        wait_while_paused(kit)
        if signal := kit.interrupted():
            cut_short, self.cut_short = self.cut_short, None
            is_ctrl_c = signal == "SIGINT"
            if cut_short is None or not is_ctrl_c or not ask_person(kit, cut_short):
                return Outcome.INTERRUPTED, f"by {signal}"
        if kit.stopping:
            return Outcome.PAUSED, kit.stopping
        return None

    def _nothing_left(self) -> End | None:
        """No plan, or everything settled."""
        self._follow()
        store, target = self.kit.store, self.kit.settings.target
        if store.has_open(target) or self._goes_on_with_added():
            return None
        if not store.has_tasks(target):
            return Outcome.NO_PLAN, _no_tasks(target)
        failed = self._counts().failed
        if failed:
            return Outcome.COMPLETE_WITH_FAILURES, f"{failed} failed"
        is_check = self.kit.settings.phase is Phase.VALIDATION
        return Outcome.COMPLETE, "all of it was looked at" if is_check else "every task is done"

    def _goes_on_with_added(self) -> bool:
        """A run of one task also does what its sessions have added, which is beside it."""
        kit = self.kit
        if not isinstance(kit.settings.target, Subtree):
            return False
        for task in kit.door.tasks:
            if kit.store.has_open(more := Subtree(task)):
                self.before.append(kit.settings.target)
                kit.settings = replace(kit.settings, target=more)
                return True
        return False

    def _counts(self) -> Counts:
        """Of all that the run was about; what lies within another part counts once."""
        store, now = self.kit.store, self.kit.settings.target
        if not self.before:
            return store.counts(now)
        every = {
            task.id: task.status
            for target in (*self.before, now)
            if isinstance(target, Subtree)
            for task in store.subtree(target.task)
        }
        return Counts(**Counter(status.value for status in every.values()))

    def _spent(self) -> End | None:
        """A limit of this run is reached, or its money is used up."""
        if reason := self.limit():
            return Outcome.LIMIT_REACHED, reason
        kit = self.kit
        kit.purse.count()
        # Without money for a verifier or reviewer no work could be accepted either.
        is_billed = any(map(kit.is_billed, (kit.agent, *kit.verifiers, *kit.reviewers)))
        reason = kit.purse.used_up() if is_billed else None
        if reason is None:
            for line in kit.purse.warnings(kit.purse.bill, is_hard=is_billed):
                kit.warn(line)
            self.guard.afford()
            return None
        self.guard.spend(reason)
        return Outcome.PAUSED, reason

    def limit(self) -> str | None:
        """Which one is reached."""
        return spent(self.kit.settings.limits, self.counted, self.elapsed())

    def nothing_ready(self) -> End | None:
        """Open tasks, but none that could run: wait for other workers, or give up."""
        recover(self.kit)
        return self.wait_for_others()

    def wait_for_others(self) -> End | None:
        """What they end may make something ready; if there is nobody, nothing will."""
        kit, store, target = self.kit, self.kit.store, self.kit.settings.target
        # Asked before and after: what another run ends in between makes something ready, and what
        # it takes in between is no longer ready.
        busy = store.in_progress(target)
        if store.next_ready(target, kit.settings.schedule) is not None:
            return None
        if busy or store.in_progress(target) or store.has_ready(target):
            # Another run holds what is left, or files of it: its end may make something ready.
            wait(kit, 1.0)
            return None
        open_ = store.counts(target).open
        return (Outcome.BLOCKED, f"{open_} open, none of them can run") if open_ else None

    def _after(self, task: TaskId, iterated: Iterated) -> End | None:
        """What an iteration means for the run."""
        self.cut_short = iterated.cut_short
        self.kit.show()
        if iterated.counts:
            self.counted += 1
            self.guard.count(task, iterated.progress)
        if iterated.ends_run:
            return Outcome.FAILURE, iterated.progress.reason
        match iterated.cost:
            case Cost.END_RUN | Cost.PAUSE if leave_out(
                self.kit, iterated.agent, iterated.ended, iterated.detail
            ):
                pass
            case Cost.END_RUN:
                hint = remedy(iterated.ended, iterated.agent.traits)
                raise Unavailable(f"the agent cannot run: {iterated.detail}", hint=hint)
            case Cost.PAUSE:
                hint = remedy(iterated.ended, iterated.agent.traits)
                return Outcome.PAUSED, "; ".join(filter(None, (iterated.detail, hint)))
            case Cost.BACK_OFF:
                self.overloads += 1
                if self.overloads >= OVERLOADS_IN_A_ROW:
                    return Outcome.PAUSED, f"{self.overloads} times in a row: {iterated.detail}"
                self._wait(overload_s(self.overloads, random()), iterated.detail)
            case Cost.JUDGE | Cost.STRIKE | Cost.NOTHING:
                self.overloads = 0
            case Cost.WAIT:
                pass  # recorded with the session: the next look at the agents finds it
        self.strikes = self.strikes + 1 if iterated.progress.struck else 0
        if self.strikes and not self.limit():
            wait(self.kit, back_off_s(self.strikes))
        return None

    def _wait(
        self, seconds: float, reason: str, is_over: Callable[[], bool] = lambda: False
    ) -> None:
        """Wait in sight of everybody."""
        kit = self.kit
        show_wait(kit, reason, seconds)
        if run_s := kit.settings.limits.run_s:
            seconds = min(seconds, max(0.0, run_s - self.elapsed()))
        wait(kit, seconds, is_over)

    def elapsed(self) -> float:
        return self.kit.clock.monotonic() - self.began

    def end(self, outcome: Outcome, reason: str, exit_code: int) -> RunEnded:
        """Write the last event and show it."""
        kit, s = self.kit, self.kit.settings
        # The last session may have removed the data: then this is the moment to put it back.
        kit.look_after()
        ended = self._account(outcome, reason, exit_code)
        kit.store.end_run(s.run_id, outcome, reason, ended)
        kit.publish()
        kit.show(is_last=True)
        # The run is over and has been told; the next one complains if there is reason to.
        with suppress(RalphError):
            kit.store.back_up()
        return ended

    def _account(self, outcome: Outcome, reason: str, exit_code: int) -> RunEnded:
        kit = self.kit
        spent = kit.store.spent(Asked(run=kit.settings.run_id))
        # One session of unknown cost makes the sum unknown: never show less than was spent.
        total = spent.total_usd
        counts = self._counts()
        return RunEnded(
            run_id=kit.settings.run_id,
            outcome=outcome,
            exit_code=exit_code,
            reason=reason,
            done=counts.done,
            failed=counts.failed,
            blocked=counts.blocked,
            attempts=kit.attempts,
            commits=kit.commits,
            duration_s=round(self.elapsed(), 3),
            cost_usd=None if total is None else round(total, 6),
            spent=spent,
        )
