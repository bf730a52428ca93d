"""Validation on the loop: stopped or killed at any moment, no session that was paid is repeated."""

from contextlib import suppress
from pathlib import Path

from ralph.core.errors import Missing
from ralph.core.events import RunEnded, Warned
from ralph.core.gates import Gate
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunOutcome
from ralph.core.task import TaskStatus
from ralph.documents.story_validation import ValidationReport
from ralph.ports.executor import Command, OutputListener
from ralph.workflows.document_tasks import DocumentTasks
from ralph.workflows.prd_document import PrdDocument
from ralph.workflows.story_pipeline import PRD, StoryPipeline
from ralph.workflows.validation import validate
from tests.doubles import says
from tests.engine.document_world import DocumentWorld
from tests.engine.world import CrashPoint, Died

TEXT = "# P\n\n### [x] US-001: One\n- [x] a\n\n### [x] US-002: Two\n- [x] b\n"
PIPELINE = StoryPipeline(root="/project")


class ValidationWorld(DocumentWorld):
    """A PRD of which everything is said to be done."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {PRD: TEXT})
        self.executor.otherwise = self.session
        self.heard: list[str] = []
        self.stop_after = 0
        self.answer = "1 PASS saw it"

    def session(self, command: Command, listener: OutputListener) -> ProcessExit:
        self.heard.append(command.env["RALPH_STORY_ID"].removeprefix("prd-validate-"))
        play = says(self.answer)(command, listener)
        if len(self.heard) == self.stop_after:
            self.signal = "SIGTERM"
        return play

    def validate(self, crash_point: CrashPoint | None = None) -> tuple[ValidationReport, RunEnded]:
        ctx = self.ctx(crash_point)
        stories = PrdDocument(
            DocumentTasks(ctx.store, ctx.store.features.add("prd"), PRD, 1),
            ctx.project_files,
        )
        stories.sync()
        if not stories.tasks.done():
            # What was found was opened before.
            raise Missing("as the command says it")
        report, ended, _ = validate(ctx, PIPELINE, stories, 1)
        return report, ended


def test_what_was_found_before_a_stop_is_not_asked_again(tmp_path: Path) -> None:
    world = ValidationWorld(tmp_path)
    world.stop_after = 1
    report, ended = world.validate()
    assert (ended.outcome, report.passed) == (RunOutcome.INTERRUPTED, False)
    # Nothing is written down as long as it is not over, nothing opened.
    assert PIPELINE.report not in world.workspace.files
    assert world.workspace.files[PRD] == TEXT
    world.signal, world.stop_after = None, 0
    report, ended = world.validate()
    assert (ended.outcome, report.passed) == (RunOutcome.COMPLETE, True)
    assert world.heard == ["US-001", "US-002"]
    assert "saw it" in world.workspace.head[PIPELINE.report]


def test_what_is_not_committed_is_said_to_be_left_out(tmp_path: Path) -> None:
    world = ValidationWorld(tmp_path)
    world.workspace.edit("code.txt", "new")
    world.validate()
    said = [one.message for one in world.recorded(Warned) if isinstance(one, Warned)]
    assert "1 uncommitted file is not part of what is validated: the newest commit" in said


def test_on_another_commit_everything_is_looked_at_again(tmp_path: Path) -> None:
    world = ValidationWorld(tmp_path)
    world.stop_after = 1
    world.validate()
    world.signal, world.stop_after = None, 0
    world.workspace.edit("code.txt", "new")
    world.workspace.commit_files("meanwhile", ["code.txt"])
    assert world.validate()[0].passed
    assert world.heard == ["US-001", "US-001", "US-002"]


def test_a_story_that_reads_otherwise_is_looked_at_again(tmp_path: Path) -> None:
    world = ValidationWorld(tmp_path)
    world.stop_after = 1
    world.validate()
    world.signal, world.stop_after = None, 0
    world.workspace.edit(PRD, TEXT.replace("- [x] a", "- [x] another"))
    assert world.validate()[0].passed
    assert world.heard == ["US-001", "US-001", "US-002"]


def test_one_that_is_over_is_not_gone_on_with(tmp_path: Path) -> None:
    world = ValidationWorld(tmp_path)
    for _ in range(2):
        assert world.validate()[0].passed
        world.workspace.commit_files("nothing", [])
    assert world.heard == ["US-001", "US-002"] * 2


def test_a_stop_while_a_gate_runs_is_a_stop(tmp_path: Path) -> None:
    world = ValidationWorld(tmp_path)
    world.gates = (Gate(name="test", command="make test"),)

    def stopped(command: Command, listener: OutputListener) -> ProcessExit:
        del command
        world.signal = "SIGINT"
        return ProcessExit(code=None, stop=listener.tick(), duration_s=1.0)

    world.executor.gates["make test"] = [stopped, 0]
    assert world.validate()[1].outcome is RunOutcome.INTERRUPTED
    assert world.heard == []
    world.signal = None
    report, _ = world.validate()
    assert report.passed
    assert [gate.passed for gate in report.gates] == [True]


def test_who_came_to_no_verdict_is_asked_again_by_the_next_one(tmp_path: Path) -> None:
    world = ValidationWorld(tmp_path)
    world.answer = "fine"
    report, ended = world.validate()
    assert (ended.outcome, report.passed) == (RunOutcome.COMPLETE_WITH_FAILURES, False)
    world.answer = "1 PASS saw it"
    assert world.validate()[0].passed


def test_killed_anywhere_the_next_one_finishes_it(tmp_path: Path) -> None:
    for calls in range(2000):
        folder = tmp_path / str(calls)
        folder.mkdir()
        world = ValidationWorld(folder)
        world.answer = "1 FAIL no button"
        try:
            world.validate(CrashPoint(calls, late=bool(calls % 2)))
        except Died:
            pass
        else:
            break
        with suppress(Missing):
            assert not world.validate()[0].passed
        assert world.workspace.files[PRD] == TEXT.replace("[x]", "[ ]"), calls
        statuses = {world.store.tasks.find(name).status for name in ("US-001", "US-002")}
        assert statuses == {TaskStatus.PENDING}, calls
        # A session that has ended is heard, and not repeated; one that was cut off is.
        assert len(world.heard) <= 3, calls
    else:
        raise AssertionError("it never came to its end")
    assert calls > 50
