"""One iteration is a sentence."""

import contextlib

import msgspec
from msgspec.structs import replace

from ralph.core.ending import Cost
from ralph.core.errors import ClaimLost, RalphError
from ralph.core.limits import Progress
from ralph.core.transitions import Postponed, Released
from ralph.engine.gates import Interrupted
from ralph.engine.kit import Kit
from ralph.engine.steps.compose import compose
from ralph.engine.steps.execute import execute
from ralph.engine.steps.judge import judge
from ralph.engine.steps.settle import settle
from ralph.ports.store import Claim, Mark, Session

BEHIND_THE_SESSION = (Mark.ENDED, Mark.GATED, Mark.ACCEPTED)


class Iterated(msgspec.Struct, frozen=True, kw_only=True):
    """What one iteration came to."""

    progress: Progress
    cost: Cost
    counts: bool = True
    """False when it was cut short by us or by a quota: waiting consumes no iteration."""
    resets_at: float | None = None
    detail: str = ""
    ends_run: bool = False


def iterate(kit: Kit, claim: Claim) -> Iterated:
    """Take a claimed task to its verdict, and give the claim back whatever happens."""
    kit.iteration += 1
    try:
        session = unjudged(kit, claim)
        if session is None:
            session = execute(kit, claim, compose(kit, claim))
    except ClaimLost:
        # Deleted or taken away between the claim and the first word: nothing has been done.
        kit.warn(f"task {claim.task.id} is gone", claim.task.id)
        return Iterated(progress=Progress(), cost=Cost.NOTHING)
    except BaseException:
        _give_back(kit, claim, Released("Ralph stopped"))
        raise
    return conclude(kit, claim, session)


def unjudged(kit: Kit, claim: Claim) -> Session | None:
    """A session of this task that has ended, here, but was never judged.

    Ralph died, or was stopped, in between. A paid session is not repeated because of that.
    """
    if claim.attempt == 1:
        return None
    last = next(iter(kit.store.sessions(task=claim.task.id, limit=1)), None)
    if last is None or last.mark not in BEHIND_THE_SESSION or not is_here(kit, last):
        return None
    kit.warn(f"going on with {claim.task.id} where its last session ended", claim.task.id)
    return last


def is_here(kit: Kit, session: Session) -> bool:
    """Only in the session's own checkout can its work be judged."""
    run = kit.store.run(session.run_id)
    return run is not None and run.checkout == kit.workspace.path


def conclude(kit: Kit, claim: Claim, session: Session) -> Iterated:
    """Judge and settle a session that has ended, now or before a crash."""
    ending = session.ending
    assert ending is not None
    try:
        if session.after is None:
            # The disk was full when the session ended: see now what it left.
            session = replace(session, after=kit.take_snapshot())
        verdict = judge(kit, claim.task, session)
    except Interrupted:
        _give_back(kit, claim, Postponed("stopped before it was judged"))
        return Iterated(progress=Progress(), cost=Cost.NOTHING, counts=False)
    except BaseException:
        _give_back(kit, claim, Postponed("Ralph stopped before it was judged"))
        raise
    progress = settle(kit, claim, session, verdict)
    return Iterated(
        progress=progress,
        cost=ending.cost,
        counts=ending.cost in (Cost.JUDGE, Cost.STRIKE),
        resets_at=ending.resets_at,
        detail=ending.detail,
        ends_run=verdict.ends_run,
    )


def _give_back(kit: Kit, claim: Claim, transition: Released | Postponed) -> None:
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
