"""Validation on the loop: stopped or killed at any moment, no session that was paid is repeated."""

from contextlib import suppress
from pathlib import Path

from ralph.core.ending import Exit
from ralph.core.errors import Missing
from ralph.core.events import RunEnded, Warned
from ralph.core.gates import Gate
from ralph.core.outcome import Outcome
from ralph.core.task import Status
from ralph.documents.validation import Report
from ralph.ports.executor import Command, Listener
from ralph.testing.doubles import says
from ralph.workflows.pipeline import PRD, Pipeline
from ralph.workflows.stories import Stories
from ralph.workflows.validation import validate
from tests.engine.shelf import Papered
from tests.engine.world import Died, Fate

TEXT = "# P\n\n### [x] US-001: One\n- [x] a\n\n### [x] US-002: Two\n- [x] b\n"
PIPELINE = Pipeline(root="/project")


class Court(Papered):
    """A PRD of which everything is said to be done."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {PRD: TEXT})
        self.executor.otherwise = self.session
        self.heard: list[str] = []
        self.stop_after = 0
        self.answer = "1 PASS saw it"

    def session(self, command: Command, listener: Listener) -> Exit:
        self.heard.append(command.env["RALPH_STORY_ID"].removeprefix("prd-validate-"))
        play = says(self.answer)(command, listener)
        if len(self.heard) == self.stop_after:
            self.signal = "SIGTERM"
        return play

    def validate(self, fate: Fate | None = None) -> tuple[Report, RunEnded]:
        kit = self.kit(fate)
        stories = Stories(
            store=kit.store,
            library=kit.library,
            path=PRD,
            feature=kit.store.add_feature("prd"),
            max_retries=1,
        )
        stories.follow()
        if not stories.tasks.done():
            # What was found was opened before.
            raise Missing("as the command says it")
        report, ended, _ = validate(kit, PIPELINE, stories, 1)
        return report, ended


def test_what_was_found_before_a_stop_is_not_asked_again(tmp_path: Path) -> None:
    court = Court(tmp_path)
    court.stop_after = 1
    report, ended = court.validate()
    assert (ended.outcome, report.passed) == (Outcome.INTERRUPTED, False)
    # Nothing is written down as long as it is not over, nothing opened.
    assert PIPELINE.report not in court.workspace.files
    assert court.workspace.files[PRD] == TEXT
    court.signal, court.stop_after = None, 0
    report, ended = court.validate()
    assert (ended.outcome, report.passed) == (Outcome.COMPLETE, True)
    assert court.heard == ["US-001", "US-002"]
    assert "saw it" in court.workspace.head[PIPELINE.report]


def test_what_is_not_committed_is_said_to_be_left_out(tmp_path: Path) -> None:
    court = Court(tmp_path)
    court.workspace.edit("code.txt", "new")
    court.validate()
    said = [one.message for one in court.told(Warned) if isinstance(one, Warned)]
    assert "1 uncommitted file is no part of what is validated: the newest commit" in said


def test_on_another_commit_everything_is_looked_at_again(tmp_path: Path) -> None:
    court = Court(tmp_path)
    court.stop_after = 1
    court.validate()
    court.signal, court.stop_after = None, 0
    court.workspace.edit("code.txt", "new")
    court.workspace.commit_files("meanwhile", ["code.txt"])
    assert court.validate()[0].passed
    assert court.heard == ["US-001", "US-001", "US-002"]


def test_a_story_that_reads_otherwise_is_looked_at_again(tmp_path: Path) -> None:
    court = Court(tmp_path)
    court.stop_after = 1
    court.validate()
    court.signal, court.stop_after = None, 0
    court.workspace.edit(PRD, TEXT.replace("- [x] a", "- [x] another"))
    assert court.validate()[0].passed
    assert court.heard == ["US-001", "US-001", "US-002"]


def test_one_that_is_over_is_not_gone_on_with(tmp_path: Path) -> None:
    court = Court(tmp_path)
    for _ in range(2):
        assert court.validate()[0].passed
        court.workspace.commit_files("nothing", [])
    assert court.heard == ["US-001", "US-002"] * 2


def test_a_stop_while_a_gate_runs_is_a_stop(tmp_path: Path) -> None:
    court = Court(tmp_path)
    court.gates = (Gate(name="test", command="make test"),)

    def stopped(command: Command, listener: Listener) -> Exit:
        del command
        court.signal = "SIGINT"
        return Exit(code=None, stop=listener.tick(), duration_s=1.0)

    court.executor.gates["make test"] = [stopped, 0]
    assert court.validate()[1].outcome is Outcome.INTERRUPTED
    assert court.heard == []
    court.signal = None
    report, _ = court.validate()
    assert report.passed
    assert [gate.passed for gate in report.gates] == [True]


def test_who_came_to_no_verdict_is_asked_again_by_the_next_one(tmp_path: Path) -> None:
    court = Court(tmp_path)
    court.answer = "fine"
    report, ended = court.validate()
    assert (ended.outcome, report.passed) == (Outcome.COMPLETE_WITH_FAILURES, False)
    court.answer = "1 PASS saw it"
    assert court.validate()[0].passed


def test_killed_anywhere_the_next_one_finishes_it(tmp_path: Path) -> None:
    for calls in range(2000):
        folder = tmp_path / str(calls)
        folder.mkdir()
        court = Court(folder)
        court.answer = "1 FAIL no button"
        try:
            court.validate(Fate(calls, late=bool(calls % 2)))
        except Died:
            pass
        else:
            break
        with suppress(Missing):
            assert not court.validate()[0].passed
        assert court.workspace.files[PRD] == TEXT.replace("[x]", "[ ]"), calls
        statuses = {court.store.find(name).status for name in ("US-001", "US-002")}
        assert statuses == {Status.PENDING}, calls
        # A session that has ended is heard, and not repeated; one that was cut off is.
        assert len(court.heard) <= 3, calls
    else:
        raise AssertionError("it never came to its end")
    assert calls > 50
