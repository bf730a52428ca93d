"""PRDs while something else is at work: whatever a session ticks is no person's word."""

from pathlib import Path

import pytest

from ralph.core.errors import UsageError
from ralph.core.events import RunEnded, Warned
from ralph.core.ids import TaskId
from ralph.core.policy.decision import Phase
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunOutcome, Subtree
from ralph.core.task import TaskStatus
from ralph.engine.loop import run
from ralph.ports.executor import Command, OutputListener
from ralph.workflows.planning_task import PlanningTask, task_of
from ralph.workflows.story_phases import build_stories
from ralph.workflows.story_pipeline import PLAN, PRD, StoryPipeline
from ralph.workflows.synced_documents import sync_documents
from tests.doubles import says
from tests.engine.document_world import DocumentWorld
from tests.engine.world import CrashPoint, Died

TEXT = "# P\n\n### [ ] US-001: One\n- [ ] a\n\n### [ ] US-002: Two\n- [ ] b\n"
DONE = TEXT.replace("[ ]", "[x]")


class PrdWorld(DocumentWorld):
    """A PRD that is known, of which nothing is built."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {PRD: TEXT, PLAN: "plan\n"})
        self.executor.otherwise = self.session
        self.ticks = True
        self.work = True
        self.signal = "SIGTERM"
        self.build()
        self.signal = None

    def session(self, command: Command, listener: OutputListener) -> ProcessExit:
        """Ticks all there is, and claims its task."""

        def work() -> None:
            if self.work:
                self.workspace.edit(f"{command.env['RALPH_TASK_ID']}.txt", "work")
            if self.ticks:
                self.workspace.edit(PRD, self.workspace.files[PRD].replace("[ ]", "[x]"))

        return says("<task-done>TASK</task-done>", does=work)(command, listener)

    def build(self) -> RunEnded:
        return build_stories(self.ctx(), StoryPipeline(root="/project"), 1)

    def go(self, crash_point: CrashPoint | None = None) -> RunEnded:
        return run(sync_documents(self.ctx(crash_point), 1))

    @property
    def prd(self) -> str:
        return self.workspace.files[PRD]

    def warnings(self) -> str:
        return "\n".join(one.message for one in self.recorded(Warned) if isinstance(one, Warned))


def test_run_builds_stories_and_ticks_them_as_build_does(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    world.ticks = False
    assert world.go().outcome is RunOutcome.COMPLETE
    assert world.prd == DONE
    assert world.workspace.head[PRD] == DONE


def test_two_documents_are_never_one_feature(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    world.workspace.edit("namesake.md", DONE)
    namesake = StoryPipeline(root="/project", prd="namesake.md")
    with pytest.raises(UsageError, match=f"namesake.md and {PRD} would be one feature, prd"):
        build_stories(world.ctx(), namesake, 1)
    world.workspace.files.pop(PRD)
    world.ticks = False
    assert build_stories(world.ctx(), namesake, 1).outcome is RunOutcome.COMPLETE


def test_a_tick_in_run_is_a_claim_that_needs_work_behind_it(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    world.work = False
    world.target = Subtree(world.store.tasks.find("US-001").id)
    assert world.go().outcome is RunOutcome.COMPLETE_WITH_FAILURES
    assert world.prd == TEXT
    assert world.store.tasks.find("US-002").status is TaskStatus.PENDING


def test_another_task_ticks_nothing(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    other = world.add("something else")
    world.target = Subtree(other)
    assert world.go().outcome is RunOutcome.COMPLETE
    assert world.prd == TEXT
    assert "the boxes of US-001, US-002" in world.warnings()
    world.target = Subtree(world.store.tasks.find("US-001").id)
    world.ticks = False
    world.go()
    assert world.store.tasks.find("US-002").status is TaskStatus.PENDING


def test_what_a_person_changes_counts_in_run(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    world.ticks = False
    world.workspace.edit(PRD, TEXT.replace("[ ] US-001", "[x] US-001") + "\n### [ ] US-003: New\n")
    assert world.go().done == 3
    assert not world.store.sessions.select(task=world.store.tasks.find("US-001").id, limit=1)
    assert "### [x] US-003: New" in world.prd


def test_killed_anywhere_no_tick_of_a_session_counts(tmp_path: Path) -> None:
    for calls in range(2000):
        folder = tmp_path / str(calls)
        folder.mkdir()
        world = PrdWorld(folder)
        world.target = Subtree(world.add("something else"))
        try:
            world.go(CrashPoint(calls, late=bool(calls % 2)))
        except Died:
            pass
        else:
            break
        world.ticks = False
        world.signal = "SIGTERM"
        world.build()
        assert world.prd == TEXT, calls
        assert world.store.tasks.find("US-001").status is TaskStatus.PENDING, calls
    else:
        raise AssertionError("it never came to its end")
    assert calls > 20


def test_a_document_of_another_checkout_is_left_alone(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    world.workspace.path = "/elsewhere"  # type: ignore[misc]
    world.target = Subtree(world.add("something else"))
    world.go()
    assert world.prd == DONE


def test_a_document_that_is_gone_or_broken_stops_no_other_work(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    world.ticks = False
    world.target = Subtree(world.add("something else"))
    world.workspace.edit(PRD, "nothing\n")
    assert world.go().outcome is RunOutcome.COMPLETE
    assert "going on with the stories as they were" in world.warnings()
    del world.workspace.files[PRD]
    world.target = Subtree(world.add("one more"))
    assert world.go().outcome is RunOutcome.COMPLETE


# Planning tasks


def a_planning_task(world: PrdWorld) -> TaskId:
    planning_task = PlanningTask(
        alias="prd-plan",
        title="Plan",
        description="",
        phase=Phase.PLANNING,
        missing=lambda: "it is not there",
        command="ralph story plan",
    )
    return task_of(world.store, planning_task, 0).id


def test_run_leaves_the_planning_tasks_of_other_commands_alone(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    world.ticks = False
    task = a_planning_task(world)
    ended = world.go()
    assert (ended.outcome, ended.done) == (RunOutcome.COMPLETE, 2)
    assert "prd-plan was left undone by `ralph story plan`" in world.warnings()
    assert task not in world.store.tasks.planning()
    assert a_planning_task(world) != task


def test_a_failed_planning_task_is_no_failure_of_a_run(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    world.ticks = False
    task = a_planning_task(world)
    world.store.tasks.force_failed(task, "nothing came of it")
    assert world.go().outcome is RunOutcome.COMPLETE


def test_a_planning_task_that_is_done_stays(tmp_path: Path) -> None:
    world = PrdWorld(tmp_path)
    world.ticks = False
    task = a_planning_task(world)
    world.store.tasks.force_done(task)
    world.go()
    assert world.store.tasks.find("prd-plan").id == task
