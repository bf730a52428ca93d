"""Lessons of several writers."""

from ralph.core.shelf import Guardrail, GuardrailKind
from ralph.documents.guardrails import FRESH, added, read
from ralph.documents.lessons import learned


def a_lesson(text: str, number: int = 1, **fields: object) -> Guardrail:
    about: dict[str, object] = {"kind": GuardrailKind.FIX, "created": "2026-02-12"}
    return Guardrail(id=f"fix-1-{number:04x}", text=text, **(about | fields))  # type: ignore[arg-type]


def said(text: str) -> list[str]:
    return [one.text for one in read(text) if one.kind is not GuardrailKind.SIGN]


def test_a_new_lesson_is_written_down() -> None:
    text, entry = learned("", a_lesson("use port 0"))
    assert entry.id == "fix-1-0001"
    assert text == added(FRESH, a_lesson("use port 0"))


def test_the_same_lesson_is_not_written_twice() -> None:
    text, first = learned("", a_lesson("The port is taken:\nuse port 0"))
    again, entry = learned(text, a_lesson("the port is  taken: use port 0", 2))
    assert again == text
    assert entry.id == first.id


def test_it_is_the_same_in_another_section_and_in_a_plain_list() -> None:
    text = "## Patterns\n\n- No **mocks**,\n  use fakes\n"
    again, entry = learned(text, a_lesson("no mocks, use fakes"))
    assert again == text
    assert entry.kind is GuardrailKind.PATTERN


def test_a_lesson_that_is_part_of_another_is_one_of_its_own() -> None:
    text, _ = learned("", a_lesson("use port 0 in tests, and nowhere else"))
    again, entry = learned(text, a_lesson("use port 0 in tests", 2))
    assert entry.id == "fix-1-0002"
    assert len(said(again)) == 2
