"""Gates that fail when a team begins: what the branch passes is known by its merges alone."""

from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.gates import Gate, GateResult
from ralph.core.limits import Limits
from ralph.core.task import Status
from ralph.testing.doubles import says
from tests.engine.crew import TEAM, Crew

RED = GateResult(name="test", passed=False, code=1)


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    crew = Crew(tmp_path)
    crew.gates = (Gate(name="test", command="test"),)
    crew.first_baseline = (RED,)
    return crew


def baseline(crew: Crew) -> dict[str, bool]:
    run = crew.store.run(TEAM)
    assert run is not None
    return {one.name: one.passed for one in run.baseline}


def test_what_others_have_mended_meanwhile_stays_mended(crew: Crew) -> None:
    crew.executor.gates = {"test": [1, 1, 0]}
    task = crew.add()

    def quicker() -> None:
        crew.place(task).edit("work.txt", "breaks it again")
        crew.others_mend(theirs_txt="mends the gate")

    crew.works_along(
        says("<task-done>TASK</task-done>", does=quicker), crew.edits(task, text="does not")
    )
    [rejected] = crew.told(events.TaskRejected)
    assert isinstance(rejected, events.TaskRejected)
    assert "gate test fails" in (rejected.reason or "")
    assert crew.trunk.files == {"work.txt": "does not", "theirs.txt": "mends the gate"}
    assert crew.trunk.merges == [task]
    assert baseline(crew) == {"test": True}


def test_it_does_though_nobody_has_merged_since_the_work_began(crew: Crew) -> None:
    crew.executor.gates = {"test": [1, 1, 0]}
    task = crew.add()

    def known_now() -> None:
        crew.place(task).edit("work.txt", "breaks it again")
        crew.store.save_baseline(TEAM, (GateResult(name="test", passed=True, code=0),))

    crew.works_along(says("<task-done>TASK</task-done>", does=known_now), crew.edits(task))
    assert len(crew.told(events.TaskRejected)) == 1
    assert crew.trunk.files == {"work.txt": "mine"}


def test_a_gate_that_passes_in_a_checkout_does_not_pass_in_the_branch(crew: Crew) -> None:
    crew.executor.gates = {"test": [0]}
    crew.limits = Limits(iterations=1)
    task = crew.add()

    def clashes() -> None:
        crew.place(task).edit("work.txt", "mine")
        crew.trunk.others_merge(work_txt="theirs")

    crew.works_along(says("<task-done>TASK</task-done>", does=clashes))
    assert crew.trunk.merges == []
    assert baseline(crew) == {"test": False}


def test_a_gate_that_others_have_mended_is_not_broken_by_whoever_lacks_that(crew: Crew) -> None:
    crew.gates = (*crew.gates, Gate(name="lint", command="lint"))
    crew.executor.gates = {"test": [1, 1, 0], "lint": [1, 0]}
    task = crew.add()

    def quicker() -> None:
        crew.place(task).edit("work.txt", "mine")
        crew.others_mend(theirs_txt="mends the gate")

    crew.works_along(
        says("<task-done>TASK</task-done>", does=quicker), crew.edits(task, text="no lint")
    )
    assert crew.task(task).status is Status.DONE
    [rejected] = crew.told(events.TaskRejected)
    assert isinstance(rejected, events.TaskRejected)
    assert "gate lint fails" in (rejected.reason or "")
    assert baseline(crew) == {"test": True, "lint": True}


def test_what_a_person_has_broken_meanwhile_is_nobody_elses_fault(crew: Crew) -> None:
    crew.first_baseline = (GateResult(name="test", passed=True, code=0),)
    crew.gates = (*crew.gates, Gate(name="lint", command="lint"))
    # In its own checkout, on top of what the person has committed, there alone, and again.
    crew.executor.gates = {"test": [0, 1, 1, 1], "lint": [0]}
    task = crew.add()

    def person_commits() -> None:
        crew.place(task).edit("work.txt", "mine")
        crew.trunk.others_merge(broken_txt="by a person")
        crew.trunk.theirs.add(crew.trunk.tip())

    crew.works_along(says("<task-done>TASK</task-done>", does=person_commits))
    assert crew.task(task).status is Status.DONE
    assert crew.task(task).retry_count == 0
    assert crew.trunk.files == {"work.txt": "mine", "broken.txt": "by a person"}
    assert baseline(crew) == {"test": False, "lint": True}
    warned = [one.message for one in crew.told(events.Warned) if isinstance(one, events.Warned)]
    assert any("committed there by hand" in line for line in warned)


def test_a_task_that_begins_with_it_is_not_to_blame_either(crew: Crew) -> None:
    crew.first_baseline = (GateResult(name="test", passed=True, code=0),)
    crew.executor.gates = {"test": [1]}
    crew.trunk.others_merge(broken_txt="by a person")
    crew.trunk.theirs.add(crew.trunk.tip())
    task = crew.add()
    crew.works_along(crew.edits(task))
    assert (crew.task(task).status, crew.task(task).retry_count) == (Status.DONE, 0)


def test_who_breaks_a_gate_is_to_blame_though_a_person_has_committed(crew: Crew) -> None:
    crew.first_baseline = (GateResult(name="test", passed=True, code=0),)
    crew.executor.gates = {"test": [1, 0]}
    crew.trunk.others_merge(harmless_txt="by a person")
    crew.trunk.theirs.add(crew.trunk.tip())
    crew.limits = Limits(iterations=1)
    task = crew.add()
    crew.works_along(crew.edits(task))
    assert crew.task(task).retry_count == 1
    assert baseline(crew) == {"test": True}
