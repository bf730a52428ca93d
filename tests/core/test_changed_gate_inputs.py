"""What a gate is worth whose own files a task has changed."""

from ralph.core.gates import (
    GateEvidence,
    GateResult,
    compare_with_baseline,
    gate_inputs_changed,
    improved,
)
from ralph.core.transitions import Accepted, Rejected
from ralph.core.verdict import on_changed_gate_inputs, on_gates

RED = GateResult(name="test", passed=False, code=1)
GREEN = GateResult(name="test", passed=True, code=0)
DOUBTFUL = GateResult(name="test", passed=True, code=0, changed=("check.sh",), proves=False)
PROVEN = GateResult(name="test", passed=True, code=0, changed=("check.sh",))


def test_it_turns_nothing_green() -> None:
    for before in (RED, GREEN):
        assert compare_with_baseline((before,), (DOUBTFUL,)) == (GateEvidence.NONE, DOUBTFUL)
        assert not improved((before,), (DOUBTFUL,))


def test_another_gate_that_fails_decides_first() -> None:
    broken = GateResult(name="lint", passed=False, code=1)
    assert compare_with_baseline((RED,), (DOUBTFUL, broken)) == (GateEvidence.BROKEN, broken)


def test_one_that_the_old_files_pass_as_well_counts() -> None:
    assert compare_with_baseline((RED,), (PROVEN,)) == (GateEvidence.IMPROVED, PROVEN)
    assert improved((RED,), (PROVEN,))
    assert on_changed_gate_inputs([PROVEN], verifies=False) is None
    assert "it passes as well" in gate_inputs_changed(PROVEN)
    assert gate_inputs_changed(GREEN) == ""


def test_a_verifier_decides_and_where_there_is_none_it_does_not_count() -> None:
    assert on_changed_gate_inputs([DOUBTFUL], verifies=True) is None
    assert isinstance(on_gates(GateEvidence.NONE, DOUBTFUL).transition, Accepted)
    refused = on_changed_gate_inputs([GREEN, DOUBTFUL], verifies=False)
    assert refused is not None
    assert isinstance(refused.transition, Rejected)
    assert "check.sh" in refused.transition.reason
    assert "leave those files as they were" in refused.transition.reason
