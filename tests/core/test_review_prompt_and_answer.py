"""What a reviewer's answer means, round by round."""

import pytest

from ralph.core.ids import TaskId
from ralph.core.message_tags import contains_answer
from ralph.core.review_thread import Dismissal, Finding, ReviewRound, ReviewThread, ReviewVerdict
from ralph.core.task import Task
from ralph.core.verification_and_review import (
    dismissals_in,
    findings_to_fix_section,
    read_review,
    review_rules,
)
from ralph.documents.review_file import path_of, review_file_text, with_blocker

TASK = Task(id=TaskId("t-000001"), title="Count")
FIRST = ReviewRound(
    round=1,
    word=ReviewVerdict.FAIL,
    summary="no",
    findings=(Finding(id="F1", text="a.py:3: leaks"),),
)


ONCE = ReviewThread(rounds=(FIRST,))


def said(finding: str, before: ReviewThread = ONCE) -> ReviewRound:
    return read_review(f"{finding}<review-fail>no</review-fail>", before)


def test_a_finding_keeps_its_name_by_its_id_or_by_its_words() -> None:
    for again in ('<finding id="F1">as before</finding>', "<finding>a.py:9 - Leaks.</finding>"):
        (one,) = said(again).findings
        assert (one.id, one.is_new) == ("F1", False)


def test_a_new_finding_gets_the_next_name_whatever_it_calls_itself() -> None:
    found = said('<finding id="F7">b</finding><finding>c</finding><finding>c</finding>').findings
    assert [(one.id, one.is_new) for one in found] == [("F2", True), ("F3", True)]


def test_a_refusal_without_findings_is_one_itself() -> None:
    review = read_review("<review-fail>no tests at all</review-fail>", ReviewThread())
    assert [one.text for one in review.findings] == ["no tests at all"]
    assert not review.passes


def test_the_worst_word_counts() -> None:
    message = (
        "<review-pass>a</review-pass><review-fail>b</review-fail><review-blocked>c</review-blocked>"
    )
    assert read_review(message, ReviewThread()).word is ReviewVerdict.BLOCKED
    assert read_review("fine", ReviewThread()).word is None


def test_rounds_are_counted_anew_when_a_matter_was_closed() -> None:
    stale = ReviewRound(
        round=2, word=ReviewVerdict.FAIL, findings=(Finding(id="F1", text="x", is_new=False),)
    )
    closed = ReviewRound(round=3, word=ReviewVerdict.FAIL, findings=stale.findings, closed="enough")
    again = '<finding id="F1">x</finding>'
    assert said(again, ReviewThread(rounds=(FIRST, stale))).passes
    assert not said(again, ReviewThread(rounds=(FIRST, stale, closed))).passes


def test_what_stands_is_told_and_can_be_dismissed_and_what_does_not_cannot() -> None:
    review_thread = ReviewThread(rounds=(FIRST,))
    section = findings_to_fix_section(review_thread, "a.md")
    assert section is not None
    assert section.parts == ("- F1: a.py:3: leaks",)
    message = '<dismiss id="F1">closed by its owner</dismiss><dismiss id="F2">no</dismiss>'
    (gone,) = dismissals_in(message, review_thread, "attempt 2")
    assert gone == Dismissal(finding="F1", reason="closed by its owner", by="attempt 2")
    assert (
        findings_to_fix_section(ReviewThread(rounds=(FIRST,), dismissals=(gone,)), "a.md") is None
    )


@pytest.mark.parametrize(
    ("message", "word", "summary"),
    [
        ("<review-pass/>", ReviewVerdict.PASS, "pass"),
        ("All is well.\n\nPASS\n", ReviewVerdict.PASS, "pass"),
        (
            "BLOCKED: the task contradicts its design",
            ReviewVerdict.BLOCKED,
            "the task contradicts its design",
        ),
        ("FAIL: two cases are missing", ReviewVerdict.FAIL, "two cases are missing"),
        ("PASS\nbut for one thing", None, ""),
        ("PASSED", None, ""),
        ("it does not PASS", None, ""),
        ("<review-fail>no</review-fail>\nPASS", ReviewVerdict.FAIL, "no"),
    ],
)
def test_a_verdict_may_be_a_plain_last_line(
    message: str, word: ReviewVerdict | None, summary: str
) -> None:
    said = read_review(message, ReviewThread())
    assert (said.word, said.summary if word else "") == (word, summary)


def test_an_echo_of_its_rules_is_no_answer() -> None:
    assert not contains_answer(review_rules())
    assert read_review(review_rules(), ReviewThread()).word is None
    assert review_rules("Mind the colours.").startswith("Mind the colours.\n\n## How to finish\n")


def test_its_file_is_named_after_the_code_task_or_by_the_id() -> None:
    names = {"task-03": "task-03", "step01-task-02": "task-step01-task-02", "US-001": "task-t-1"}
    for alias, name in names.items():
        task = Task(id=TaskId("t-1"), title="a", alias=alias)
        assert path_of(task, alias) == f".ralph/reviews/{name}-review.md"
        assert path_of(task, task.id) == ".ralph/reviews/task-t-1-review.md"


def test_every_round_is_in_the_file_with_what_was_answered() -> None:
    gone = Dismissal(finding="F1", reason="on purpose", by="a person")
    text = review_file_text(TASK, ReviewThread(rounds=(FIRST,), dismissals=(gone,)))
    assert text == (
        "# Review of t-000001: Count\n\n## Round 1\n\nVerdict: FAIL\nSummary: no\n\n"
        "- **F1** a.py:3: leaks\n  - dismissed by a person: on purpose\n"
    )


def test_a_blocker_is_listed_once() -> None:
    once = with_blocker("", TASK, 1, "whose is it?\nand why?")
    assert once.endswith("## t-000001: Count (attempt 1)\n\n> whose is it?\n> and why?\n")
    assert with_blocker(once, TASK, 1, "again") == once
    assert with_blocker(once, TASK, 2, "again").startswith(once)
