"""Where `ralph go --plan stories` begins, and where it goes on."""

import pytest

from ralph.core.policy.decision import Phase
from ralph.workflows.story_pipeline import (
    AutoProgress,
    StoryPipeline,
    auto_progress_of,
    save_auto_progress,
    start_auto,
)
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store


def test_a_journey_is_remembered_with_its_document() -> None:
    store = memory_store(FrozenClock())
    one, other = StoryPipeline(root="/p"), StoryPipeline(root="/p", feature="other")
    assert auto_progress_of(store, one) is None
    journey = AutoProgress(idea="tea", phase=Phase.BUILDING)
    save_auto_progress(store, one, journey)
    assert auto_progress_of(store, one) == journey
    assert auto_progress_of(store, other) is None


@pytest.mark.parametrize("idea", ["", "tea"])
def test_the_same_idea_goes_on_where_it_stopped(idea: str) -> None:
    before = AutoProgress(idea="tea", phase=Phase.BUILDING, approved=True)
    assert start_auto(before, idea, None) == before


def test_what_a_person_adds_at_the_end_is_planned_and_built() -> None:
    end = AutoProgress(idea="tea", phase=None, approved=True)
    assert start_auto(end, "", None) == end
    assert start_auto(end, "tea", None, has_open=True) == AutoProgress(
        idea="tea", phase=Phase.PLANNING
    )
    on_its_way = AutoProgress(idea="tea", phase=Phase.BUILDING, approved=True)
    assert start_auto(on_its_way, "", None, has_open=True) == on_its_way


def test_another_idea_begins_at_the_beginning() -> None:
    before = AutoProgress(idea="tea", phase=None, approved=True)
    assert start_auto(before, "coffee", None) == AutoProgress(idea="coffee")


SEEN = (Phase.BUILDING, Phase.VALIDATION)


@pytest.mark.parametrize("start", list(Phase))
def test_whoever_says_where_to_go_on_has_seen_what_is_before_it(start: Phase) -> None:
    journey = start_auto(AutoProgress(idea="tea"), "", start)
    assert journey == AutoProgress(idea="tea", phase=start, approved=start in SEEN)
