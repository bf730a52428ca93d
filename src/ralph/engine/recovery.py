"""After a crash: find what a dead worker held, and go on behind its last mark."""

from msgspec.structs import replace

from ralph.core.ending import Ended, Ending
from ralph.core.errors import ClaimLost
from ralph.core.events import SessionEnded
from ralph.core.gates import GateResult
from ralph.core.moment import iso
from ralph.core.snapshot import Snapshot
from ralph.core.transitions import Postponed, Released
from ralph.engine.iteration import BEHIND_THE_SESSION
from ralph.engine.kit import MARKER, Kit, Unfinished
from ralph.ports.store import Claim, Mark, Session, Stale


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
    )
    event = SessionEnded(
        session_id=session.id, task_id=session.task_id, ended=Ended.LOST, detail=why
    )
    kit.store.end_session(lost, event)


def look_around(kit: Kit) -> None:
    """Tell a person's uncommitted changes from work that an earlier run has left unfinished."""
    now = kit.take_snapshot()
    kit.kept = frozenset(now.dirty)
    last = kit.store.left_in(kit.workspace.path)
    base = kit.store.base(last.task_id) if last is not None else None
    if last is not None and base is not None:
        kit.unfinished = Unfinished(task=last.task_id, attempt=last.attempt, base=base)
        kit.kept -= _left_by(kit, last, base, now)
        kit.baseline = inherited_baseline(kit, last)
    if kit.kept:
        count = len(kit.kept)
        kit.warn(
            f"{count} uncommitted {'file is' if count == 1 else 'files are'} yours and will be"
            " left alone"
        )


def inherited_baseline(kit: Kit, session: Session) -> tuple[GateResult, ...]:
    """What was green before the unfinished work began.

    A baseline taken now would see that work: what it has broken would count as broken before.
    """
    run = kit.store.run(session.run_id)
    return run.baseline if run is not None else ()


def _left_by(kit: Kit, session: Session, base: Snapshot, now: Snapshot) -> frozenset[str]:
    """Files that the session changed and nobody has touched since.

    After a crash in mid-session nothing tells its edits from a person's; they are taken for the
    session's, or its retry could never commit them.
    """
    ours = set(kit.workspace.changes(base, session.after or now).files)
    if session.after is not None:
        ours -= set(kit.workspace.changes(session.after, now).files)
    return frozenset(ours - set(base.dirty))
