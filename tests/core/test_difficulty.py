"""How badly an attempt went, and what words tell of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.ids import RunId, TaskId
from ralph.core.model_selection import (
    MODERATE,
    SEVERE,
    Difficulty,
    attempt_difficulty,
    difficulty_in_text,
)
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
from ralph.core.verdict import AttemptRecord, AttemptVerdict, attempt_verdict


def a_try(judged: AttemptVerdict, *notes: str, message: str = "") -> AttemptRecord:
    return AttemptRecord(
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
    assert difficulty_in_text(text) is Difficulty.NONE


@pytest.mark.parametrize(
    "text", ["there is an error", "2 tests FAILED", "a bug remains", "Failure: exit 1"]
)
def test_some_words_are_moderate(text: str) -> None:
    assert difficulty_in_text(text) is Difficulty.MODERATE


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
    assert difficulty_in_text(text) is Difficulty.SEVERE


@given(st.sampled_from(sorted(MODERATE | SEVERE)), st.sampled_from(["a", "_x", "9", ".py", "/b"]))
def test_only_whole_words_count(word: str, tail: str) -> None:
    assert difficulty_in_text(f"see {word}, there") is not Difficulty.NONE
    assert difficulty_in_text(f"see {word}{tail}, there") is Difficulty.NONE
    assert difficulty_in_text(f"see x{word}, there") is Difficulty.NONE


@given(st.text())
def test_any_text_is_understood(text: str) -> None:
    assert difficulty_in_text(text) in Difficulty


def test_a_note_in_the_final_message_counts() -> None:
    said = "<journal>I am stuck: the API is gone</journal>"
    assert attempt_difficulty(a_try(AttemptVerdict.STRUCK, message=said)) is Difficulty.SEVERE


def test_what_is_said_outside_of_notes_does_not_count() -> None:
    said = "The panic handler cannot be broken any more. <task-done>t-1</task-done>"
    assert attempt_difficulty(a_try(AttemptVerdict.ACCEPTED, message=said)) is Difficulty.NONE


def test_a_word_weighs_one_step_less_where_the_work_counts() -> None:
    assert attempt_difficulty(a_try(AttemptVerdict.ACCEPTED, "an error")) is Difficulty.NONE
    assert attempt_difficulty(a_try(AttemptVerdict.ACCEPTED, "stuck")) is Difficulty.MODERATE


def test_a_released_attempt_says_nothing() -> None:
    assert attempt_difficulty(a_try(AttemptVerdict.RELEASED, "stuck")) is Difficulty.NONE


@pytest.mark.parametrize(
    ("transition", "word"),
    [
        (Accepted(), AttemptVerdict.ACCEPTED),
        (Rejected("red"), AttemptVerdict.REJECTED),
        (Struck("no claim"), AttemptVerdict.STRUCK),
        (GaveUp("no"), AttemptVerdict.GAVE_UP),
        (Released("quota"), AttemptVerdict.RELEASED),
        (Postponed("stopped"), AttemptVerdict.RELEASED),
        (Conflicted("both in a.py"), AttemptVerdict.CONFLICT),
        (Blocked("skipped"), AttemptVerdict.RELEASED),
    ],
)
def test_every_verdict_has_its_word(transition: Accepted, word: AttemptVerdict) -> None:
    assert attempt_verdict(transition) is word
