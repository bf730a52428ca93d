"""The states of the story pipeline, by the diagrams that it was drawn in: each arrow between them
is taken by the installed command."""

from pathlib import Path

import pytest

from tests.e2e.arrows.agents import AGENTS
from tests.e2e.arrows.building import BUILDING
from tests.e2e.arrows.planning import PLANNING
from tests.e2e.arrows.row import END, START, Arrow
from tests.e2e.arrows.state_files import STATE_FILES
from tests.e2e.arrows.story import STORY
from tests.e2e.arrows.system import PRD_GENERATION, SYSTEM
from tests.e2e.scenes import SCENES, Theatre

DIAGRAMS = {
    "system": SYSTEM,
    "prd": PRD_GENERATION,
    "plan": PLANNING,
    "build": BUILDING,
    "story": STORY,
    "files": STATE_FILES,
    "agents": AGENTS,
}
ARROWS = sorted(
    ((name, arrow) for name, arrows in DIAGRAMS.items() for arrow in arrows),
    # Neighbours run in one process, where a scene is played once.
    key=lambda row: row[1].scene,
)


@pytest.fixture(scope="session")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Theatre:
    def folder() -> Path:
        return tmp_path_factory.mktemp("scene")

    return Theatre(folder)


@pytest.mark.parametrize(
    ("diagram", "arrow"),
    [
        pytest.param(
            name,
            arrow,
            id=f"{name}: {arrow.state} -{arrow.by}-> {arrow.next}",
        )
        for name, arrow in ARROWS
    ],
)
def test_every_arrow_is_taken(diagram: str, arrow: Arrow, theatre: Theatre) -> None:
    ran = theatre.see(arrow.scene)
    assert arrow.seen(ran), f"{diagram}: {ran.code}\n{ran.out}\n{ran.ralph('activity.log')}"


def test_every_scene_is_in_a_table() -> None:
    assert {arrow.scene for _, arrow in ARROWS} == set(SCENES)


@pytest.mark.parametrize("diagram", DIAGRAMS)
def test_every_state_is_reached_and_left(diagram: str) -> None:
    arrows = DIAGRAMS[diagram]
    reached, left = {one.next for one in arrows}, {one.state for one in arrows}
    assert left - reached == {START}
    assert reached - left == {END}
