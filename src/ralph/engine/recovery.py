"""After a crash: find what a dead worker held, and go on behind its last mark."""

from msgspec.structs import replace

from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.errors import ClaimLost, RalphError, TemporaryFailure, UnusableData
from ralph.core.events import SessionEnded, Warned
from ralph.core.moment import epoch, iso
from ralph.core.outcome import Outcome
from ralph.core.snapshot import Snapshot
from ralph.core.task import Status
from ralph.core.transitions import Postponed, Released
from ralph.engine.kit import MARKER, Kit, Unfinished
from ralph.engine.unjudged import BEHIND_THE_SESSION, is_here, last_session
from ralph.engine.work import set_aside, some_of
from ralph.ports.claims import Claim, Stale
from ralph.ports.history import Mark, Session


def recover(kit: Kit) -> None:
    """End what dead runs have left running, then give back every claim of a dead worker."""
    _bury(kit)
    for stale in kit.store.stale(kit.settings.worker):
        if not _is_dead(kit, stale):
            continue
        session = _session_of(kit, stale)
        try:
            claim = kit.store.take_over(stale.task.id, stale.task.attempt, kit.settings.worker)
        except ClaimLost:
            continue  # another run was quicker
        _give_back(kit, claim, session, stale.seen)
    kit.publish()


def _session_of(kit: Kit, stale: Stale) -> Session | None:
    """The session of the claim; or, if its worker died while it judged an earlier one, that one."""
    session = kit.store.session(stale.task.id, stale.task.attempt)
    last = last_session(kit, stale.task.id) if session is None else None
    return last if last is not None and last.mark in BEHIND_THE_SESSION else session


def _bury(kit: Kit) -> None:
    """Also a run that held no claim may have died, while its gates ran."""
    for run, owner in kit.store.live_runs():
        if run.id == kit.settings.run_id or kit.is_alive(owner) is not False:
            continue
        # Its workers first, then what they had started.
        for member in kit.store.crew(run.id):
            kit.executor.sweep(f"{MARKER}={member.worker}")
        why = "its process died"
        kit.store.end_run(run.id, Outcome.ERROR, why, Warned(message=f"run {run.id}: {why}"))


def _is_dead(kit: Kit, stale: Stale) -> bool:
    if stale.owner is None:
        return stale.expired
    alive = kit.is_alive(stale.owner)
    # A live owner on this host keeps its lease, however old: laptops sleep.
    return stale.expired if alive is None else not alive


def _give_back(kit: Kit, claim: Claim, session: Session | None, seen: float | None) -> None:
    transition: Released | Postponed
    if session is not None and session.mark in BEHIND_THE_SESSION:
        transition = Postponed("its worker died before the session was judged")
    else:
        transition = Released(f"attempt {claim.attempt} was lost: its worker died")
    if session is not None and session.mark is Mark.STARTED:
        _record_loss(kit, session, claim.task.title, transition.reason, seen or kit.clock.now())
    kit.store.settle(
        claim,
        transition,
        message=transition.reason,
        fail_fast=kit.settings.fail_fast,
        run=kit.settings.run_id,
    )


def _record_loss(kit: Kit, session: Session, title: str, why: str, seen: float) -> None:
    lost = replace(
        session,
        # When its worker was last seen: a machine may have been off for days since.
        ended_at=iso(max(seen, epoch(session.started_at))),
        ending=Ending(ended=Ended.LOST, detail=why),
        mark=Mark.ENDED,
        # From here on, what a person changes is told from what it left.
        after=_look(kit, session, seen) if is_here(kit, session) else None,
    )
    event = SessionEnded(
        session_id=session.id, task_id=session.task_id, ended=Ended.LOST, detail=why
    )
    kit.store.end_session(lost, event)
    if lost.after is not None:
        kit.memo.look(epoch(session.started_at))
        changes = kit.workspace.changes(session.before or lost.after, lost.after)
        if changes.commits and lost.after != kit.take_snapshot():
            what = f"what it had committed, up to {lost.after.head[:10]}"
            kit.warn(f"{what}, stays: there are commits of yours since", session.task_id)
        if left := [path for path in changes.files if path in lost.after.dirty]:
            # Nothing tells what somebody has written there since: they had better hear of it.
            said = f"a session died and left {some_of(left)}: what is uncommitted there counts as"
            kit.warn(f"{said} its work", session.task_id)
        kit.memo.take(session, changes, title=title, why=why)


def _look(kit: Kit, session: Session, seen: float) -> Snapshot | None:
    """What it left. Commits of later are a person's, and so is what lies on top of them."""
    try:
        now = kit.take_snapshot()
        last = seen + kit.settings.lease_s
        return kit.workspace.as_of(session.before or now, now, last)
    except TemporaryFailure:
        raise  # the next run finds the claim with a dead owner once more
    except RalphError:
        return None  # the claim in our hands goes back first; then someone else complains


def look_around(kit: Kit) -> None:
    """Tell a person's uncommitted changes from work that an earlier run has left unfinished."""
    left = _left_here(kit)
    if left is not None:
        _take_up(kit, left)
    dirty = left.base.dirty if left is not None else kit.take_snapshot().dirty
    kit.kept = frozenset(dirty) - kit.own
    if kit.kept:
        count = len(kit.kept)
        kit.warn(
            f"{count} uncommitted {'file is' if count == 1 else 'files are'} yours and will be"
            " left alone"
        )


def _left_here(kit: Kit) -> Unfinished | None:
    """The work in this checkout, and what it started from.

    After a crash in mid-session nothing tells its edits from a person's; they are taken for the
    session's, or its retry could never commit them.
    """
    last = kit.store.left_in(kit.workspace.path)
    base = kit.store.base(last.task_id) if last is not None else None
    if last is None or base is None or _is_elsewhere(kit, last):
        return None
    try:
        base = _with_theirs(kit, last, base)
        kit.workspace.changes(base, kit.take_snapshot())
    except UnusableData as error:
        # Weeks have passed, and git has thrown the recorded states away. Better to learn it now
        # than after the next session.
        kit.warn(f"the work of {last.task_id} is taken for yours: {error}", last.task_id)
        kit.store.forget_base(last.task_id)
        return None
    return Unfinished(task=last.task_id, attempt=last.attempt, base=base)


def _with_theirs(kit: Kit, session: Session, base: Snapshot) -> Snapshot:
    """What changed after the session's end is a person's: the next attempt begins with it."""
    now = kit.take_snapshot()
    if session.after is None or session.after == now:
        return base
    if session.mark in (Mark.ENDED, Mark.GATED) and _is_touched(kit, session, base, now):
        # What would be judged is not what would be committed.
        kit.warn(f"the last session of {session.task_id} is not judged: its files were changed")
        kit.store.mark_session(session.id, Mark.SETTLED)
    moved = kit.workspace.carry_over(base, session.after, now)
    kit.store.move_base(session.task_id, moved)
    return moved


def _is_touched(kit: Kit, session: Session, base: Snapshot, now: Snapshot) -> bool:
    """Has somebody changed what the session had changed?"""
    after = session.after or now
    theirs = kit.workspace.changes(after, now).files
    return not set(theirs).isdisjoint(kit.workspace.changes(base, after).files)


def _is_elsewhere(kit: Kit, session: Session) -> bool:
    """Has the task moved on in another checkout? Then it began with something else there."""
    last = last_session(kit, session.task_id)
    return last is not None and last.id != session.id


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
