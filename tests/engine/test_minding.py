"""PRDs while something else is at work: whatever a session ticks is no person's word."""

from pathlib import Path

import pytest

from ralph.core.ending import Exit
from ralph.core.errors import UsageError
from ralph.core.events import RunEnded, Warned
from ralph.core.ids import TaskId
from ralph.core.outcome import Outcome
from ralph.core.policy.decision import Phase
from ralph.core.target import Subtree
from ralph.core.task import Status
from ralph.engine.loop import run
from ralph.ports.executor import Command, Listener
from ralph.testing.doubles import says
from ralph.workflows.build import build
from ralph.workflows.errand import Errand, as_task, errands
from ralph.workflows.minding import mind
from ralph.workflows.pipeline import PLAN, PRD, Pipeline
from tests.engine.shelf import Papered
from tests.engine.world import Died, Fate

TEXT = "# P\n\n### [ ] US-001: One\n- [ ] a\n\n### [ ] US-002: Two\n- [ ] b\n"
DONE = TEXT.replace("[ ]", "[x]")


class Desk(Papered):
    """A PRD that is known, of which nothing is built."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {PRD: TEXT, PLAN: "plan\n"})
        self.executor.otherwise = self.session
        self.ticks = True
        self.work = True
        self.signal = "SIGTERM"
        self.build()
        self.signal = None

    def session(self, command: Command, listener: Listener) -> Exit:
        """Ticks all there is, and claims its task."""

        def work() -> None:
            if self.work:
                self.workspace.edit(f"{command.env['RALPH_TASK_ID']}.txt", "work")
            if self.ticks:
                self.workspace.edit(PRD, self.workspace.files[PRD].replace("[ ]", "[x]"))

        return says("<task-done>TASK</task-done>", does=work)(command, listener)

    def build(self) -> RunEnded:
        return build(self.kit(), Pipeline(root="/project"), 1)

    def go(self, fate: Fate | None = None) -> RunEnded:
        kit = self.kit(fate)
        mind(kit, 1)
        return run(kit)

    @property
    def prd(self) -> str:
        return self.workspace.files[PRD]

    def warnings(self) -> str:
        return "\n".join(one.message for one in self.told(Warned) if isinstance(one, Warned))


def test_run_builds_stories_and_ticks_them_as_build_does(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ticks = False
    assert desk.go().outcome is Outcome.COMPLETE
    assert desk.prd == DONE
    assert desk.workspace.head[PRD] == DONE


def test_two_documents_are_never_one_feature(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.workspace.edit("namesake.md", DONE)
    namesake = Pipeline(root="/project", prd="namesake.md")
    with pytest.raises(UsageError, match=f"namesake.md and {PRD} would be one feature, prd"):
        build(desk.kit(), namesake, 1)
    desk.workspace.files.pop(PRD)
    desk.ticks = False
    assert build(desk.kit(), namesake, 1).outcome is Outcome.COMPLETE


def test_a_tick_in_run_is_a_claim_that_needs_work_behind_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.work = False
    desk.target = Subtree(desk.store.find("US-001").id)
    assert desk.go().outcome is Outcome.COMPLETE_WITH_FAILURES
    assert desk.prd == TEXT
    assert desk.store.find("US-002").status is Status.PENDING


def test_another_task_ticks_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    other = desk.add("something else")
    desk.target = Subtree(other)
    assert desk.go().outcome is Outcome.COMPLETE
    assert desk.prd == TEXT
    assert "the boxes of US-001, US-002" in desk.warnings()
    desk.target = Subtree(desk.store.find("US-001").id)
    desk.ticks = False
    desk.go()
    assert desk.store.find("US-002").status is Status.PENDING


def test_what_a_person_changes_counts_in_run(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ticks = False
    desk.workspace.edit(PRD, TEXT.replace("[ ] US-001", "[x] US-001") + "\n### [ ] US-003: New\n")
    assert desk.go().done == 3
    assert not desk.store.sessions(task=desk.store.find("US-001").id, limit=1)
    assert "### [x] US-003: New" in desk.prd


def test_killed_anywhere_no_tick_of_a_session_counts(tmp_path: Path) -> None:
    for calls in range(2000):
        folder = tmp_path / str(calls)
        folder.mkdir()
        desk = Desk(folder)
        desk.target = Subtree(desk.add("something else"))
        try:
            desk.go(Fate(calls, late=bool(calls % 2)))
        except Died:
            pass
        else:
            break
        desk.ticks = False
        desk.signal = "SIGTERM"
        desk.build()
        assert desk.prd == TEXT, calls
        assert desk.store.find("US-001").status is Status.PENDING, calls
    else:
        raise AssertionError("it never came to its end")
    assert calls > 20


def test_a_document_of_another_checkout_is_left_alone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.workspace.path = "/elsewhere"  # type: ignore[misc]
    desk.target = Subtree(desk.add("something else"))
    desk.go()
    assert desk.prd == DONE


def test_a_document_that_is_gone_or_broken_stops_no_other_work(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ticks = False
    desk.target = Subtree(desk.add("something else"))
    desk.workspace.edit(PRD, "nothing\n")
    assert desk.go().outcome is Outcome.COMPLETE
    assert "going on with the stories as they were" in desk.warnings()
    del desk.workspace.files[PRD]
    desk.target = Subtree(desk.add("one more"))
    assert desk.go().outcome is Outcome.COMPLETE


# Errands


def an_errand(desk: Desk) -> TaskId:
    errand = Errand(
        alias="prd-plan",
        title="Plan",
        description="",
        phase=Phase.PLANNING,
        missing=lambda: "it is not there",
        command="ralph plan",
    )
    return as_task(desk.store, errand, 0).id


def test_run_leaves_the_errands_of_other_commands_alone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ticks = False
    task = an_errand(desk)
    ended = desk.go()
    assert (ended.outcome, ended.done) == (Outcome.COMPLETE, 2)
    assert "prd-plan was left undone by `ralph plan`" in desk.warnings()
    assert task not in errands(desk.store)
    assert an_errand(desk) != task


def test_a_failed_errand_is_no_failure_of_a_run(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ticks = False
    task = an_errand(desk)
    desk.store.force_failed(task, "nothing came of it")
    assert desk.go().outcome is Outcome.COMPLETE


def test_an_errand_that_is_done_stays(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ticks = False
    task = an_errand(desk)
    desk.store.force_done(task)
    desk.go()
    assert desk.store.find("prd-plan").id == task
