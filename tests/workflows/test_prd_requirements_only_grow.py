"""What a PRD asks for can only grow while a session works on it."""

import pytest

from ralph.core.task import TaskStatus
from ralph.ports.task_document import DocumentClaim
from ralph.store.store import Store
from tests.contracts.store_test_helpers import begin
from tests.workflows.conftest import TEXT, PrdWorkspace, at_work

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
    prd_workspace: PrdWorkspace, old: str, new: str, name: str
) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.edit((old, new), ("- [ ] a", "- [x] a"))
    edited = prd_workspace.text
    (said,) = prd_workspace.stories.read_claim(claim.task).warnings
    assert f"asks for less of {name} since the session on US-001 began" in said
    (kept,) = prd_workspace.project_files.files(".ralph/runs", ".md")
    assert kept in said
    assert prd_workspace.project_files.pages[f".ralph/runs/{kept}"] == edited
    assert prd_workspace.text == TEXT.replace("- [ ] a", "- [x] a"), "its own ticks stay"
    prd_workspace.settle(claim, done=True)
    assert prd_workspace.follow() == ()
    assert list(prd_workspace.tasks()) == ["US-001", "US-002", "US-003"]
    assert prd_workspace.statuses()["US-002"] is TaskStatus.PENDING


@pytest.mark.parametrize(("old", "new", "name"), LESS)
def test_after_a_crash_what_was_asked_is_put_back_as_well(
    prd_workspace: PrdWorkspace, old: str, new: str, name: str
) -> None:
    at_work(prd_workspace)
    prd_workspace.edit((old, new))
    (said,) = prd_workspace.again().sync()
    assert f"asks for less of {name}" in said
    assert prd_workspace.text == TEXT
    assert list(prd_workspace.tasks()) == ["US-001", "US-002", "US-003"]


def test_a_claim_counts_although_the_session_has_taken_something_out(
    prd_workspace: PrdWorkspace,
) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.edit(("[ ] US-001", "[x] US-001"), ("- [ ] c\n", ""))
    assert prd_workspace.stories.read_claim(claim.task).claims
    assert prd_workspace.text == TEXT.replace("[ ] US-001", "[x] US-001")


def test_leaving_a_criterion_of_its_own_story_out_is_no_claim(prd_workspace: PrdWorkspace) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.edit(("- [ ] a\n- [ ] b\n", "- [x] a\n"))
    assert not prd_workspace.stories.read_claim(claim.task).claims
    assert prd_workspace.text == TEXT.replace("- [ ] a", "- [x] a")


def test_the_words_of_a_story_without_criteria_are_what_is_asked(store: Store) -> None:
    begin(store)
    text = "### [ ] US-001: One\n\n### [ ] US-002: Two\nWith care.\n"
    prd_workspace = PrdWorkspace(store, text)
    prd_workspace.follow()
    claim = at_work(prd_workspace)
    prd_workspace.edit(("With care.", "Anyhow."))
    assert "US-002" in prd_workspace.stories.read_claim(claim.task).warnings[0]
    assert prd_workspace.text == text
    prd_workspace.edit(("With care.", "With care.\n\nAnd a note."))
    assert prd_workspace.stories.read_claim(claim.task) == DocumentClaim()
