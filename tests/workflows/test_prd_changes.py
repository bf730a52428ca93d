"""What a person changed in a PRD, told from what Ralph wrote and what the store knows."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph.core.task import TaskEdit, TaskStatus
from ralph.documents.prd import all_boxes, read_prd, with_boxes
from ralph.documents.prd_changes import boxes_between, wanted_state
from ralph.store.store import Store
from ralph.workflows.document_tasks import DocumentTasks
from tests.documents.stories.writing import documents
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store

ONE = "### [ ] US-001: One\n- [ ] a\n- [ ] b\n\n"
TWO = "### [ ] US-002: Two\nDepends on: US-001\n- [ ] c\n\n"
THREE = "### [x] US-003: Three\n- [x] d\n- [x] e\n"
TEXT = ONE + TWO + THREE


class Followed:
    """A store that has followed a document."""

    def __init__(self, text: str = TEXT) -> None:
        self.store: Store = memory_store(FrozenClock())
        self.tasks = DocumentTasks(self.store, self.store.features.add("prd"), "prd.md", 2)
        self.last = read_prd(text)
        self.tasks.update(self.last, None)

    def changed(self, text: str) -> list[str]:
        return self.tasks.update(read_prd(text), self.last)

    def is_unchanged_by(self, text: str) -> bool:
        seen = self.store.events.last_seq()
        return self.changed(text) == [] and self.store.events.last_seq() == seen

    def places(self) -> dict[str, int]:
        return {name: task.priority for name, task in self.tasks.by_name().items()}

    def needs(self, name: str) -> list[str | None]:
        task = self.tasks.by_name()[name]
        return [one.alias for one in self.store.tasks.blockers(task.id)]

    def edit(self, name: str, change: TaskEdit) -> None:
        self.store.tasks.edit(self.tasks.by_name()[name].id, change)


@pytest.fixture
def followed() -> Followed:
    return Followed()


def test_nothing_changed(followed: Followed) -> None:
    assert followed.is_unchanged_by(TEXT)


def test_stories_come_go_and_change_places(followed: Followed) -> None:
    nine = "### [ ] US-009: Nine\n\n"
    assert followed.changed(TWO + nine + ONE) == [
        "US-003 is no longer in prd.md, so it is archived"
    ]
    assert followed.places() == {"US-002": 1, "US-009": 2, "US-001": 3}


def test_a_story_goes_with_what_depends_on_it(followed: Followed) -> None:
    followed.changed(TWO.replace("Depends on: US-001\n", ""))
    assert followed.needs("US-002") == []


def test_a_ticked_heading_or_all_criteria_say_done(followed: Followed) -> None:
    text = TEXT.replace("[ ] US-001", "[x] US-001")
    assert followed.changed(text) == ["US-001 is ticked in prd.md, so it is done"]
    again = Followed()
    assert again.changed(TEXT.replace("[ ] a", "[x] a").replace("[ ] b", "[X] b"))
    assert again.tasks.done() == {"US-001", "US-003"}


def test_some_criteria_ticked_say_nothing(followed: Followed) -> None:
    assert followed.is_unchanged_by(TEXT.replace("[ ] a", "[x] a"))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("[x] US-003", "[ ] US-003", "finds: it is not done"),
        ("[x] e", "[ ] e", "finds: it does not meet: e"),
    ],
)
def test_a_cleared_box_opens_its_story(followed: Followed, old: str, new: str, why: str) -> None:
    assert followed.changed(TEXT.replace(old, new)) == [
        "US-003 is cleared in prd.md, so it is open again"
    ]
    assert (followed.tasks.by_name()["US-003"].reason or "").endswith(why)


def test_another_dependency_is_seen(followed: Followed) -> None:
    followed.changed(TEXT.replace("Depends on: US-001", "Depends on: US-003"))
    assert followed.needs("US-002") == ["US-003"]


def test_what_was_changed_in_the_store_alone_stays(followed: Followed) -> None:
    followed.edit("US-002", TaskEdit(title="Another", description="words", priority=9))
    ids = {name: task.id for name, task in followed.tasks.by_name().items()}
    followed.store.tasks.link(ids["US-003"], ids["US-002"])
    assert followed.is_unchanged_by(TEXT)
    followed.changed(TEXT.replace("Two", "Second"))
    assert followed.tasks.by_name()["US-002"].title == "Second"
    assert followed.places()["US-002"] == 9
    assert {*followed.needs("US-002")} == {"US-001", "US-003"}


def test_without_a_last_version_the_document_says_what_the_stories_are(
    followed: Followed,
) -> None:
    followed.edit("US-002", TaskEdit(title="Another", priority=9))
    now = TEXT.replace("[ ] US-001", "[x] US-001").replace("[x] US-003", "[ ] US-003")
    assert followed.tasks.update(read_prd(now), None) == []
    assert followed.tasks.by_name()["US-002"].title == "Two"
    assert followed.places()["US-002"] == 2
    assert followed.tasks.done() == {"US-003"}


def test_the_status_in_the_store_stays_where_nobody_moved_the_box(followed: Followed) -> None:
    one, three = (followed.tasks.by_name()[name].id for name in ("US-001", "US-003"))
    followed.store.tasks.force_done(one)
    followed.store.tasks.reset(three)
    assert followed.is_unchanged_by(TEXT)


def test_a_story_that_comes_back_says_itself_whether_it_is_done(followed: Followed) -> None:
    followed.changed(ONE + TWO + THREE.replace("[x]", "[ ]"))
    followed.last = read_prd(TEXT)
    followed.changed(ONE + TWO)
    followed.last = read_prd(ONE + TWO)
    assert followed.is_unchanged_by(ONE + TWO)
    assert followed.changed(TEXT) == [
        "US-003 is in prd.md again",
        "US-003 is ticked in prd.md, so it is done",
    ]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents(), st.data())
def test_what_ralph_wrote_itself_is_no_change_of_a_persons(
    document: tuple[str, object], data: st.DataObject
) -> None:
    prd = read_prd(document[0])
    done = frozenset(story.id for story in prd.stories if data.draw(st.booleans()))
    written = read_prd(with_boxes(prd.text, boxes_between(prd, prd, done)))
    for story in written.stories:
        assert wanted_state(story, story, is_archived=False) is None


@given(documents(), st.data())
def test_a_person_is_followed_whatever_they_tick(
    document: tuple[str, object], data: st.DataObject
) -> None:
    last = read_prd(document[0])
    boxes = [box for story in last.stories for box in all_boxes(story)]
    now = read_prd(with_boxes(last.text, {box.at: data.draw(st.booleans()) for box in boxes}))
    for story, before in zip(now.stories, last.stories, strict=True):
        wanted = wanted_state(story, before, is_archived=False)
        is_done = before.is_ticked if wanted is None else wanted
        if story.is_ticked != before.is_ticked:
            assert is_done is story.is_ticked
        assert not (is_done and not story.is_ticked and not story.has_all_criteria)


def test_only_statuses_that_differ_are_moved(followed: Followed) -> None:
    followed.store.tasks.force_done(followed.tasks.by_name()["US-001"].id)
    assert followed.is_unchanged_by(TEXT.replace("[ ] US-001", "[x] US-001"))
    assert followed.tasks.by_name()["US-001"].status is TaskStatus.DONE
