"""What a gate is worth whose own files a task has changed."""

from ralph.core.gates import Evidence, GateResult, improved, judge_changed, weigh
from ralph.core.transitions import Accepted, Rejected
from ralph.core.verdict import on_changed_judge, on_gates

RED = GateResult(name="test", passed=False, code=1)
GREEN = GateResult(name="test", passed=True, code=0)
DOUBTFUL = GateResult(name="test", passed=True, code=0, changed=("check.sh",), proves=False)
PROVEN = GateResult(name="test", passed=True, code=0, changed=("check.sh",))


def test_it_turns_nothing_green() -> None:
    for before in (RED, GREEN):
        assert weigh((before,), (DOUBTFUL,)) == (Evidence.NONE, DOUBTFUL)
        assert not improved((before,), (DOUBTFUL,))


def test_another_gate_that_fails_decides_first() -> None:
    broken = GateResult(name="lint", passed=False, code=1)
    assert weigh((RED,), (DOUBTFUL, broken)) == (Evidence.BROKEN, broken)


def test_one_that_the_old_files_pass_as_well_counts() -> None:
    assert weigh((RED,), (PROVEN,)) == (Evidence.IMPROVED, PROVEN)
    assert improved((RED,), (PROVEN,))
    assert on_changed_judge([PROVEN], verifies=False) is None
    assert "it passes as well" in judge_changed(PROVEN)
    assert judge_changed(GREEN) == ""


def test_a_verifier_decides_and_where_there_is_none_it_does_not_count() -> None:
    assert on_changed_judge([DOUBTFUL], verifies=True) is None
    assert isinstance(on_gates(Evidence.NONE, DOUBTFUL).transition, Accepted)
    refused = on_changed_judge([GREEN, DOUBTFUL], verifies=False)
    assert refused is not None
    assert isinstance(refused.transition, Rejected)
    assert "check.sh" in refused.transition.reason
    assert "leave those files as they were" in refused.transition.reason
