"""After a crash: find what a dead worker held, and go on behind its last mark."""

from msgspec.structs import replace

from ralph.core.ending import Ended, Ending
from ralph.core.errors import ClaimLost
from ralph.core.events import SessionEnded, Warned
from ralph.core.moment import iso
from ralph.core.outcome import Outcome
from ralph.core.task import Status
from ralph.core.transitions import Postponed, Released
from ralph.engine.kit import MARKER, Kit, Unfinished
from ralph.engine.unjudged import BEHIND_THE_SESSION, is_here, last_session
from ralph.engine.work import set_aside
from ralph.ports.store import Claim, Mark, Session, Stale


def bury(kit: Kit) -> None:
    """End what runs that died have left running, and say that they are over.

    Their claims come back by `recover`; but a run may die without holding one, while its gates run.
    """
    for run, owner in kit.store.live_runs():
        if run.id == kit.settings.run_id or kit.is_alive(owner) is not False:
            continue
        kit.executor.sweep(f"{MARKER}={run.worker}")
        why = "its process died"
        kit.store.end_run(run.id, Outcome.ERROR, why, Warned(message=f"run {run.id}: {why}"))
    kit.publish()


def recover(kit: Kit) -> None:
    """Give back every claim of a dead worker, and end what its session has left running."""
    for stale in kit.store.stale(kit.settings.worker):
        if not _is_dead(kit, stale):
            continue
        kit.executor.sweep(f"{MARKER}={stale.task.claimed_by}")
        session = kit.store.session(stale.task.id, stale.task.attempt)
        try:
            claim = kit.store.take_over(stale.task.id, stale.task.attempt, kit.settings.worker)
        except ClaimLost:
            continue  # another run was quicker
        _give_back(kit, claim, session)
    kit.publish()


def _is_dead(kit: Kit, stale: Stale) -> bool:
    if stale.owner is None:
        return stale.expired
    alive = kit.is_alive(stale.owner)
    # A live owner on this host keeps its lease, however old: laptops sleep.
    return stale.expired if alive is None else not alive


def _give_back(kit: Kit, claim: Claim, session: Session | None) -> None:
    transition: Released | Postponed
    if session is not None and session.mark in BEHIND_THE_SESSION:
        transition = Postponed("its worker died before the session was judged")
    else:
        transition = Released(f"attempt {claim.attempt} was lost: its worker died")
    if session is not None and session.mark is Mark.STARTED:
        _record_loss(kit, session, transition.reason)
    kit.store.settle(
        claim,
        transition,
        message=transition.reason,
        fail_fast=kit.settings.fail_fast,
        run=kit.settings.run_id,
    )


def _record_loss(kit: Kit, session: Session, why: str) -> None:
    lost = replace(
        session,
        ended_at=iso(kit.clock.now()),
        ending=Ending(ended=Ended.LOST, detail=why),
        mark=Mark.ENDED,
        # From here on, what a person changes is told from what it left.
        after=kit.take_snapshot() if is_here(kit, session) else None,
    )
    event = SessionEnded(
        session_id=session.id, task_id=session.task_id, ended=Ended.LOST, detail=why
    )
    kit.store.end_session(lost, event)


def look_around(kit: Kit) -> None:
    """Tell a person's uncommitted changes from work that an earlier run has left unfinished."""
    left = _left_here(kit)
    if left is not None:
        _take_up(kit, left)
    kit.kept = frozenset(left.base.dirty if left is not None else kit.take_snapshot().dirty)
    if kit.kept:
        count = len(kit.kept)
        kit.warn(
            f"{count} uncommitted {'file is' if count == 1 else 'files are'} yours and will be"
            " left alone"
        )


def _left_here(kit: Kit) -> Unfinished | None:
    """The work in this checkout, and what it started from.

    After a crash in mid-session nothing tells its edits from a person's; they are taken for the
    session's, or its retry could never commit them. What changed after its end is a person's, and
    belongs to what the next attempt starts from.
    """
    last = kit.store.left_in(kit.workspace.path)
    base = kit.store.base(last.task_id) if last is not None else None
    if last is None or base is None or last_session(kit, last.task_id) != last:
        return None
    if last.after is not None:
        moved = kit.workspace.carry_over(base, last.after, kit.take_snapshot())
        if moved != base:
            kit.store.move_base(last.task_id, moved)
            base = moved
    return Unfinished(task=last.task_id, attempt=last.attempt, base=base)


def _take_up(kit: Kit, left: Unfinished) -> None:
    """Go on with it, or take it out of the way if its task is over."""
    if kit.store.find(left.task).status is not Status.PENDING:
        set_aside(kit, left.task, left.attempt, left.base)
        return
    kit.unfinished = left
    session = last_session(kit, left.task)
    run = kit.store.run(session.run_id) if session is not None else None
    # One taken now would see that work: what it has broken would count as broken before.
    kit.baseline = run.baseline if run is not None else ()
