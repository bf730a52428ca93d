"""Stories on the loop: killed at any moment, no tick is lost and none is invented."""

from pathlib import Path

import pytest

from ralph.core.events import RunEnded
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunOutcome
from ralph.core.task import TaskStatus
from ralph.ports.executor import Command, OutputListener
from ralph.workflows.story_phases import build_stories
from ralph.workflows.story_pipeline import PLAN, PRD, StoryPipeline
from tests.doubles import says
from tests.engine.document_world import DocumentWorld
from tests.engine.world import CrashPoint, Died

TEXT = "# P\n\n### [ ] US-001: One\n- [ ] a\n\n### [ ] US-002: Two\n- [ ] b\n"
DONE = TEXT.replace("[ ]", "[x]")


class Told(DocumentWorld):
    """A world with a PRD in it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {PRD: TEXT, PLAN: "plan\n"})
        self.executor.otherwise = self.session
        self.sessions = 0

    def session(self, command: Command, listener: OutputListener) -> ProcessExit:
        """Builds its story and ticks the heading, and another one's, too."""
        name = command.env["RALPH_STORY_ID"]
        self.sessions += 1

        def work() -> None:
            self.workspace.edit(f"{name}.txt", name)
            self.workspace.edit(PRD, self.workspace.files[PRD].replace("### [ ]", "### [x]"))

        return says("done", does=work)(command, listener)

    def build(self, crash_point: CrashPoint | None = None) -> RunEnded:
        return build_stories(self.ctx(crash_point), StoryPipeline(root="/project"), 1)


def test_stories_are_built_and_ticked(tmp_path: Path) -> None:
    world = Told(tmp_path)
    assert world.build().outcome is RunOutcome.COMPLETE
    assert (world.workspace.files[PRD], world.sessions) == (DONE, 2)


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_killed_anywhere_the_next_build_finishes_it(tmp_path: Path, late: bool) -> None:  # noqa: FBT001
    for calls in range(2000):
        folder = tmp_path / str(calls)
        folder.mkdir()
        world = Told(folder)
        try:
            world.build(CrashPoint(calls, late=late))
        except Died:
            pass
        else:
            break
        text = world.workspace.files[PRD]
        assert world.build().outcome is RunOutcome.COMPLETE, calls
        assert world.workspace.files[PRD] == DONE, (calls, text)
        assert world.workspace.head[PRD] == DONE, calls
        built = {name for name in world.workspace.head if name.endswith(".txt")}
        assert built == {"US-001.txt", "US-002.txt"}, calls
        assert {task.status for task in world.store.tasks.subtree(None)} == {TaskStatus.DONE}
        # A session that had ended is judged, and not repeated; one that was cut off is.
        assert world.sessions <= 3, calls
    else:
        raise AssertionError("it never came to its end")
    assert calls > 50
