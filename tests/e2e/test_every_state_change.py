"""The states of the story pipeline, by the diagrams that it was drawn in: each arrow between them
is taken by the installed command."""

from pathlib import Path

import pytest

from tests.e2e.pipeline_runs import SCENES, Scene
from tests.e2e.state_changes.agents import AGENTS
from tests.e2e.state_changes.building import BUILDING
from tests.e2e.state_changes.planning import PLANNING
from tests.e2e.state_changes.row import END, START
from tests.e2e.state_changes.state_files import STATE_FILES
from tests.e2e.state_changes.story import STORY
from tests.e2e.state_changes.system import PRD_GENERATION, SYSTEM

DIAGRAMS = {
    "system": SYSTEM,
    "prd": PRD_GENERATION,
    "plan": PLANNING,
    "build": BUILDING,
    "story": STORY,
    "files": STATE_FILES,
    "agents": AGENTS,
}
ARROWS = [(name, arrow) for name, arrows in DIAGRAMS.items() for arrow in arrows]


@pytest.mark.parametrize("scene", SCENES)
def test_every_arrow_of_a_scene_is_taken(scene: str, tmp_path: Path) -> None:
    """A scene is played once, and each arrow that it takes leaves its trace."""
    ran = SCENES[scene](Scene(tmp_path))
    missing = [
        f"{diagram}: {arrow.state} -{arrow.by}-> {arrow.next}"
        for diagram, arrow in ARROWS
        if arrow.scene == scene and not arrow.seen(ran)
    ]
    assert missing == [], f"{ran.code}\n{ran.out}\n{ran.ralph('activity.log')}"


def test_every_scene_is_in_a_table() -> None:
    assert {arrow.scene for _, arrow in ARROWS} == set(SCENES)


@pytest.mark.parametrize("diagram", DIAGRAMS)
def test_every_state_is_reached_and_left(diagram: str) -> None:
    arrows = DIAGRAMS[diagram]
    reached, left = {one.next for one in arrows}, {one.state for one in arrows}
    assert left - reached == {START}
    assert reached - left == {END}
