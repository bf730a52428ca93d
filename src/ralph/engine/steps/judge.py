"""Step 4: decide whether the work counts."""

from ralph.core.events import GatesWeighed
from ralph.core.gates import weigh
from ralph.core.sigils import read_sigils
from ralph.core.snapshot import work
from ralph.core.task import Task
from ralph.core.transitions import Accepted
from ralph.core.verdict import Verdict, on_change, on_claim, on_ending, on_gates
from ralph.engine.gates import remember, run_gates
from ralph.engine.kit import Kit
from ralph.ports.store import Mark, Session


def judge(kit: Kit, task: Task, session: Session) -> Verdict:
    """Each step only if the one before allows it; every result leaves a durable mark."""
    ending = session.ending
    assert ending is not None
    if session.mark is Mark.ACCEPTED:
        return Verdict(transition=Accepted(), message="accepted before Ralph was stopped")
    verdict = (
        on_ending(ending)
        or on_claim(task, read_sigils(ending.message), session.told)
        or on_change(task, _has_changed(kit, task, session))
        or _gates(kit, task, session)
    )
    if isinstance(verdict.transition, Accepted):
        kit.store.mark_session(session.id, Mark.ACCEPTED)
    return verdict


def _has_changed(kit: Kit, task: Task, session: Session) -> bool:
    base = kit.store.base(task.id) or session.before
    if base is None or session.after is None or base.same_as(session.after):
        return False
    changes = kit.workspace.changes(base, session.after)
    return any(path not in kit.kept for path in work(changes))


def _gates(kit: Kit, task: Task, session: Session) -> Verdict:
    results = session.gates
    if session.mark is Mark.ENDED:
        results = run_gates(kit, task.id)
        kit.store.mark_session(session.id, Mark.GATED, results)
    evidence, decisive = weigh(kit.baseline, results)
    kit.record(GatesWeighed(task_id=task.id, evidence=evidence))
    verdict = on_gates(evidence, decisive)
    if isinstance(verdict.transition, Accepted):
        remember(kit, results)
    return verdict
