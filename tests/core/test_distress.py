"""How badly an attempt went, and what words tell of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.distress import MODERATE, SEVERE, Distress, distress, heard
from ralph.core.ids import RunId, TaskId
from ralph.core.transitions import (
    Accepted,
    Blocked,
    Conflicted,
    GaveUp,
    Postponed,
    Rejected,
    Released,
    Struck,
)
from ralph.core.tried import Judged, Tried, judged


def a_try(judged: Judged, *notes: str, message: str = "") -> Tried:
    return Tried(
        task_id=TaskId("t-1"),
        attempt=1,
        run_id=RunId("run-1"),
        judged=judged,
        notes=notes,
        message=message,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all tests pass",
        "no errors",
        "there were no more errors",
        "0 failures",
        "it ended without a single failure",
        "fixed the crash in the parser",
        "Fixed: nothing. No bugs.",
        "resolved the regression",
        "improved error handling and error messages",
        "added an error page",
        "the terrors of debugging",
        "unbroken chain of crashpads",
        "it isn\u2019t broken",
    ],
)
def test_harmless_words_are_no_distress(text: str) -> None:
    assert heard(text) is Distress.NONE


@pytest.mark.parametrize(
    "text", ["there is an error", "2 tests FAILED", "a bug remains", "Failure: exit 1"]
)
def test_some_words_are_moderate(text: str) -> None:
    assert heard(text) is Distress.MODERATE


@pytest.mark.parametrize(
    "text",
    [
        "I am stuck",
        "it cannot be done",
        "I can't find it",
        "unable to build",
        "panic: index out of range",
        "the build is broken",
        "a regression",
        "no errors. But the server crashed",
    ],
)
def test_some_words_are_severe(text: str) -> None:
    assert heard(text) is Distress.SEVERE


@given(st.sampled_from(sorted(MODERATE | SEVERE)), st.sampled_from(["a", "_x", "9", ".py", "/b"]))
def test_only_whole_words_count(word: str, tail: str) -> None:
    assert heard(f"see {word}, there") is not Distress.NONE
    assert heard(f"see {word}{tail}, there") is Distress.NONE
    assert heard(f"see x{word}, there") is Distress.NONE


@given(st.text())
def test_any_text_is_understood(text: str) -> None:
    assert heard(text) in Distress


def test_a_note_in_the_final_message_counts() -> None:
    said = "<journal>I am stuck: the API is gone</journal>"
    assert distress(a_try(Judged.STRUCK, message=said)) is Distress.SEVERE


def test_what_is_said_outside_of_notes_does_not_count() -> None:
    said = "The panic handler cannot be broken any more. <task-done>t-1</task-done>"
    assert distress(a_try(Judged.ACCEPTED, message=said)) is Distress.NONE


def test_a_word_weighs_one_step_less_where_the_work_counts() -> None:
    assert distress(a_try(Judged.ACCEPTED, "an error")) is Distress.NONE
    assert distress(a_try(Judged.ACCEPTED, "stuck")) is Distress.MODERATE


def test_a_released_attempt_says_nothing() -> None:
    assert distress(a_try(Judged.RELEASED, "stuck")) is Distress.NONE


@pytest.mark.parametrize(
    ("transition", "word"),
    [
        (Accepted(), Judged.ACCEPTED),
        (Rejected("red"), Judged.REJECTED),
        (Struck("no claim"), Judged.STRUCK),
        (GaveUp("no"), Judged.GAVE_UP),
        (Released("quota"), Judged.RELEASED),
        (Postponed("stopped"), Judged.RELEASED),
        (Conflicted("both in a.py"), Judged.CONFLICT),
        (Blocked("skipped"), Judged.RELEASED),
    ],
)
def test_every_verdict_has_its_word(transition: Accepted, word: Judged) -> None:
    assert judged(transition) is word
