"""Step 4: decide whether the work counts."""

from msgspec.structs import replace

from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.events import GatesWeighed
from ralph.core.gates import Evidence, improved, weigh
from ralph.core.hidden import obeyed_in
from ralph.core.role import Role
from ralph.core.sigils import read_sigils
from ralph.core.snapshot import Snapshot, work
from ralph.core.task import Task
from ralph.core.transitions import Accepted, Blocked
from ralph.core.verdict import (
    Verdict,
    on_change,
    on_changed_judge,
    on_claim,
    on_document,
    on_ending,
    on_gates,
    on_history,
    on_nested,
    on_result,
    on_tampering,
)
from ralph.engine.blaming import ask_gates
from ralph.engine.check import Case
from ralph.engine.control import listen
from ralph.engine.gate_judges import check_judges
from ralph.engine.gates import remember
from ralph.engine.kit import Kit
from ralph.engine.review import review
from ralph.engine.verification import verify
from ralph.ports.claims import Claim
from ralph.ports.document import Left
from ralph.ports.executor import Interrupted
from ralph.ports.history import Mark, Session


def judge(kit: Kit, claim: Claim, session: Session, base: Snapshot | None) -> Verdict:
    """The verdict; nobody asks for it any more when the task was skipped meanwhile."""
    task = claim.task
    # Said while the session was ending: too late to stop it, not too late to be heard.
    listen(kit, task.id)
    try:
        verdict = _judge(kit, claim, session, base)
    except Interrupted:
        if task.id not in kit.skipped:
            raise
        return _skip(kit, task)
    if task.id in kit.skipped:
        return _skip(kit, task)
    is_new = session.mark is not Mark.COMMITTED
    if isinstance(verdict.transition, Accepted) and is_new and _is_to_be_committed(kit, session):
        # A commit comes next; after a crash in the middle of it, it must be finished.
        kit.store.mark_session(session.id, Mark.ACCEPTED)
    return verdict


def _is_to_be_committed(kit: Kit, session: Session) -> bool:
    is_more_to_do = kit.document is not None or kit.trunk is not None
    return session.after is None or bool(session.after.dirty) or is_more_to_do


def _skip(kit: Kit, task: Task) -> Verdict:
    why = kit.skipped.pop(task.id)
    return Verdict(transition=Blocked(why), message=why)


def _judge(kit: Kit, claim: Claim, session: Session, base: Snapshot | None) -> Verdict:
    """Each step only if the one before allows it; every result leaves a durable mark."""
    task, ending = claim.task, session.ending
    assert ending is not None
    if session.mark in (Mark.ACCEPTED, Mark.COMMITTED):
        passed = {one.role for one in kit.store.checks(session.id) if one.passed}
        accepted = Accepted(verified=Role.VERIFY in passed, reviewed=Role.REVIEW in passed)
        return Verdict(transition=accepted, message="accepted before Ralph was stopped")
    left = kit.document.look(task) if kit.document is not None else Left()
    for warning in left.warnings:
        kit.warn(warning, task.id)
    told = session.told or ("done" if left.claims else None)
    return (
        _on_ending(ending, left)
        or on_document(left.broken)
        or on_claim(task, read_sigils(ending.message), told)
        or on_history(_lost(kit, session, base))
        or on_tampering(_tampered(kit, session, base))
        or on_nested(_nested(kit, session, base))
        or on_change(task, _worked_on(kit, session, base), _never_committed(kit, base))
        or on_result(kit.missing(task))
        or _gates(kit, claim, session, base)
    )


def _on_ending(ending: Ending, left: Left) -> Verdict | None:
    # Who ticks a box has said something, also without a word.
    silent = ending.ended is Ended.NO_RESULT and not ending.message and left.claims
    return None if silent else on_ending(ending)


def _lost(kit: Kit, session: Session, base: Snapshot | None) -> tuple[str, ...]:
    """Commits that the task began with and that its branch no longer has."""
    if base is None or session.after is None or base.head == session.after.head:
        return ()
    return kit.workspace.changes(session.after, base).commits


def _tampered(kit: Kit, session: Session, base: Snapshot | None) -> tuple[str, ...]:
    """Settings that the session put into git: new ones, wherever they are, and protected ones.

    A sandbox keeps a session from writing protected files, so what is on disk is the person's; but
    git writes a tree without any file.
    """
    after = session.after
    if base is None or after is None:
        return ()
    before, now = Snapshot(head=base.head), Snapshot(head=after.head)
    states = [(base, after)]
    if base.head != after.head and (base.tree or after.tree):
        states.append((before, now))
    if after.index and after.index != base.index:
        states.append((before, replace(now, tree=after.index)))
    found: set[str] = set()
    for old, new in states:
        changed = () if old.same_as(new) else kit.workspace.changes(old, new).files
        is_left = new is after or new.tree or kit.settings.commit == "none"
        found.update(path for path in changed if _is_planted(kit, path, is_left=bool(is_left)))
        guarded = [path for path in changed if kit.wall.guards(path)]
        if guarded and not (new is after and after.tree):
            found.update(kit.workspace.unlike_disk(new, guarded))
    return tuple(sorted(found))


def _is_planted(kit: Kit, path: str, *, is_left: bool) -> bool:
    """`is_left`: or else it may be gone from the tree by now, and Ralph commits that."""
    if kit.wall.may_add(path) or kit.wall.guards(path):
        return False
    project = obeyed_in(path)
    # Not what a person has made a project meanwhile. An agent's settings are taken off the disk
    # after a session, which says nothing about the commit.
    return project is None or (is_left and not kit.is_project(project))


def _nested(kit: Kit, session: Session, base: Snapshot | None) -> tuple[str, ...]:
    """Other repositories in what changed since the task was begun. What was committed may be on
    disk no longer: it would be there again after a checkout."""
    after = session.after
    if base is None or after is None or base.same_as(after):
        return ()
    committed = (Snapshot(head=base.head), Snapshot(head=after.head))
    found: list[str] = []
    for old, new in ((base, after), committed):
        if not old.same_as(new):
            found += kit.workspace.changes(old, new).nested
    return tuple(dict.fromkeys(found))


def _worked_on(kit: Kit, session: Session, base: Snapshot | None) -> frozenset[str]:
    """The files that changed since the task was begun."""
    changed = _changed(kit, base, session.after)
    # A person may have committed its work before it was judged: it is work all the same.
    then = kit.store.session(session.task_id, session.attempt)
    if changed <= kit.kept and then is not None and then.after != session.after:
        changed |= _changed(kit, then.before, then.after)
    return changed


def _never_committed(kit: Kit, base: Snapshot | None) -> frozenset[str]:
    """What cannot count as work. Without any commits, work on top of what is not committed does: an
    earlier run may have left that in the tree."""
    if kit.settings.commit != "none" or base is None:
        return kit.kept
    return kit.kept - {*base.dirty}


def _changed(kit: Kit, base: Snapshot | None, after: Snapshot | None) -> frozenset[str]:
    if base is None or after is None or base.same_as(after):
        return frozenset()
    prefix = kit.workspace.prefix
    # Ralph writes these, wherever settings have put them.
    own = kit.own | {prefix + kit.settings.guardrails}
    return frozenset(work(kit.workspace.changes(base, after), prefix)) - own


def _gates(kit: Kit, claim: Claim, session: Session, base: Snapshot | None) -> Verdict:
    if not kit.settings.gates:
        return _looked_at(kit, claim, session, base, on_gates(Evidence.NO_GATES, None))
    results = session.gates
    if session.mark is Mark.ENDED:
        results = ask_gates(kit, claim.task.id, base.head if base is not None else "")
        if base is not None:
            results = check_judges(kit, session, base, results)
        kit.store.mark_session(session.id, Mark.GATED, results)
        session = replace(session, gates=results)
    evidence, decisive = weigh(kit.baseline, results)
    kit.record(GatesWeighed(task_id=claim.task.id, evidence=evidence))
    verdict = replace(on_gates(evidence, decisive), improved=improved(kit.baseline, results))
    if isinstance(verdict.transition, Accepted):
        verdict = on_changed_judge(results, verifies=kit.settings.verify) or verdict
    if isinstance(verdict.transition, Accepted):
        verdict = _looked_at(kit, claim, session, base, verdict)
    if not isinstance(verdict.transition, Accepted):
        kit.kept |= _dropped(kit, session, base)
    elif kit.trunk is None:
        # In a team that is said of the branch, and the work is not there yet.
        remember(kit, results)
    return verdict


def _looked_at(
    kit: Kit, claim: Claim, session: Session, base: Snapshot | None, so_far: Verdict
) -> Verdict:
    """What the gates let through still has to pass those who look at it."""
    s, after = kit.settings, session.after
    if after is None:
        return so_far
    case = Case(claim=claim, session=session, base=base or after, after=after)
    for is_on, look in ((s.verify, verify), (s.review, review)):
        if is_on and isinstance(so_far.transition, Accepted):
            so_far = look(kit, case, so_far)
    return so_far


def _dropped(kit: Kit, session: Session, base: Snapshot | None) -> frozenset[str]:
    """Reports and caches that the gates have left: nobody's work, so the retry must not commit
    them. What they changed in the task's own files is another matter: formatters do that."""
    if base is None or session.after is None:
        return frozenset()
    own = {*session.after.dirty, *kit.workspace.changes(base, session.after).files}
    return frozenset(kit.take_snapshot().dirty) - own
