"""A PRD and the store, kept in step, on every store."""

import pytest
from msgspec.structs import replace

from ralph.core.errors import Missing, UnusableData
from ralph.core.events import SessionEnded
from ralph.core.ids import TaskId
from ralph.core.task import Status, Task
from ralph.documents.progress_log import PATH as PROGRESS
from ralph.ports.document import Left
from ralph.ports.history import Mark
from ralph.ports.store import Filter, Store
from ralph.testing.doubles import FakeLibrary
from ralph.testing.store_words import begin, start
from ralph.workflows.pipeline import PLAN
from ralph.workflows.stories import Stories
from tests.workflows.conftest import PATH, TEXT, Desk, at_work


def test_every_story_is_a_task(desk: Desk) -> None:
    one, two, three = desk.tasks().values()
    assert (one.alias, one.title, one.description) == ("US-001", "One", "- [ ] a\n- [ ] b")
    assert [one.priority, two.priority, three.priority] == [1, 2, 3]
    assert [one.max_retries, one.feature_id] == [2, desk.feature.id]
    assert [task.alias for task in desk.store.blockers(two.id)] == ["US-001"]
    assert desk.statuses() == {
        "US-001": Status.PENDING,
        "US-002": Status.PENDING,
        "US-003": Status.DONE,
    }


def test_following_twice_is_following_once(desk: Desk) -> None:
    seen = desk.store.last_seq()
    assert desk.follow() == ()
    assert desk.again().follow() == ()
    assert (desk.store.last_seq(), desk.text) == (seen, TEXT)


def test_a_story_may_depend_on_one_that_stands_below_it(store: Store) -> None:
    desk = Desk(store, "### [ ] US-001: a\nDepends on: US-002\n### [ ] US-002: b\n")
    desk.follow()
    assert desk.claim().task.alias == "US-002"


def test_two_documents_may_use_the_same_ids(store: Store) -> None:
    first = Desk(store)
    first.follow()
    second = Desk(store)
    second.feature = store.add_feature("other")
    second.library = FakeLibrary()
    second.library.pages["other.md"] = TEXT
    other = Stories(
        store=store, library=second.library, path="other.md", feature=second.feature, max_retries=1
    )
    assert other.follow() == ()
    assert len(first.tasks()) == 3
    assert len(store.tasks(Filter(feature=second.feature.id))) == 3


def test_a_missing_prd_names_the_command_that_writes_it(store: Store) -> None:
    desk = Desk(store)
    del desk.library.pages[PATH]
    with pytest.raises(Missing) as caught:
        desk.follow()
    assert "ralph prd" in caught.value.hint


def test_a_prd_that_cannot_be_built_is_refused_at_the_start(store: Store) -> None:
    desk = Desk(store, TEXT + "### [ ] US-001: again\n")
    with pytest.raises(UnusableData, match=r"prd\.md, line 13: "):
        desk.follow()
    assert desk.tasks() == {}


# A person's edits


def test_a_new_story_is_built_in_its_place(desk: Desk) -> None:
    desk.edit(("### [ ] US-001", "### [ ] US-009: Nine\n- [ ] n\n\n### [ ] US-001"))
    desk.follow()
    assert list(desk.tasks()) == ["US-009", "US-001", "US-002", "US-003"]


def test_a_removed_story_is_archived_and_comes_back_with_its_history(desk: Desk) -> None:
    before = desk.task("US-003")
    desk.edit(("### [x] US-003: Three\n- [x] d\n", ""))
    (said,) = desk.follow()
    assert said == "US-003 is no longer in .agents/tasks/prd.md, so it is archived"
    assert list(desk.tasks()) == ["US-001", "US-002"]
    assert desk.follow() == ()
    desk.text = TEXT
    assert desk.follow() == ("US-003 is in .agents/tasks/prd.md again",)
    assert desk.task("US-003").id == before.id
    assert desk.statuses()["US-003"] is Status.DONE


def test_reordered_stories_are_built_in_the_new_order(desk: Desk) -> None:
    desk.text = (
        "### [ ] US-003: Three\n- [x] d\n\n### [ ] US-001: One\n- [ ] a\n- [ ] b\n\n"
        "### [ ] US-002: Two\nDepends on: US-001\n- [ ] c\n"
    )
    desk.follow()
    assert list(desk.tasks()) == ["US-003", "US-001", "US-002"]
    assert desk.claim().task.alias == "US-003"


def test_a_ticked_story_is_done(desk: Desk) -> None:
    desk.edit(("[ ] US-001", "[x] US-001"))
    (said,) = desk.follow()
    assert said.startswith("US-001 is ticked")
    assert desk.statuses()["US-001"] is Status.DONE
    assert desk.text == TEXT.replace("[ ] US-001", "[x] US-001")
    assert desk.follow() == ()


def test_criteria_that_a_person_ticks_one_by_one_come_to_done(desk: Desk) -> None:
    desk.edit(("[ ] a", "[x] a"))
    assert desk.follow() == ()
    assert desk.statuses()["US-001"] is Status.PENDING
    desk.edit(("[ ] b", "[x] b"))
    assert len(desk.follow()) == 1
    assert desk.statuses()["US-001"] is Status.DONE
    assert "### [x] US-001" in desk.text


def test_a_cleared_story_is_open_again_and_its_session_hears_why(desk: Desk) -> None:
    desk.edit(("[x] US-003", "[ ] US-003"))
    desk.follow()
    assert desk.statuses()["US-003"] is Status.PENDING
    assert "- [ ] d" in desk.text
    (heard,) = desk.store.guidance_for(desk.task("US-003").id)
    assert "not done" in heard
    assert desk.follow() == ()


def test_a_cleared_criterion_opens_its_story_and_is_named(desk: Desk) -> None:
    desk.edit(("[x] d", "[ ] d"))
    desk.follow()
    assert desk.statuses()["US-003"] is Status.PENDING
    assert "### [ ] US-003" in desk.text
    (heard,) = desk.store.guidance_for(desk.task("US-003").id)
    assert heard.endswith("it does not meet: d")


def test_edited_words_reach_the_task(desk: Desk) -> None:
    desk.edit(
        ("One", "First"), ("[ ] a", "[ ] another"), ("Depends on: US-001", "Depends on: none")
    )
    desk.follow()
    assert desk.task("US-001").title == "First"
    assert "another" in desk.task("US-001").description
    assert desk.store.blockers(desk.task("US-002").id) == []


def test_dependencies_may_be_turned_round(desk: Desk) -> None:
    desk.edit(("Depends on: US-001\n", ""), ("- [ ] a", "Depends on: US-002\n- [ ] a"))
    desk.follow()
    assert [task.alias for task in desk.store.blockers(desk.task("US-001").id)] == ["US-002"]


def test_what_commands_did_to_the_store_is_written_into_the_document(desk: Desk) -> None:
    desk.store.force_done(desk.task("US-001").id)
    desk.store.reset(desk.task("US-003").id)
    assert desk.follow() == ()
    assert "### [x] US-001" in desk.text
    assert "### [ ] US-003: Three\n- [ ] d" in desk.text


def test_a_persons_broken_edit_in_mid_run_stops_nothing_and_stays(desk: Desk) -> None:
    broken = TEXT + "### [ ] US-001: again\n"
    desk.text = broken
    (said,) = desk.follow()
    assert said.endswith("going on with the stories as they were")
    assert (desk.text, len(desk.tasks())) == (broken, 3)
    claim = desk.claim()
    desk.stories.begin(claim.task)
    assert desk.stories.look(claim.task) == Left()
    desk.settle(claim, done=True)
    assert desk.text == broken
    desk.text = TEXT
    assert desk.follow() == ()
    assert "### [x] US-001" in desk.text


def test_doubtful_lines_are_said(store: Store) -> None:
    desk = Desk(store, TEXT + "### US-004: Four\n")
    (said,) = desk.follow()
    assert said.startswith(".agents/tasks/prd.md, line 13: ")


def test_edits_while_ralph_writes_are_not_lost(desk: Desk) -> None:
    desk.store.force_done(desk.task("US-001").id)
    read = desk.library.content
    looks = 0

    def meanwhile(path: str) -> bytes | None:
        nonlocal looks
        looks += 1
        if looks == 2:
            desk.edit(("[ ] US-002", "[x] US-002"))
        return read(path)

    desk.library.content = meanwhile  # type: ignore[method-assign]
    desk.follow()
    assert "### [x] US-002" in desk.text
    desk.follow()
    assert desk.statuses()["US-002"] is Status.DONE
    assert "### [x] US-001" in desk.text


# A session


def test_a_ticked_heading_or_all_criteria_are_a_claim(desk: Desk) -> None:
    claim = at_work(desk)
    assert not desk.stories.look(claim.task).claims
    desk.edit(("[ ] a", "[x] a"))
    assert not desk.stories.look(claim.task).claims
    desk.edit(("[ ] b", "[x] b"))
    assert desk.stories.look(claim.task).claims
    desk.text = TEXT.replace("[ ] US-001", "[x] US-001")
    assert desk.stories.look(claim.task).claims


def test_an_accepted_story_is_ticked_whole(desk: Desk) -> None:
    claim = at_work(desk)
    desk.settle(claim, done=True)
    assert desk.text == TEXT.replace(
        "[ ] US-001: One\n- [ ] a\n- [ ] b", "[x] US-001: One\n- [x] a\n- [x] b"
    )
    assert desk.follow() == ()
    assert desk.statuses()["US-001"] is Status.DONE


def test_a_rejected_claim_is_cleared_and_is_no_persons_tick(desk: Desk) -> None:
    claim = at_work(desk)
    desk.edit(("[ ] US-001", "[x] US-001"), ("[ ] a", "[x] a"))
    desk.settle(claim, done=False)
    assert desk.text == TEXT
    assert desk.follow() == ()
    assert desk.statuses()["US-001"] is Status.PENDING


def test_partial_ticks_stay_and_the_story_stays_open(desk: Desk) -> None:
    claim = at_work(desk)
    desk.edit(("[ ] a", "[x] a"))
    desk.settle(claim, done=False)
    assert desk.text == TEXT.replace("[ ] a", "[x] a")
    assert desk.follow() == ()
    assert desk.statuses()["US-001"] is Status.PENDING


def test_a_session_cannot_tick_a_story_that_it_did_not_build(desk: Desk) -> None:
    claim = at_work(desk)
    desk.edit(("[ ] US-002", "[x] US-002"), ("[ ] US-001", "[x] US-001"))
    left = desk.stories.look(claim.task)
    assert left.claims
    assert "US-002" in left.warnings[0]
    desk.settle(claim, done=True)
    assert "### [ ] US-002" in desk.text
    assert desk.follow() == ()
    assert desk.statuses()["US-002"] is Status.PENDING


def test_a_story_that_a_session_adds_is_open_whatever_it_ticks(desk: Desk) -> None:
    claim = at_work(desk)
    desk.text += "\n### [x] US-004: Four\n"
    desk.settle(claim, done=True)
    desk.follow()
    assert desk.statuses()["US-004"] is Status.PENDING


def test_a_persons_edits_during_a_session_count_at_the_next_iteration(desk: Desk) -> None:
    claim = at_work(desk)
    desk.edit(
        ("### [x] US-003", "### [ ] US-004: Four\n\n### [x] US-003"),
        ("- [ ] c", "- [ ] c\n- [ ] e"),
    )
    assert desk.stories.look(claim.task) == Left()
    desk.settle(claim, done=True)
    assert desk.follow() == ()
    assert desk.claim().task.alias == "US-002"
    assert desk.task("US-004").priority == 3
    assert "- [ ] e" in desk.task("US-002").description


def test_words_that_a_person_edits_during_a_session_reach_the_task(desk: Desk) -> None:
    claim = at_work(desk)
    desk.edit(("Two", "Second"), ("Depends on: US-001", "Depends on: US-003"))
    desk.settle(claim, done=False)
    assert desk.follow() == ()
    assert desk.task("US-002").title == "Second"
    assert [task.alias for task in desk.store.blockers(desk.task("US-002").id)] == ["US-003"]


@pytest.mark.parametrize(
    "wreck", [None, "", "sorry", "### [x] US-001: Done\n", "```\n" + TEXT, TEXT + TEXT]
)
def test_a_prd_that_a_session_broke_is_put_back(desk: Desk, wreck: str | None) -> None:
    claim = at_work(desk)
    if wreck is None:
        del desk.library.pages[PATH]
    else:
        desk.text = wreck
    left = desk.stories.look(claim.task)
    assert "it is as it was before the session" in left.broken
    assert not left.claims
    assert desk.text == TEXT
    desk.settle(claim, done=False)
    assert desk.text == TEXT
    assert desk.follow() == ()


# Crashes


@pytest.mark.parametrize("does", ["removes", "empties"])
def test_a_plan_that_a_session_takes_away_is_brought_back(desk: Desk, does: str) -> None:
    desk.stories.paths += (PLAN, PROGRESS)
    desk.library.pages |= {PLAN: "the plan", PROGRESS: "begun"}
    claim = at_work(desk)
    desk.library.pages |= {PLAN: "", PROGRESS: "begun, and gone on"}
    if does == "removes":
        del desk.library.pages[PLAN]
    assert desk.stories.look(claim.task).warnings == (
        f"{PLAN} was removed or emptied by the session; it is back",
    )
    assert desk.library.pages[PLAN] == "the plan"
    assert desk.library.pages[PROGRESS] == "begun, and gone on"


def test_ticks_of_a_session_that_a_crash_cut_off_are_nobodys(desk: Desk) -> None:
    claim = at_work(desk)
    desk.edit(("[ ] US-001", "[x] US-001"), ("[ ] US-002", "[x] US-002"))
    assert desk.again().follow() == ()
    assert desk.text == TEXT
    assert desk.statuses()["US-001"] is not Status.DONE
    assert claim.task.id == desk.task("US-001").id


def test_ticks_of_a_session_that_is_still_to_be_judged_are_kept(desk: Desk) -> None:
    claim = at_work(desk)
    session = start(desk.store, claim)
    desk.edit(("[ ] US-001", "[x] US-001"))
    ended = SessionEnded(session_id=session.id, task_id=session.task_id, ended="finished")
    desk.store.end_session(replace(session, mark=Mark.ENDED), ended)
    assert desk.again().follow() == ()
    assert desk.stories.look(claim.task).claims
    desk.settle(claim, done=True)
    assert desk.follow() == ()
    assert desk.statuses()["US-001"] is Status.DONE


def test_a_prd_that_was_broken_before_a_crash_is_put_back(desk: Desk) -> None:
    at_work(desk)
    desk.text = "sorry"
    (said,) = desk.again().follow()
    assert "it is as it was before the session" in said
    assert desk.text == TEXT


def test_a_story_that_was_done_elsewhere_is_ticked_whole(desk: Desk) -> None:
    desk.store.force_done(desk.task("US-001").id)
    assert desk.follow() == ()
    done = TEXT.replace("[ ] US-001", "[x] US-001").replace("[ ] a", "[x] a")
    assert desk.text == done.replace("[ ] b", "[x] b")
    assert desk.follow() == ()
    assert desk.statuses()["US-001"] is Status.DONE


def test_the_session_of_another_task_has_nothing_to_say_there(desk: Desk) -> None:
    same_name = Task(id=TaskId("t-other"), title="else", alias="US-001")
    for other in (Task(id=TaskId("t-other"), title="else"), same_name):
        desk.stories.begin(other)
        desk.edit(("[ ] US-001", "[x] US-001"))
        left = desk.stories.look(other)
        assert not left.claims
        assert not left.broken
        assert "the boxes of US-001" in left.warnings[0]
        desk.stories.conclude(other, done=True)
        desk.stories.release(other)
        assert desk.text == TEXT
        assert desk.follow() == ()
        assert desk.statuses()["US-001"] is Status.PENDING


def test_what_the_session_of_another_task_breaks_is_put_back_and_costs_it_nothing(
    desk: Desk,
) -> None:
    other = Task(id=TaskId("t-other"), title="else")
    desk.stories.begin(other)
    desk.text = "sorry"
    left = desk.stories.look(other)
    assert not left.broken
    assert "it is as it was before the session" in left.warnings[0]
    assert desk.text == TEXT


def test_a_session_of_another_task_that_was_killed_has_said_nothing(desk: Desk) -> None:
    desk.stories.begin(Task(id=TaskId("t-other"), title="else"))
    desk.edit(("[ ] US-001", "[x] US-001"), ("[ ] a", "[x] a"), ("[ ] b", "[x] b"))
    desk.again().follow()
    assert desk.text == TEXT
    assert desk.statuses()["US-001"] is Status.PENDING


def test_bytes_stay_as_they_are(store: Store) -> None:
    begin(store)
    text = "\ufeff" + TEXT.replace("\n", "\r\n").replace("One", "Öne\t ").rstrip() + " \udcff"
    desk = Desk(store, text)
    desk.follow()
    assert desk.text == text
    claim = desk.claim()
    desk.stories.begin(claim.task)
    desk.settle(claim, done=True)
    boxes = (("[ ] US-001", "[x] US-001"), ("[ ] a", "[x] a"), ("[ ] b", "[x] b"))
    for old, new in boxes:
        text = text.replace(old, new)
    assert desk.text == text
