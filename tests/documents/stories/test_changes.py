"""What a person changed in a PRD, told from what Ralph wrote and what the store knows."""

from hypothesis import given
from hypothesis import strategies as st

from ralph.documents.stories.boxes import with_boxes
from ralph.documents.stories.changes import Changes, Cleared, Known, Rewired, compare
from ralph.documents.stories.claims import boxes_between
from ralph.documents.stories.marks import all_boxes
from ralph.documents.stories.prd import Prd
from ralph.documents.stories.reading import read_prd
from tests.documents.stories.writing import documents

ONE = "### [ ] US-001: One\n- [ ] a\n- [ ] b\n\n"
TWO = "### [ ] US-002: Two\nDepends on: US-001\n- [ ] c\n\n"
THREE = "### [x] US-003: Three\n- [x] d\n- [x] e\n"
TEXT = ONE + TWO + THREE


def known(prd: Prd) -> dict[str, Known]:
    """A store that has followed the document."""
    return {
        story.id: Known(
            title=story.title,
            body=story.body,
            place=place,
            needs=frozenset(story.needs),
            is_done=story.is_ticked,
        )
        for place, story in enumerate(prd.stories, 1)
    }


def changed(text: str) -> Changes:
    last = read_prd(TEXT)
    return compare(read_prd(text), last, known(last))


def ids(stories: tuple) -> list[str]:
    return [story.id for story in stories]


def test_nothing_changed() -> None:
    assert changed(TEXT).is_empty


def test_a_new_story_is_added_in_its_place() -> None:
    found = changed(ONE + "### [ ] US-009: Nine\n\n" + TWO + THREE)
    assert ids(found.added) == ["US-009"]
    assert found.places["US-009"] == 2
    assert found.moved == ("US-002", "US-003")


def test_a_story_that_is_taken_out_is_removed() -> None:
    found = changed(ONE + THREE)
    assert found.removed == ("US-002",)
    assert found.moved == ("US-003",)


def test_stories_change_places() -> None:
    found = changed(TWO + ONE + THREE)
    assert found.moved == ("US-002", "US-001")
    assert (found.added, found.removed, found.edited) == ((), (), ())


def test_a_ticked_heading_says_done() -> None:
    assert changed(TEXT.replace("[ ] US-001", "[x] US-001")).ticked == ("US-001",)


def test_all_criteria_ticked_say_done() -> None:
    text = TEXT.replace("[ ] a", "[x] a").replace("[ ] b", "[X] b")
    assert changed(text).ticked == ("US-001",)


def test_some_criteria_ticked_say_nothing() -> None:
    assert changed(TEXT.replace("[ ] a", "[x] a")).is_empty


def test_a_cleared_heading_opens_a_story() -> None:
    assert changed(TEXT.replace("[x] US-003", "[ ] US-003")).cleared == (Cleared(id="US-003"),)


def test_a_cleared_criterion_opens_its_story_and_is_named() -> None:
    assert changed(TEXT.replace("[x] e", "[ ] e")).cleared == (
        Cleared(id="US-003", criteria=("e",)),
    )


def test_other_words_are_an_edit() -> None:
    found = changed(TEXT.replace("One", "First").replace("] c", "] see"))
    assert ids(found.edited) == ["US-001", "US-002"]


def test_another_dependency_is_seen() -> None:
    found = changed(TEXT.replace("Depends on: US-001", "Depends on: US-003"))
    assert found.rewired == (Rewired(id="US-002", more=("US-003",), fewer=("US-001",)),)


def test_what_was_changed_in_the_store_alone_stays() -> None:
    last = read_prd(TEXT)
    store = known(last)
    store["US-002"] = Known(
        title="Another", body="words", place=9, needs=frozenset({"US-001", "US-003"})
    )
    assert compare(last, last, store).is_empty
    found = compare(read_prd(TEXT.replace("Two", "Second")), last, store)
    assert (ids(found.edited), found.rewired, found.moved) == (["US-002"], (), ())


def test_without_a_last_version_the_document_says_what_the_stories_are() -> None:
    now = read_prd(TEXT)
    store = known(now)
    store["US-002"] = Known(title="Another", body="words", place=9, needs=frozenset({"US-003"}))
    found = compare(now, None, store)
    assert (ids(found.edited), found.moved) == (["US-002"], ("US-002",))
    assert found.rewired == (Rewired(id="US-002", more=("US-001",)),)


def test_what_the_store_says_stays_where_nobody_moved_the_box() -> None:
    last = read_prd(TEXT)
    store = known(last)
    done, reopened = store["US-001"], store["US-003"]
    store["US-001"] = Known(title=done.title, body=done.body, place=1, is_done=True)
    store["US-003"] = Known(title=reopened.title, body=reopened.body, place=3)
    found = compare(last, last, store)
    assert (found.ticked, found.cleared) == ((), ())


def test_without_a_last_version_the_store_says_what_is_done() -> None:
    now = read_prd(TEXT.replace("[ ] US-001", "[x] US-001").replace("[x] US-003", "[ ] US-003"))
    assert compare(now, None, known(read_prd(TEXT))).is_empty


def test_a_story_that_comes_back_says_itself_whether_it_is_done() -> None:
    now = read_prd(TEXT)
    last = read_prd(ONE + TWO)
    store = known(now)
    gone = store["US-003"]
    store["US-003"] = Known(
        title=gone.title, body=gone.body, place=3, is_done=False, is_archived=True
    )
    found = compare(now, last, store)
    assert (found.back, found.ticked, found.added) == (("US-003",), ("US-003",), ())


def test_a_story_that_stays_away_is_not_removed_twice() -> None:
    last = read_prd(ONE + TWO)
    store = known(read_prd(TEXT))
    gone = store["US-003"]
    store["US-003"] = Known(title=gone.title, body=gone.body, place=3, is_archived=True)
    assert compare(last, last, store).is_empty


@given(documents(), st.data())
def test_what_ralph_wrote_itself_is_no_change_of_a_persons(
    document: tuple[str, object], data: st.DataObject
) -> None:
    prd = read_prd(document[0])
    done = frozenset(story.id for story in prd.stories if data.draw(st.booleans()))
    written = read_prd(with_boxes(prd.text, boxes_between(prd, prd, done)))
    assert compare(written, written, known(written)).is_empty


@given(documents(), st.data())
def test_a_person_is_followed_whatever_they_tick(
    document: tuple[str, object], data: st.DataObject
) -> None:
    last = read_prd(document[0])
    wanted = {
        box.at: data.draw(st.booleans()) for story in last.stories for box in all_boxes(story)
    }
    now = read_prd(with_boxes(last.text, wanted))
    found = compare(now, last, known(last))
    done = {story.id for story in last.stories if story.is_ticked}
    after = (done | {*found.ticked}) - {one.id for one in found.cleared}
    for story, before in zip(now.stories, last.stories, strict=True):
        if story.is_ticked != before.is_ticked:
            assert (story.id in after) is story.is_ticked
        assert not (story.id in after and not story.is_ticked and not story.has_all_criteria)
    assert (found.added, found.removed, found.edited, found.moved) == ((), (), (), ())
