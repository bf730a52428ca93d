"""Whose fault it is that a gate fails, where people commit to a branch that a team builds."""

from ralph.core.gates import Evidence, GateResult, weigh
from ralph.core.ids import TaskId
from ralph.engine.gates import run_at, run_gates
from ralph.engine.kit import Kit


def ask_gates(kit: Kit, task: TaskId, at: str) -> tuple[GateResult, ...]:
    """Run them on work that is based on a commit. One that fails there already is not the work's
    fault: the baseline knows it from now on, and the others are asked as well."""
    while True:
        results = run_gates(kit, task)
        evidence, decisive = weigh(kit.baseline, results)
        if evidence is not Evidence.BROKEN or not _fails_already(kit, task, decisive, at):
            return results


def _fails_already(kit: Kit, task: TaskId, broken: GateResult | None, at: str) -> bool:
    """Looked at only where somebody else has committed: what the team merges has passed."""
    if broken is None or kit.trunk is None or not kit.trunk.by_people(at):
        return False
    gate = next(one for one in kit.settings.gates if one.name == broken.name)
    with kit.trunk.look(f"baseline-{task}", at) as place:
        before = run_at(kit, gate, place)
    if before.passed:
        return False
    kit.warn(f"gate {gate.name} fails at {at[:10]}, with what was committed there by hand")
    kit.baseline = (*(one for one in kit.baseline if one.name != gate.name), before)
    return True
