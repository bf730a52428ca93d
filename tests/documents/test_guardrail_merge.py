"""Lessons of several writers."""

import pytest

from ralph.core.brief import Guardrail, GuardrailKind
from ralph.documents.guardrails import (
    FRESH,
    add_guardrail_once,
    after_session,
    read,
    with_guardrail,
)


def a_lesson(text: str, number: int = 1, **fields: object) -> Guardrail:
    about: dict[str, object] = {"kind": GuardrailKind.FIX, "created": "2026-02-12"}
    return Guardrail(id=f"fix-1-{number:04x}", text=text, **(about | fields))  # type: ignore[arg-type]


def said(text: str) -> list[str]:
    return [one.text for one in read(text) if one.kind is not GuardrailKind.SIGN]


def test_a_new_lesson_is_written_down() -> None:
    text, entry = add_guardrail_once("", a_lesson("use port 0"))
    assert entry.id == "fix-1-0001"
    assert text == with_guardrail(FRESH, a_lesson("use port 0"))


def test_the_same_lesson_is_not_written_twice() -> None:
    text, first = add_guardrail_once("", a_lesson("The port is taken:\nuse port 0"))
    again, entry = add_guardrail_once(text, a_lesson("the port is  taken: use port 0", 2))
    assert again == text
    assert entry.id == first.id


def test_it_is_the_same_in_another_section_and_in_a_plain_list() -> None:
    text = "## Patterns\n\n- No **mocks**,\n  use fakes\n"
    again, entry = add_guardrail_once(text, a_lesson("no mocks, use fakes"))
    assert again == text
    assert entry.kind is GuardrailKind.PATTERN


def test_a_lesson_that_is_part_of_another_is_one_of_its_own() -> None:
    text, _ = add_guardrail_once("", a_lesson("use port 0 in tests, and nowhere else"))
    again, entry = add_guardrail_once(text, a_lesson("use port 0 in tests", 2))
    assert entry.id == "fix-1-0002"
    assert len(said(again)) == 2


def test_a_lesson_with_marks_is_written_once_and_is_not_the_one_without() -> None:
    text, first = add_guardrail_once("", a_lesson("use **bold** where a > b"))
    assert add_guardrail_once(text, a_lesson("use **bold** where a > b", 2)) == (text, first)
    assert add_guardrail_once(text, a_lesson("use bold where a b", 2))[1].id == "fix-1-0002"


BEFORE = "# Guardrails\n\n## Fixes\n\n- use port 0\n\n## Patterns\n\n- no mocks\n"


def test_what_a_session_adds_in_its_place_stays_as_it_is() -> None:
    now = BEFORE.replace("- use port 0\n", "- use port 0\n- **flush** it\n")
    assert after_session(BEFORE, now) == now


@pytest.mark.parametrize(
    ("now", "entries"),
    [
        ("", ["use port 0", "no mocks"]),
        ("flush it", ["use port 0", "no mocks", "flush it"]),
        (
            "## Fixes\n\n- flush it\n\n## Fixes\n\n- sync it\n",
            ["use port 0", "flush it", "sync it", "no mocks"],
        ),
        (BEFORE + "\n## Fixes\n\n- flush it\n", ["use port 0", "flush it", "no mocks"]),
    ],
)
def test_a_session_neither_removes_lessons_nor_repeats_a_section(
    now: str, entries: list[str]
) -> None:
    text = after_session(BEFORE, now)
    assert said(text) == entries
    assert text.count("## Fixes") == 1
