"""What a reviewer's answer means, round by round."""

import pytest

from ralph.core.ids import TaskId
from ralph.core.review import Dismissal, Finding, Matter, Review, Word
from ralph.core.reviewing import dismissed_in, for_author, read_review, rules
from ralph.core.sigils import holds_an_answer
from ralph.core.task import Task
from ralph.documents.review_file import drawn, path_of, with_blocker

TASK = Task(id=TaskId("t-000001"), title="Count")
FIRST = Review(
    round=1, word=Word.FAIL, summary="no", findings=(Finding(id="F1", text="a.py:3: leaks"),)
)


ONCE = Matter(rounds=(FIRST,))


def said(finding: str, before: Matter = ONCE) -> Review:
    return read_review(f"{finding}<review-fail>no</review-fail>", before)


def test_a_finding_keeps_its_name_by_its_id_or_by_its_words() -> None:
    for again in ('<finding id="F1">as before</finding>', "<finding>a.py:9 - Leaks.</finding>"):
        (one,) = said(again).findings
        assert (one.id, one.is_new) == ("F1", False)


def test_a_new_finding_gets_the_next_name_whatever_it_calls_itself() -> None:
    found = said('<finding id="F7">b</finding><finding>c</finding><finding>c</finding>').findings
    assert [(one.id, one.is_new) for one in found] == [("F2", True), ("F3", True)]


def test_a_refusal_without_findings_is_one_itself() -> None:
    review = read_review("<review-fail>no tests at all</review-fail>", Matter())
    assert [one.text for one in review.findings] == ["no tests at all"]
    assert not review.passes


def test_the_worst_word_counts() -> None:
    message = (
        "<review-pass>a</review-pass><review-fail>b</review-fail><review-blocked>c</review-blocked>"
    )
    assert read_review(message, Matter()).word is Word.BLOCKED
    assert read_review("fine", Matter()).word is None


def test_rounds_are_counted_anew_when_a_matter_was_closed() -> None:
    stale = Review(round=2, word=Word.FAIL, findings=(Finding(id="F1", text="x", is_new=False),))
    closed = Review(round=3, word=Word.FAIL, findings=stale.findings, closed="enough")
    again = '<finding id="F1">x</finding>'
    assert said(again, Matter(rounds=(FIRST, stale))).passes
    assert not said(again, Matter(rounds=(FIRST, stale, closed))).passes


def test_what_stands_is_told_and_can_be_dismissed_and_what_does_not_cannot() -> None:
    matter = Matter(rounds=(FIRST,))
    section = for_author(matter, "a.md")
    assert section is not None
    assert section.parts == ("- F1: a.py:3: leaks",)
    message = '<dismiss id="F1">closed by its owner</dismiss><dismiss id="F2">no</dismiss>'
    (gone,) = dismissed_in(message, matter, "attempt 2")
    assert gone == Dismissal(finding="F1", reason="closed by its owner", by="attempt 2")
    assert for_author(Matter(rounds=(FIRST,), dismissals=(gone,)), "a.md") is None


@pytest.mark.parametrize(
    ("message", "word", "summary"),
    [
        ("<review-pass/>", Word.PASS, "pass"),
        ("All is well.\n\nPASS\n", Word.PASS, "pass"),
        (
            "BLOCKED: the task contradicts its design",
            Word.BLOCKED,
            "the task contradicts its design",
        ),
        ("FAIL: two cases are missing", Word.FAIL, "two cases are missing"),
        ("PASS\nbut for one thing", None, ""),
        ("PASSED", None, ""),
        ("it does not PASS", None, ""),
        ("<review-fail>no</review-fail>\nPASS", Word.FAIL, "no"),
    ],
)
def test_a_verdict_may_be_a_plain_last_line(message: str, word: Word | None, summary: str) -> None:
    said = read_review(message, Matter())
    assert (said.word, said.summary if word else "") == (word, summary)


def test_an_echo_of_its_rules_is_no_answer() -> None:
    assert not holds_an_answer(rules())
    assert read_review(rules(), Matter()).word is None
    assert rules("Mind the colours.").startswith("Mind the colours.\n\n## How to finish\n")


def test_its_file_is_named_after_the_code_task_or_by_the_id() -> None:
    names = {"task-03": "task-03", "step01-task-02": "task-step01-task-02", "US-001": "task-t-1"}
    for alias, name in names.items():
        task = Task(id=TaskId("t-1"), title="a", alias=alias)
        assert path_of(task, alias) == f".ralph/reviews/{name}-review.md"
        assert path_of(task, task.id) == ".ralph/reviews/task-t-1-review.md"


def test_every_round_is_in_the_file_with_what_was_answered() -> None:
    gone = Dismissal(finding="F1", reason="on purpose", by="a person")
    text = drawn(TASK, Matter(rounds=(FIRST,), dismissals=(gone,)))
    assert text == (
        "# Review of t-000001: Count\n\n## Round 1\n\nVerdict: FAIL\nSummary: no\n\n"
        "- **F1** a.py:3: leaks\n  - dismissed by a person: on purpose\n"
    )


def test_a_blocker_is_listed_once() -> None:
    once = with_blocker("", TASK, 1, "whose is it?\nand why?")
    assert once.endswith("## t-000001: Count (attempt 1)\n\n> whose is it?\n> and why?\n")
    assert with_blocker(once, TASK, 1, "again") == once
    assert with_blocker(once, TASK, 2, "again").startswith(once)
