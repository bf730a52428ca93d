"""What a PRD asks for can only grow while a session works on it."""

import pytest

from ralph.core.task import Status
from ralph.ports.document import Left
from ralph.ports.store import Store
from ralph.testing.store_words import begin
from tests.workflows.conftest import TEXT, Desk, at_work

LESS = [
    ("### [ ] US-002: Two\nDepends on: US-001\n- [ ] c\n\n", "", "US-002"),
    ("### [x] US-003: Three\n- [x] d\n", "### [ ] US-004: Four\n", "US-003"),
    ("- [ ] b\n", "", "US-001"),
    ("- [ ] c\n", "- [ ] c, more or less\n", "US-002"),
    ("- [ ] c\n", "- c\n", "US-002"),
    ("- [ ] c\n", "```\n- [ ] c\n```\n", "US-002"),
    ("US-003", "US-004", "US-003"),
]


@pytest.mark.parametrize(("old", "new", "name"), LESS)
def test_what_was_asked_cannot_be_taken_out_while_a_session_works(
    desk: Desk, old: str, new: str, name: str
) -> None:
    claim = at_work(desk)
    desk.edit((old, new), ("- [ ] a", "- [x] a"))
    edited = desk.text
    (said,) = desk.stories.look(claim.task).warnings
    assert f"asks for less of {name} since the session on US-001 began" in said
    (kept,) = desk.library.files(".ralph/runs", ".md")
    assert kept in said
    assert desk.library.pages[f".ralph/runs/{kept}"] == edited
    assert desk.text == TEXT.replace("- [ ] a", "- [x] a"), "its own ticks stay"
    desk.settle(claim, done=True)
    assert desk.follow() == ()
    assert list(desk.tasks()) == ["US-001", "US-002", "US-003"]
    assert desk.statuses()["US-002"] is Status.PENDING


@pytest.mark.parametrize(("old", "new", "name"), LESS)
def test_after_a_crash_what_was_asked_is_put_back_as_well(
    desk: Desk, old: str, new: str, name: str
) -> None:
    at_work(desk)
    desk.edit((old, new))
    (said,) = desk.again().follow()
    assert f"asks for less of {name}" in said
    assert desk.text == TEXT
    assert list(desk.tasks()) == ["US-001", "US-002", "US-003"]


def test_a_claim_counts_although_the_session_has_taken_something_out(desk: Desk) -> None:
    claim = at_work(desk)
    desk.edit(("[ ] US-001", "[x] US-001"), ("- [ ] c\n", ""))
    assert desk.stories.look(claim.task).claims
    assert desk.text == TEXT.replace("[ ] US-001", "[x] US-001")


def test_leaving_a_criterion_of_its_own_story_out_is_no_claim(desk: Desk) -> None:
    claim = at_work(desk)
    desk.edit(("- [ ] a\n- [ ] b\n", "- [x] a\n"))
    assert not desk.stories.look(claim.task).claims
    assert desk.text == TEXT.replace("- [ ] a", "- [x] a")


def test_the_words_of_a_story_without_criteria_are_what_is_asked(store: Store) -> None:
    begin(store)
    text = "### [ ] US-001: One\n\n### [ ] US-002: Two\nWith care.\n"
    desk = Desk(store, text)
    desk.follow()
    claim = at_work(desk)
    desk.edit(("With care.", "Anyhow."))
    assert "US-002" in desk.stories.look(claim.task).warnings[0]
    assert desk.text == text
    desk.edit(("With care.", "With care.\n\nAnd a note."))
    assert desk.stories.look(claim.task) == Left()
