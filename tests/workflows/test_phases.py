"""Where `ralph auto` begins, and where it goes on."""

import pytest

from ralph.core.policy.decision import Phase
from ralph.testing.clock import FrozenClock
from ralph.testing.memory_store import MemoryStore
from ralph.workflows.phases import Journey, give_way, journey_of, remember, set_out
from ralph.workflows.pipeline import Pipeline


def test_a_journey_is_remembered_with_its_document() -> None:
    store = MemoryStore(FrozenClock())
    one, other = Pipeline(root="/p"), Pipeline(root="/p", feature="other")
    assert journey_of(store, one) is None
    journey = remember(store, one, Journey(idea="tea", phase=Phase.BUILDING))
    assert journey_of(store, one) == journey
    assert journey_of(store, other) is None


@pytest.mark.parametrize("idea", ["", "tea"])
def test_the_same_idea_goes_on_where_it_stopped(idea: str) -> None:
    before = Journey(idea="tea", phase=Phase.BUILDING, approved=True)
    assert set_out(before, idea, None) == before


def test_what_a_person_adds_at_the_end_is_planned_and_built() -> None:
    end = Journey(idea="tea", phase=None, approved=True)
    assert set_out(end, "", None) == end
    assert set_out(end, "tea", None, has_open=True) == Journey(idea="tea", phase=Phase.PLANNING)
    on_its_way = Journey(idea="tea", phase=Phase.BUILDING, approved=True)
    assert set_out(on_its_way, "", None, has_open=True) == on_its_way


def test_another_idea_begins_at_the_beginning() -> None:
    before = Journey(idea="tea", phase=None, approved=True)
    assert set_out(before, "coffee", None) == Journey(idea="coffee")


SEEN = (Phase.BUILDING, Phase.VALIDATION)


@pytest.mark.parametrize("start", list(Phase))
def test_whoever_says_where_to_go_on_has_seen_what_is_before_it(start: Phase) -> None:
    journey = set_out(Journey(idea="tea"), "", start)
    assert journey == Journey(idea="tea", phase=start, approved=start in SEEN)


def test_where_another_run_is_at_work_its_journey_goes_on() -> None:
    store, pipeline = MemoryStore(FrozenClock()), Pipeline(root="/p")
    theirs, mine = Journey(idea="tea", phase=Phase.BUILDING), Journey(idea="coffee")
    remember(store, pipeline, mine)
    give_way(store, pipeline, mine, theirs)
    assert journey_of(store, pipeline) == theirs
    further = remember(store, pipeline, Journey(idea="coffee", phase=Phase.PLANNING))
    give_way(store, pipeline, mine, theirs)
    assert journey_of(store, pipeline) == further, "something has come of it"
