"""A PRD and the store, kept in step, on every store."""

import pytest
from msgspec.structs import replace

from ralph.core.errors import Missing, UnusableData
from ralph.core.events import SessionEnded
from ralph.core.ids import TaskId
from ralph.core.task import Task, TaskStatus
from ralph.documents.log_files import PROGRESS_LOG as PROGRESS
from ralph.ports.task_document import DocumentClaim
from ralph.store.sessions import Checkpoint
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.workflows.document_tasks import DocumentTasks
from ralph.workflows.prd_document import PrdDocument
from ralph.workflows.story_pipeline import PLAN
from tests.contracts.store_test_helpers import begin, start
from tests.doubles import FakeProjectFiles
from tests.workflows.conftest import PATH, TEXT, PrdWorkspace, at_work


def test_every_story_is_a_task(prd_workspace: PrdWorkspace) -> None:
    one, two, three = prd_workspace.tasks().values()
    assert (one.alias, one.title, one.description) == ("US-001", "One", "- [ ] a\n- [ ] b")
    assert [one.priority, two.priority, three.priority] == [1, 2, 3]
    assert [one.max_retries, one.feature_id] == [2, prd_workspace.feature.id]
    assert [task.alias for task in prd_workspace.store.tasks.blockers(two.id)] == ["US-001"]
    assert prd_workspace.statuses() == {
        "US-001": TaskStatus.PENDING,
        "US-002": TaskStatus.PENDING,
        "US-003": TaskStatus.DONE,
    }


def test_following_twice_is_following_once(prd_workspace: PrdWorkspace) -> None:
    seen = prd_workspace.store.events.last_seq()
    assert prd_workspace.follow() == ()
    assert prd_workspace.again().sync() == ()
    assert (prd_workspace.store.events.last_seq(), prd_workspace.text) == (seen, TEXT)


def test_a_story_may_depend_on_one_that_stands_below_it(store: Store) -> None:
    prd_workspace = PrdWorkspace(
        store, "### [ ] US-001: a\nDepends on: US-002\n### [ ] US-002: b\n"
    )
    prd_workspace.follow()
    assert prd_workspace.claim().task.alias == "US-002"


def test_two_documents_may_use_the_same_ids(store: Store) -> None:
    first = PrdWorkspace(store)
    first.follow()
    second = PrdWorkspace(store)
    second.feature = store.features.add("other")
    second.project_files = FakeProjectFiles()
    second.project_files.pages["other.md"] = TEXT
    other = PrdDocument(
        DocumentTasks(store, second.feature, "other.md", 1),
        second.project_files,
    )
    assert other.sync() == ()
    assert len(first.tasks()) == 3
    assert len(store.tasks.select(TaskFilter(feature=second.feature.id))) == 3


def test_a_missing_prd_names_the_command_that_writes_it(store: Store) -> None:
    prd_workspace = PrdWorkspace(store)
    del prd_workspace.project_files.pages[PATH]
    with pytest.raises(Missing) as caught:
        prd_workspace.follow()
    assert "ralph story write" in caught.value.hint


def test_a_prd_that_cannot_be_built_is_refused_at_the_start(store: Store) -> None:
    prd_workspace = PrdWorkspace(store, TEXT + "### [ ] US-001: again\n")
    with pytest.raises(UnusableData, match=r"prd\.md, line 13: "):
        prd_workspace.follow()
    assert prd_workspace.tasks() == {}


# A person's edits


def test_a_new_story_is_built_in_its_place(prd_workspace: PrdWorkspace) -> None:
    prd_workspace.edit(("### [ ] US-001", "### [ ] US-009: Nine\n- [ ] n\n\n### [ ] US-001"))
    prd_workspace.follow()
    assert list(prd_workspace.tasks()) == ["US-009", "US-001", "US-002", "US-003"]


def test_a_removed_story_is_archived_and_comes_back_with_its_history(
    prd_workspace: PrdWorkspace,
) -> None:
    before = prd_workspace.task("US-003")
    prd_workspace.edit(("### [x] US-003: Three\n- [x] d\n", ""))
    (said,) = prd_workspace.follow()
    assert said == "US-003 is no longer in .agents/tasks/prd.md, so it is archived"
    assert list(prd_workspace.tasks()) == ["US-001", "US-002"]
    assert prd_workspace.follow() == ()
    prd_workspace.text = TEXT
    assert prd_workspace.follow() == ("US-003 is in .agents/tasks/prd.md again",)
    assert prd_workspace.task("US-003").id == before.id
    assert prd_workspace.statuses()["US-003"] is TaskStatus.DONE


def test_reordered_stories_are_built_in_the_new_order(prd_workspace: PrdWorkspace) -> None:
    prd_workspace.text = (
        "### [ ] US-003: Three\n- [x] d\n\n### [ ] US-001: One\n- [ ] a\n- [ ] b\n\n"
        "### [ ] US-002: Two\nDepends on: US-001\n- [ ] c\n"
    )
    prd_workspace.follow()
    assert list(prd_workspace.tasks()) == ["US-003", "US-001", "US-002"]
    assert prd_workspace.claim().task.alias == "US-003"


def test_a_ticked_story_is_done(prd_workspace: PrdWorkspace) -> None:
    prd_workspace.edit(("[ ] US-001", "[x] US-001"))
    (said,) = prd_workspace.follow()
    assert said.startswith("US-001 is ticked")
    assert prd_workspace.statuses()["US-001"] is TaskStatus.DONE
    assert prd_workspace.text == TEXT.replace("[ ] US-001", "[x] US-001")
    assert prd_workspace.follow() == ()


def test_criteria_that_a_person_ticks_one_by_one_come_to_done(prd_workspace: PrdWorkspace) -> None:
    prd_workspace.edit(("[ ] a", "[x] a"))
    assert prd_workspace.follow() == ()
    assert prd_workspace.statuses()["US-001"] is TaskStatus.PENDING
    prd_workspace.edit(("[ ] b", "[x] b"))
    assert len(prd_workspace.follow()) == 1
    assert prd_workspace.statuses()["US-001"] is TaskStatus.DONE
    assert "### [x] US-001" in prd_workspace.text


def test_a_cleared_story_is_open_again_and_its_session_hears_why(
    prd_workspace: PrdWorkspace,
) -> None:
    prd_workspace.edit(("[x] US-003", "[ ] US-003"))
    prd_workspace.follow()
    assert prd_workspace.statuses()["US-003"] is TaskStatus.PENDING
    assert "- [ ] d" in prd_workspace.text
    assert "not done" in (prd_workspace.task("US-003").reason or "")
    assert prd_workspace.follow() == ()


def test_a_cleared_criterion_opens_its_story_and_is_named(prd_workspace: PrdWorkspace) -> None:
    prd_workspace.edit(("[x] d", "[ ] d"))
    prd_workspace.follow()
    assert prd_workspace.statuses()["US-003"] is TaskStatus.PENDING
    assert "### [ ] US-003" in prd_workspace.text
    assert (prd_workspace.task("US-003").reason or "").endswith("it does not meet: d")


def test_edited_words_reach_the_task(prd_workspace: PrdWorkspace) -> None:
    prd_workspace.edit(
        ("One", "First"), ("[ ] a", "[ ] another"), ("Depends on: US-001", "Depends on: none")
    )
    prd_workspace.follow()
    assert prd_workspace.task("US-001").title == "First"
    assert "another" in prd_workspace.task("US-001").description
    assert prd_workspace.store.tasks.blockers(prd_workspace.task("US-002").id) == []


def test_dependencies_may_be_turned_round(prd_workspace: PrdWorkspace) -> None:
    prd_workspace.edit(("Depends on: US-001\n", ""), ("- [ ] a", "Depends on: US-002\n- [ ] a"))
    prd_workspace.follow()
    assert [
        task.alias for task in prd_workspace.store.tasks.blockers(prd_workspace.task("US-001").id)
    ] == ["US-002"]


def test_what_commands_did_to_the_store_is_written_into_the_document(
    prd_workspace: PrdWorkspace,
) -> None:
    prd_workspace.store.tasks.force_done(prd_workspace.task("US-001").id)
    prd_workspace.store.tasks.reset(prd_workspace.task("US-003").id)
    assert prd_workspace.follow() == ()
    assert "### [x] US-001" in prd_workspace.text
    assert "### [ ] US-003: Three\n- [ ] d" in prd_workspace.text


def test_a_persons_broken_edit_in_mid_run_stops_nothing_and_stays(
    prd_workspace: PrdWorkspace,
) -> None:
    broken = TEXT + "### [ ] US-001: again\n"
    prd_workspace.text = broken
    (said,) = prd_workspace.follow()
    assert said.endswith("going on with the stories as they were")
    assert (prd_workspace.text, len(prd_workspace.tasks())) == (broken, 3)
    claim = prd_workspace.claim()
    prd_workspace.stories.session_starts(claim.task)
    assert prd_workspace.stories.read_claim(claim.task) == DocumentClaim()
    prd_workspace.settle(claim, done=True)
    assert prd_workspace.text == broken
    prd_workspace.text = TEXT
    assert prd_workspace.follow() == ()
    assert "### [x] US-001" in prd_workspace.text


def test_doubtful_lines_are_said(store: Store) -> None:
    prd_workspace = PrdWorkspace(store, TEXT + "### US-004: Four\n")
    (said,) = prd_workspace.follow()
    assert said.startswith(".agents/tasks/prd.md, line 13: ")


def test_edits_while_ralph_writes_are_not_lost(prd_workspace: PrdWorkspace) -> None:
    prd_workspace.store.tasks.force_done(prd_workspace.task("US-001").id)
    read = prd_workspace.project_files.read_bytes
    looks = 0

    def meanwhile(path: str) -> bytes | None:
        nonlocal looks
        looks += 1
        if looks == 2:
            prd_workspace.edit(("[ ] US-002", "[x] US-002"))
        return read(path)

    prd_workspace.project_files.read_bytes = meanwhile  # type: ignore[method-assign]
    prd_workspace.follow()
    assert "### [x] US-002" in prd_workspace.text
    prd_workspace.follow()
    assert prd_workspace.statuses()["US-002"] is TaskStatus.DONE
    assert "### [x] US-001" in prd_workspace.text


# A session


def test_a_ticked_heading_or_all_criteria_are_a_claim(prd_workspace: PrdWorkspace) -> None:
    claim = at_work(prd_workspace)
    assert not prd_workspace.stories.read_claim(claim.task).claims
    prd_workspace.edit(("[ ] a", "[x] a"))
    assert not prd_workspace.stories.read_claim(claim.task).claims
    prd_workspace.edit(("[ ] b", "[x] b"))
    assert prd_workspace.stories.read_claim(claim.task).claims
    prd_workspace.text = TEXT.replace("[ ] US-001", "[x] US-001")
    assert prd_workspace.stories.read_claim(claim.task).claims


def test_an_accepted_story_is_ticked_whole(prd_workspace: PrdWorkspace) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.settle(claim, done=True)
    assert prd_workspace.text == TEXT.replace(
        "[ ] US-001: One\n- [ ] a\n- [ ] b", "[x] US-001: One\n- [x] a\n- [x] b"
    )
    assert prd_workspace.follow() == ()
    assert prd_workspace.statuses()["US-001"] is TaskStatus.DONE


def test_a_rejected_claim_is_cleared_and_is_no_persons_tick(prd_workspace: PrdWorkspace) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.edit(("[ ] US-001", "[x] US-001"), ("[ ] a", "[x] a"))
    prd_workspace.settle(claim, done=False)
    assert prd_workspace.text == TEXT
    assert prd_workspace.follow() == ()
    assert prd_workspace.statuses()["US-001"] is TaskStatus.PENDING


def test_partial_ticks_stay_and_the_story_stays_open(prd_workspace: PrdWorkspace) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.edit(("[ ] a", "[x] a"))
    prd_workspace.settle(claim, done=False)
    assert prd_workspace.text == TEXT.replace("[ ] a", "[x] a")
    assert prd_workspace.follow() == ()
    assert prd_workspace.statuses()["US-001"] is TaskStatus.PENDING


def test_a_session_cannot_tick_a_story_that_it_did_not_build(prd_workspace: PrdWorkspace) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.edit(("[ ] US-002", "[x] US-002"), ("[ ] US-001", "[x] US-001"))
    left = prd_workspace.stories.read_claim(claim.task)
    assert left.claims
    assert "US-002" in left.warnings[0]
    prd_workspace.settle(claim, done=True)
    assert "### [ ] US-002" in prd_workspace.text
    assert prd_workspace.follow() == ()
    assert prd_workspace.statuses()["US-002"] is TaskStatus.PENDING


def test_a_story_that_a_session_adds_is_open_whatever_it_ticks(prd_workspace: PrdWorkspace) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.text += "\n### [x] US-004: Four\n"
    prd_workspace.settle(claim, done=True)
    prd_workspace.follow()
    assert prd_workspace.statuses()["US-004"] is TaskStatus.PENDING


def test_a_persons_edits_during_a_session_count_at_the_next_iteration(
    prd_workspace: PrdWorkspace,
) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.edit(
        ("### [x] US-003", "### [ ] US-004: Four\n\n### [x] US-003"),
        ("- [ ] c", "- [ ] c\n- [ ] e"),
    )
    assert prd_workspace.stories.read_claim(claim.task) == DocumentClaim()
    prd_workspace.settle(claim, done=True)
    assert prd_workspace.follow() == ()
    assert prd_workspace.claim().task.alias == "US-002"
    assert prd_workspace.task("US-004").priority == 3
    assert "- [ ] e" in prd_workspace.task("US-002").description


def test_words_that_a_person_edits_during_a_session_reach_the_task(
    prd_workspace: PrdWorkspace,
) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.edit(("Two", "Second"), ("Depends on: US-001", "Depends on: US-003"))
    prd_workspace.settle(claim, done=False)
    assert prd_workspace.follow() == ()
    assert prd_workspace.task("US-002").title == "Second"
    assert [
        task.alias for task in prd_workspace.store.tasks.blockers(prd_workspace.task("US-002").id)
    ] == ["US-003"]


@pytest.mark.parametrize(
    "wreck", [None, "", "sorry", "### [x] US-001: Done\n", "```\n" + TEXT, TEXT + TEXT]
)
def test_a_prd_that_a_session_broke_is_put_back(
    prd_workspace: PrdWorkspace, wreck: str | None
) -> None:
    claim = at_work(prd_workspace)
    if wreck is None:
        del prd_workspace.project_files.pages[PATH]
    else:
        prd_workspace.text = wreck
    left = prd_workspace.stories.read_claim(claim.task)
    assert "it is as it was before the session" in left.broken
    assert not left.claims
    assert prd_workspace.text == TEXT
    prd_workspace.settle(claim, done=False)
    assert prd_workspace.text == TEXT
    assert prd_workspace.follow() == ()


# Crashes


@pytest.mark.parametrize("does", ["removes", "empties"])
def test_a_plan_that_a_session_takes_away_is_brought_back(
    prd_workspace: PrdWorkspace, does: str
) -> None:
    prd_workspace.stories.paths += (PLAN, PROGRESS)
    prd_workspace.project_files.pages |= {PLAN: "the plan", PROGRESS: "begun"}
    claim = at_work(prd_workspace)
    prd_workspace.project_files.pages |= {PLAN: "", PROGRESS: "begun, and gone on"}
    if does == "removes":
        del prd_workspace.project_files.pages[PLAN]
    assert prd_workspace.stories.read_claim(claim.task).warnings == (
        f"{PLAN} was removed or emptied by the session; it is back",
    )
    assert prd_workspace.project_files.pages[PLAN] == "the plan"
    assert prd_workspace.project_files.pages[PROGRESS] == "begun, and gone on"


def test_ticks_of_a_session_that_a_crash_cut_off_are_nobodys(prd_workspace: PrdWorkspace) -> None:
    claim = at_work(prd_workspace)
    prd_workspace.edit(("[ ] US-001", "[x] US-001"), ("[ ] US-002", "[x] US-002"))
    assert prd_workspace.again().sync() == ()
    assert prd_workspace.text == TEXT
    assert prd_workspace.statuses()["US-001"] is not TaskStatus.DONE
    assert claim.task.id == prd_workspace.task("US-001").id


def test_ticks_of_a_session_that_is_still_to_be_judged_are_kept(
    prd_workspace: PrdWorkspace,
) -> None:
    claim = at_work(prd_workspace)
    session = start(prd_workspace.store, claim)
    prd_workspace.edit(("[ ] US-001", "[x] US-001"))
    ended = SessionEnded(session_id=session.id, task_id=session.task_id, ended="finished")
    prd_workspace.store.sessions.end(replace(session, checkpoint=Checkpoint.ENDED), claim, ended)
    assert prd_workspace.again().sync() == ()
    assert prd_workspace.stories.read_claim(claim.task).claims
    prd_workspace.settle(claim, done=True)
    assert prd_workspace.follow() == ()
    assert prd_workspace.statuses()["US-001"] is TaskStatus.DONE


def test_a_prd_that_was_broken_before_a_crash_is_put_back(prd_workspace: PrdWorkspace) -> None:
    at_work(prd_workspace)
    prd_workspace.text = "sorry"
    (said,) = prd_workspace.again().sync()
    assert "it is as it was before the session" in said
    assert prd_workspace.text == TEXT


def test_a_story_that_was_done_elsewhere_is_ticked_whole(prd_workspace: PrdWorkspace) -> None:
    prd_workspace.store.tasks.force_done(prd_workspace.task("US-001").id)
    assert prd_workspace.follow() == ()
    done = TEXT.replace("[ ] US-001", "[x] US-001").replace("[ ] a", "[x] a")
    assert prd_workspace.text == done.replace("[ ] b", "[x] b")
    assert prd_workspace.follow() == ()
    assert prd_workspace.statuses()["US-001"] is TaskStatus.DONE


def test_the_session_of_another_task_has_nothing_to_say_there(prd_workspace: PrdWorkspace) -> None:
    same_name = Task(id=TaskId("t-other"), title="else", alias="US-001")
    for other in (Task(id=TaskId("t-other"), title="else"), same_name):
        prd_workspace.stories.session_starts(other)
        prd_workspace.edit(("[ ] US-001", "[x] US-001"))
        left = prd_workspace.stories.read_claim(other)
        assert not left.claims
        assert not left.broken
        assert "the boxes of US-001" in left.warnings[0]
        prd_workspace.stories.write_verdict(other, done=True)
        prd_workspace.stories.end_session(other)
        assert prd_workspace.text == TEXT
        assert prd_workspace.follow() == ()
        assert prd_workspace.statuses()["US-001"] is TaskStatus.PENDING


def test_what_the_session_of_another_task_breaks_is_put_back_and_costs_it_nothing(
    prd_workspace: PrdWorkspace,
) -> None:
    other = Task(id=TaskId("t-other"), title="else")
    prd_workspace.stories.session_starts(other)
    prd_workspace.text = "sorry"
    left = prd_workspace.stories.read_claim(other)
    assert not left.broken
    assert "it is as it was before the session" in left.warnings[0]
    assert prd_workspace.text == TEXT


def test_a_session_of_another_task_that_was_killed_has_said_nothing(
    prd_workspace: PrdWorkspace,
) -> None:
    prd_workspace.stories.session_starts(Task(id=TaskId("t-other"), title="else"))
    prd_workspace.edit(("[ ] US-001", "[x] US-001"), ("[ ] a", "[x] a"), ("[ ] b", "[x] b"))
    prd_workspace.again().sync()
    assert prd_workspace.text == TEXT
    assert prd_workspace.statuses()["US-001"] is TaskStatus.PENDING


def test_bytes_stay_as_they_are(store: Store) -> None:
    begin(store)
    text = "\ufeff" + TEXT.replace("\n", "\r\n").replace("One", "Öne\t ").rstrip() + " \udcff"
    prd_workspace = PrdWorkspace(store, text)
    prd_workspace.follow()
    assert prd_workspace.text == text
    claim = prd_workspace.claim()
    prd_workspace.stories.session_starts(claim.task)
    prd_workspace.settle(claim, done=True)
    boxes = (("[ ] US-001", "[x] US-001"), ("[ ] a", "[x] a"), ("[ ] b", "[x] b"))
    for old, new in boxes:
        text = text.replace(old, new)
    assert prd_workspace.text == text
