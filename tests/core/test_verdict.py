"""Gates weighed against the baseline, and the verdicts that follow."""

import pytest

from ralph.core.gates import GateEvidence, GateResult, compare_with_baseline
from ralph.core.message_tags import MessageTags, Promise
from ralph.core.session_ending import CONSEQUENCES, Consequence, EndingKind, SessionEnding
from ralph.core.transitions import Accepted, GaveUp, Rejected, Released, Struck
from ralph.core.verdict import Verdict, on_change, on_claim, on_ending, on_gates, on_history
from tests.core.small_graph import a_task

TASK = a_task("t-1")
STORY = a_task("t-1", alias="US-001")


def gates(**passed: bool) -> tuple[GateResult, ...]:
    return tuple(
        GateResult(name=name, passed=ok, code=0 if ok else 1) for name, ok in passed.items()
    )


class TestGates:
    @pytest.mark.parametrize(
        ("before", "now", "evidence", "decisive"),
        [
            ({}, {}, GateEvidence.NO_GATES, None),
            ({"test": True}, {}, GateEvidence.NO_GATES, None),
            ({"test": True}, {"test": True}, GateEvidence.GREEN, None),
            ({"test": True}, {"test": False}, GateEvidence.BROKEN, "test"),
            ({"test": False}, {"test": True}, GateEvidence.IMPROVED, "test"),
            ({"test": False}, {"test": False}, GateEvidence.NONE, "test"),
            ({}, {"test": True}, GateEvidence.GREEN, None),
            ({}, {"test": False}, GateEvidence.BROKEN, "test"),
            (
                {"test": False, "lint": True},
                {"test": False, "lint": False},
                GateEvidence.BROKEN,
                "lint",
            ),
            (
                {"test": False, "lint": False},
                {"test": True, "lint": False},
                GateEvidence.NONE,
                "lint",
            ),
            (
                {"test": True, "lint": False},
                {"test": True, "lint": True},
                GateEvidence.IMPROVED,
                "lint",
            ),
        ],
    )
    def test_what_they_prove_depends_on_the_baseline(
        self,
        before: dict[str, bool],
        now: dict[str, bool],
        evidence: GateEvidence,
        decisive: str | None,
    ) -> None:
        said, gate = compare_with_baseline(gates(**before), gates(**now))
        assert said is evidence
        assert (gate.name if gate else None) == decisive

    @pytest.mark.parametrize("code", [126, 127, None])
    def test_a_gate_that_cannot_run_says_nothing(self, code: int | None) -> None:
        assert GateResult(name="test", passed=False, code=code).cannot_run

    @pytest.mark.parametrize("code", [0, 1, 2, 125, 128])
    def test_a_gate_that_ran_says_something(self, code: int) -> None:
        assert not GateResult(name="test", passed=code == 0, code=code).cannot_run


class TestEnding:
    @pytest.mark.parametrize("ended", list(EndingKind))
    def test_every_ending_has_its_verdict(self, ended: EndingKind) -> None:
        verdict = on_ending(SessionEnding(ended=ended, detail="why"))
        match CONSEQUENCES[ended]:
            case Consequence.JUDGE:
                assert verdict is None
            case Consequence.STRIKE:
                assert verdict == Verdict(transition=Struck("why"), message="why")
            case _:
                assert verdict == Verdict(transition=Released("why"), message="why")

    def test_an_ending_without_a_word_is_named(self) -> None:
        verdict = on_ending(SessionEnding(ended=EndingKind.IDLE))
        assert verdict is not None
        assert verdict.message == "idle"


class TestClaim:
    def test_a_session_that_says_nothing_is_struck(self) -> None:
        for task in (TASK, STORY):
            verdict = on_claim(task, MessageTags(), None)
            assert verdict is not None
            assert isinstance(verdict.transition, Struck)
            assert not verdict.ends_run

    @pytest.mark.parametrize("name", ["t-1", "US-001"])
    def test_a_task_is_claimed_by_id_or_alias(self, name: str) -> None:
        assert on_claim(STORY, MessageTags(task_done=name), None) is None
        failed = on_claim(STORY, MessageTags(task_failed=name), None)
        assert failed is not None
        assert isinstance(failed.transition, GaveUp)

    @pytest.mark.parametrize("tags", [MessageTags(task_done="t-2"), MessageTags(task_failed="t-2")])
    def test_another_tasks_id_claims_nothing(self, tags: MessageTags) -> None:
        verdict = on_claim(TASK, tags, None)
        assert verdict is not None
        assert isinstance(verdict.transition, Struck)
        assert "'t-2'" in verdict.message

    def test_an_empty_tag_claims_nothing(self) -> None:
        verdict = on_claim(TASK, MessageTags(task_done=""), None)
        assert verdict is not None
        assert isinstance(verdict.transition, Struck)

    def test_what_was_told_over_the_socket_counts(self) -> None:
        assert on_claim(TASK, MessageTags(), "done") is None
        failed = on_claim(TASK, MessageTags(), "no network")
        assert failed is not None
        assert failed.transition == GaveUp("no network")

    def test_a_failure_in_the_final_message_beats_done_over_the_socket(self) -> None:
        verdict = on_claim(TASK, MessageTags(task_failed="t-1"), "done")
        assert verdict is not None
        assert isinstance(verdict.transition, GaveUp)

    def test_done_in_the_final_message_beats_failure_over_the_socket(self) -> None:
        assert on_claim(TASK, MessageTags(task_done="t-1"), "no network") is None

    def test_a_journal_says_why_it_failed(self) -> None:
        verdict = on_claim(TASK, MessageTags(task_failed="t-1", journal="no such API"), None)
        assert verdict is not None
        assert verdict.transition == GaveUp("no such API")

    @pytest.mark.parametrize(
        "said", ["t-1: the port is taken", "`t-1` - the port is taken", "t-1\nthe port is taken"]
    )
    def test_a_reason_may_be_inside_the_tag(self, said: str) -> None:
        verdict = on_claim(TASK, MessageTags(task_failed=said), None)
        assert verdict is not None
        assert verdict.transition == GaveUp("the port is taken")

    @pytest.mark.parametrize("said", ["`t-1`", "t-1.", "t-1: Login", "**t-1**"])
    def test_a_task_is_claimed_in_any_plain_spelling(self, said: str) -> None:
        assert on_claim(TASK, MessageTags(task_done=said), None) is None

    @pytest.mark.parametrize("said", ["t-12", "t-1a", "not t-1", "t-1,t-2"])
    def test_a_name_that_is_only_similar_claims_nothing(self, said: str) -> None:
        verdict = on_claim(TASK, MessageTags(task_done=said), None)
        assert verdict is not None
        assert isinstance(verdict.transition, Struck)

    def test_a_journal_does_not_hide_the_reason(self) -> None:
        tags = MessageTags(task_failed="t-1", journal="tried both", why_failed="no such API")
        for socket_claim, reason in ((None, "no such API"), ("no network", "no network")):
            verdict = on_claim(TASK, tags, socket_claim)
            assert verdict is not None
            assert verdict.transition == GaveUp(f"{reason}\ntried both")

    def test_a_promise_of_failure_ends_the_run_and_gives_the_task_back(self) -> None:
        verdict = on_claim(TASK, MessageTags(promise=Promise.FAILURE, task_done="t-1"), None)
        assert verdict is not None
        assert verdict.ends_run
        assert isinstance(verdict.transition, Released)

    def test_a_promise_of_completion_claims_nothing(self) -> None:
        verdict = on_claim(TASK, MessageTags(promise=Promise.COMPLETE), None)
        assert verdict is not None
        assert isinstance(verdict.transition, Struck)
        assert not verdict.ends_run


class TestChange:
    def test_a_claim_without_work_is_rejected(self) -> None:
        verdict = on_change(TASK, changed=set(), kept={"a.py"})
        assert verdict is not None
        assert isinstance(verdict.transition, Rejected)

    def test_work_in_a_persons_files_alone_is_rejected_by_name(self) -> None:
        verdict = on_change(TASK, changed={"a.py"}, kept={"a.py", "b.py"})
        assert verdict is not None
        assert isinstance(verdict.transition, Rejected)
        assert "a.py" in verdict.message
        assert "b.py" not in verdict.message

    def test_work_lets_a_claim_pass(self) -> None:
        assert on_change(TASK, changed={"a.py", "c.py"}, kept={"a.py"}) is None

    def test_a_task_that_needs_no_change_may_leave_none(self) -> None:
        assert on_change(a_task(needs_change=False), changed=set(), kept=set()) is None


class TestVerdicts:
    def test_a_broken_gate_rejects_with_its_decisive_lines_and_its_log(self) -> None:
        output = "test_sum\nE    assert 1 == 2"
        broken = GateResult(name="test", passed=False, code=2, output=output, log="/runs/test.log")
        verdict = on_gates(GateEvidence.BROKEN, broken)
        assert verdict.message == "gate test fails (exit 2): test_sum: assert 1 == 2"
        assert verdict.transition == Rejected(
            f"{verdict.message}\n{output}\nThe whole output is in /runs/test.log"
        )

    def test_a_gate_out_of_time_says_so(self) -> None:
        slow = GateResult(name="test", passed=False, code=None)
        assert on_gates(GateEvidence.BROKEN, slow).message == "gate test fails (out of time)"

    @pytest.mark.parametrize(
        "evidence",
        [GateEvidence.GREEN, GateEvidence.IMPROVED, GateEvidence.NONE, GateEvidence.NO_GATES],
    )
    def test_anything_else_is_accepted(self, evidence: GateEvidence) -> None:
        gate = GateResult(name="test", passed=evidence is not GateEvidence.NONE, code=0)
        verdict = on_gates(evidence, gate)
        assert verdict.transition == Accepted()
        # Red before and red now proves nothing, and that is said aloud.
        assert bool(verdict.warnings) is (evidence is GateEvidence.NONE)


def test_commits_that_were_there_before_may_not_be_lost() -> None:
    assert on_history(()) is None
    verdict = on_history(("a" * 40, "b" * 40))
    assert verdict is not None
    assert isinstance(verdict.transition, Rejected)
    assert "bbbbbbbbbb," in verdict.message
