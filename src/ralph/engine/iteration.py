"""One iteration is a sentence."""

import contextlib

import msgspec
from msgspec.structs import replace

from ralph.core.ended import COSTS, Cost, Ended
from ralph.core.ending import Ending
from ralph.core.errors import ClaimLost, RalphError
from ralph.core.limits import Progress
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.core.transitions import Postponed, Released
from ralph.engine.checking import Halted
from ralph.engine.kit import Kit, Unfinished
from ralph.engine.steps.compose import compose
from ralph.engine.steps.execute import execute
from ralph.engine.steps.judge import judge
from ralph.engine.steps.settle import settle
from ralph.engine.telling import write_down
from ralph.engine.unjudged import is_here, last_session, unjudged
from ralph.ports.agent import Agent
from ralph.ports.claims import Claim
from ralph.ports.executor import Interrupted
from ralph.ports.history import Mark, Session


class Iterated(msgspec.Struct, frozen=True, kw_only=True):
    """What one iteration came to."""

    progress: Progress
    ended: Ended
    agent: Agent
    """Whose session it was that ended so."""
    counts: bool = True
    """False when it was cut short by us or by a quota: waiting consumes no iteration."""
    detail: str = ""
    ends_run: bool = False
    cut_short: Task | None = None
    """Whose session a signal has ended."""

    @property
    def cost(self) -> Cost:
        """What it does to the run."""
        return COSTS[self.ended]


def iterate(kit: Kit, claim: Claim) -> Iterated:
    """Take a claimed task to its verdict, and give the claim back whatever happens."""
    kit.iteration += 1
    kit.memo.part = 1
    try:
        session = _resume(kit, claim)
        # Now, since whoever deletes the task meanwhile deletes what it began with as well.
        base = kit.store.base(claim.task.id)
        if session is None:
            brief = compose(kit, claim)
            if kit.document is not None:
                kit.document.begin(claim.task)
            session = execute(kit, claim, brief)
    except ClaimLost:
        # Deleted or taken away between the claim and the first word: nothing has been done.
        kit.warn(f"task {claim.task.id} is gone", claim.task.id)
        return Iterated(progress=Progress(), ended=Ended.INTERRUPTED, agent=kit.agent)
    except BaseException:
        give_back(kit, claim, Released("Ralph stopped"))
        raise
    return conclude(kit, claim, session, base or session.before)


def _resume(kit: Kit, claim: Claim) -> Session | None:
    """The session that is left to judge, if there is one."""
    if claim.attempt == 1:
        return None
    last = last_session(kit, claim.task.id)
    if last is not None and not is_here(kit, last):
        # What it began with is the state of another checkout, and says nothing about this one.
        kit.store.forget_base(claim.task.id)
    session = unjudged(kit, claim.task.id)
    if session is None:
        return None
    kit.warn(f"going on with {claim.task.id} where its last session ended", claim.task.id)
    if session.mark in (Mark.ACCEPTED, Mark.COMMITTED):
        return session
    # What others have done since is on both sides of the comparison: see `recovery`.
    return replace(session, after=kit.take_snapshot())


def conclude(kit: Kit, claim: Claim, session: Session, base: Snapshot | None) -> Iterated:
    """Judge and settle a session that has ended, now or before a crash."""
    ending = session.ending
    assert ending is not None
    try:
        if session.after is None:
            # The disk was full when the session ended: see now what it left.
            session = replace(session, after=kit.take_snapshot())
        verdict = judge(kit, claim, session, base)
        progress = settle(kit, claim, session, verdict, base)
        write_down(kit, claim.task, session, verdict)
    except Interrupted:
        give_back(kit, claim, Postponed("stopped before it was judged"))
        return cut_off(kit)
    except Halted as halted:
        give_back(kit, claim, Postponed(f"it cannot be checked now: {halted}"))
        if base is not None:
            kit.unfinished = Unfinished(task=claim.task.id, attempt=session.attempt, base=base)
        ending = halted.ending
        return Iterated(
            progress=Progress(),
            ended=ending.ended,
            agent=halted.agent,
            counts=False,
            detail=ending.detail,
        )
    except BaseException:
        give_back(kit, claim, Postponed("Ralph stopped before it was settled"))
        raise
    return Iterated(
        progress=progress,
        ended=ending.ended,
        agent=kit.agent,
        counts=ending.cost in (Cost.JUDGE, Cost.STRIKE) or _was_taken_away(kit, ending),
        detail=ending.detail,
        ends_run=verdict.ends_run,
        cut_short=claim.task if ending.ended is Ended.INTERRUPTED and kit.interrupted() else None,
    )


def cut_off(kit: Kit) -> Iterated:
    """We were asked to stop in the middle of something that is no session."""
    return Iterated(progress=Progress(), ended=Ended.INTERRUPTED, agent=kit.agent, counts=False)


def _was_taken_away(kit: Kit, ending: Ending) -> bool:
    """Skipped, deleted, or blocked by its own session: an agent could do that for ever."""
    return ending.ended is Ended.INTERRUPTED and not (kit.interrupted() or kit.stopping)


def give_back(kit: Kit, claim: Claim, transition: Released | Postponed) -> None:
    """An error of ours is not the task's fault."""
    # If the store is what failed, the lease frees the task; the first error is the one to report.
    with contextlib.suppress(RalphError):
        kit.store.settle(
            claim,
            transition,
            message=transition.reason,
            fail_fast=False,
            run=kit.settings.run_id,
        )
        kit.publish()
