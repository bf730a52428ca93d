"""Sessions that are sent for one file: the PRD, the plan. Nothing else of theirs is committed."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.core.errors import Missing
from ralph.core.events import RunEnded, Warned
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunOutcome, Subtree
from ralph.core.snapshot import Snapshot
from ralph.core.times import from_iso
from ralph.engine.run_context import RunContext
from ralph.ports.executor import Command, OutputListener
from ralph.workflows.planning_task import PlanningTask, task_of
from ralph.workflows.story_phases import discover, plan_stories, prd_planning_task, story_plan_task
from ralph.workflows.story_pipeline import PLAN, PRD, StoryPipeline
from tests.doubles import FakeWorkspace, says
from tests.engine.document_world import CheckoutFiles, DocumentWorld
from tests.engine.world import CrashPoint, Died

PIPELINE = StoryPipeline(root="/project")
STORIES = "### [ ] US-001: One\n- [ ] a\n- [ ] b\n"


class OneFileWorld(DocumentWorld):
    """A project whose session writes more than one file."""

    def __init__(self, folder: Path, prd: str = STORIES) -> None:
        super().__init__(folder, {"code.txt": "code\n", PRD: prd})
        self.writes = {PLAN: "plan\n", "code.txt": "spoiled\n", "new.txt": "new\n"}
        self.executor.otherwise = self.session
        self.sessions = 0

    def session(self, command: Command, listener: OutputListener) -> ProcessExit:
        self.sessions += 1

        def work() -> None:
            for path, text in self.writes.items():
                self.workspace.edit(path, text)

        return says("<task-done>TASK</task-done>", does=work)(command, listener)

    def plan(self, crash_point: CrashPoint | None = None) -> RunEnded:
        ctx = self.ctx(crash_point)
        self.aim(ctx, story_plan_task(ctx.project_files, PIPELINE))
        return plan_stories(ctx, PIPELINE, 1)

    def discover(self, crash_point: CrashPoint | None = None) -> RunEnded:
        ctx = self.ctx(crash_point)
        planning_task = prd_planning_task(ctx.project_files, PIPELINE, "a shop")
        self.aim(ctx, planning_task)
        return discover(ctx, PIPELINE, planning_task)

    def aim(self, ctx: RunContext, planning_task: PlanningTask) -> None:
        task = task_of(ctx.store, planning_task, 1)
        ctx.state.change_target(Subtree(task.id))

    def warnings(self) -> str:
        return "\n".join(one.message for one in self.recorded(Warned) if isinstance(one, Warned))


def test_a_session_that_writes_the_prd_writes_nothing_else(tmp_path: Path) -> None:
    world = OneFileWorld(tmp_path, "")
    world.writes = {PRD: STORIES, "code.txt": "spoiled\n", "new.txt": "new\n"}
    assert world.discover().outcome is RunOutcome.COMPLETE
    assert world.workspace.head == {PRD: STORIES, "code.txt": "code\n"}
    assert world.workspace.files == world.workspace.head
    assert f"only {PRD} was to be changed: code.txt, new.txt reverted" in world.warnings()
    (kept,) = world.workspace.saved.values()
    assert kept["code.txt"] == "spoiled\n"


def test_an_empty_plan_that_was_only_made_to_be_written_is_nobodys_edit(tmp_path: Path) -> None:
    for text, is_told in (("", False), ("mine\n", True)):
        folder = tmp_path / str(is_told)
        folder.mkdir()
        world = OneFileWorld(folder)
        world.workspace.edit(PLAN, text)
        world.plan()
        assert (f"{PLAN} has changes that are not committed" in world.warnings()) is is_told


def test_who_words_a_story_does_not_say_that_it_is_done(tmp_path: Path) -> None:
    before = STORIES.replace("[ ] a", "[x] a")
    world = OneFileWorld(tmp_path, before)
    for text in (before.replace("[ ] b", "[x] b"), before.replace("[ ] US", "[x] US")):
        world.writes = {PRD: text}
        assert world.discover().outcome is RunOutcome.COMPLETE_WITH_FAILURES
        assert "is not built yet" in (world.store.tasks.find("prd-prd").reason or "")
        world.workspace.edit(PRD, before)
    world.writes = {PRD: before.replace("One", "The first")}
    assert world.discover().outcome is RunOutcome.COMPLETE


def test_killed_anywhere_no_plan_takes_code_along(tmp_path: Path) -> None:
    for calls in range(2000):
        folder = tmp_path / str(calls)
        folder.mkdir()
        world = OneFileWorld(folder)
        try:
            world.plan(CrashPoint(calls, late=bool(calls % 2)))
        except Died:
            pass
        else:
            break
        assert world.plan().outcome is RunOutcome.COMPLETE, calls
        head = {path: world.workspace.head.get(path) for path in (PLAN, "code.txt", "new.txt")}
        assert head == {PLAN: "plan\n", "code.txt": "code\n", "new.txt": None}, calls
    else:
        raise AssertionError("it never came to its end")
    assert calls > 20


class Sneaky(OneFileWorld):
    """Its first session commits code, and then Ralph is killed."""

    def killed(self) -> None:
        crash_point = CrashPoint()

        def commits() -> None:
            self.workspace.edit("code.txt", "spoiled\n")
            self.workspace.edit(PLAN, "half a plan\n")
            self.workspace.commit_files("sneaky", ["code.txt", PLAN])
            crash_point.dead = True
            raise Died

        self.executor.sessions = [says("", does=commits)]
        with pytest.raises(Died):
            self.plan(crash_point)


def test_what_a_session_has_committed_that_was_killed_is_taken_off_the_branch(
    tmp_path: Path,
) -> None:
    world = Sneaky(tmp_path)
    world.writes = {}
    world.killed()
    world.workspace.edit("mine.txt", "a person's\n")
    assert world.plan().outcome is RunOutcome.COMPLETE
    assert world.workspace.commits == ["c0", "first", f"Plan how {PRD} is built"]
    assert world.workspace.head["code.txt"] == "code\n"
    assert world.workspace.head[PLAN] == "half a plan\n"
    assert world.workspace.files["mine.txt"] == "a person's\n"
    assert "mine.txt" not in world.workspace.head
    ((ref, kept),) = world.workspace.saved.items()
    assert kept["code.txt"] == "spoiled\n"
    assert f"1 commit reverted, kept as {ref}" in world.warnings()


def test_a_session_that_was_lost_ended_when_its_worker_was_last_seen(tmp_path: Path) -> None:
    world = Sneaky(tmp_path)
    world.killed()
    world.clock.advance(86_400.0)
    world.plan()
    lost, last = world.store.sessions.select()
    assert from_iso(lost.ended_at or "") - from_iso(lost.started_at) < 60
    assert from_iso(last.started_at) - from_iso(lost.started_at) >= 86_400


def test_nobody_is_taken_back_to_another_branch(tmp_path: Path) -> None:
    class Elsewhere(FakeWorkspace):
        """A person has gone to another branch."""

        def snapshot(self) -> Snapshot:
            return replace(super().snapshot(), branch="feature")

    world = Sneaky(tmp_path)
    world.writes = {}
    world.killed()
    elsewhere = Elsewhere()
    vars(elsewhere).update(vars(world.workspace))
    world.workspace = elsewhere
    world.project_files = CheckoutFiles(elsewhere)
    world.plan()
    assert world.workspace.commits[:3] == ["c0", "first", "sneaky"]
    assert "commit reverted" not in world.warnings()


def test_what_a_person_has_committed_since_stays(tmp_path: Path) -> None:
    class Later(FakeWorkspace):
        """Whose last commit was made long after the session."""

        def snapshot_at(self, since: Snapshot, now: Snapshot, moment: float) -> Snapshot:
            del since, moment
            return replace(now, head=self.history[-2].name, tree="", dirty=())

    world = Sneaky(tmp_path)
    world.writes = {}
    world.killed()
    world.workspace.edit("mine.txt", "a person's\n")
    world.workspace.commit_files("mine", ["mine.txt"])
    later = Later()
    vars(later).update(vars(world.workspace))
    world.workspace = later
    world.project_files = CheckoutFiles(later)
    world.plan()
    assert world.workspace.commits[:4] == ["c0", "first", "sneaky", "mine"]
    assert "commit reverted" not in world.warnings()
    assert "what it had committed, up to c2, stays" in world.warnings()


def test_the_prd_of_a_session_that_was_killed_is_not_planned(tmp_path: Path) -> None:
    world, crash_point = OneFileWorld(tmp_path, ""), CrashPoint()

    def killed() -> None:
        world.workspace.edit(PRD, STORIES)
        crash_point.dead = True
        raise Died

    world.executor.sessions = [says("", does=killed)]
    with pytest.raises(Died):
        world.discover(crash_point)
    with pytest.raises(Missing, match="there is no PRD"):
        world.plan()
    assert STORIES in [files[PRD] for files in world.workspace.saved.values()]
