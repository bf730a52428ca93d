"""What a session says about criteria, and the report that is made of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.documents.story_validation import (
    CriterionReport,
    GateReport,
    StoryReport,
    ValidationReport,
    read_verdicts,
    render_report,
    validate_story,
)
from ralph.prompts import prompt


@pytest.mark.parametrize(
    "line",
    [
        "1 PASS ran it",
        "1. PASS ran it",
        "1) PASS: ran it",
        "- 1: PASS - ran it",
        "**1. PASS** ran it",
        "  * 1 **PASS**: ran it",
        "> 1 PASS \u2014 ran it",
    ],
)
def test_a_verdict_is_read_however_it_is_written(line: str) -> None:
    found, lacks = read_verdicts(f"I looked.\n{line}\n", ["a"])
    assert found == (CriterionReport(criterion="a", verdict="pass", evidence="ran it"),)
    assert lacks == ""


@pytest.mark.parametrize("line", ["PASS", "1 PASSED it", "1 passes", "one PASS x", "1 2 PASS x"])
def test_what_only_looks_like_a_verdict_is_none(line: str) -> None:
    assert read_verdicts(line, ["a"]) == ((), "there is no verdict about criterion 1")


def test_every_criterion_needs_a_verdict_and_evidence() -> None:
    assert read_verdicts("1 PASS x\n3 FAIL y", ["a", "b", "c"])[1].endswith("criterion 2")
    assert read_verdicts("1 PASS", ["a"])[1] == "there is no evidence for criterion 1"


def test_the_worse_of_two_verdicts_counts() -> None:
    for said in ("1 PASS x\n1 FAIL y", "1 FAIL y\n1 PASS x"):
        (one,), _ = read_verdicts(said, ["a"])
        assert (one.verdict, one.evidence) == ("fail", "y")


WORDS = st.text(max_size=20) | st.sampled_from(
    ["PASS when green", "1 PASS", "2. FAIL: x", "- FAIL"]
)


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, max_size=3))
def test_an_echo_of_what_it_was_told_says_nothing(criteria: list[str], block: list[str]) -> None:
    lines = [" ".join(one.split()) for one in criteria]
    report = validate_story("prd.md", "\n".join(block), lines)
    found, lacks = read_verdicts(prompt("validation_rules") + report, lines)
    assert found == ()
    assert lacks


def test_a_report_passes_when_everything_does() -> None:
    good = StoryReport(
        id="US-001",
        title="One",
        criteria=(CriterionReport(criterion="a", verdict="pass", evidence="x"),),
    )
    bad = StoryReport(
        id="US-002", title="Two", criteria=(CriterionReport(criterion="b", verdict="unknown"),)
    )
    gate = GateReport(name="test", passed=True, command="make test")
    red = GateReport(name="lint", passed=False, command="lint", evidence="1 error")
    report = ValidationReport(prd="prd.md", head="abc", time="now", gates=(gate,), stories=(good,))
    assert report.passed
    failed = ValidationReport(
        prd="prd.md", head="abc", time="now", gates=(gate, red), stories=(good, bad)
    )
    assert not failed.passed
    assert render_report(failed) == (
        "# Validation of prd.md\n\n- Result: failed\n- Commit: abc\n- Time: now\n\n## Gates\n\n"
        "- PASS test: `make test`\n- FAIL lint: `lint`\n  - Evidence: 1 error\n\n"
        "## PASS US-001: One\n\n- PASS a\n  - Evidence: x\n\n"
        "## FAIL US-002: Two\n\n- UNKNOWN b\n"
    )
