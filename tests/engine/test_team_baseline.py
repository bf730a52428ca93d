"""Gates that fail when a team begins: what the branch passes is known by its merges alone."""

from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.gates import Gate, GateResult
from ralph.core.run import RunLimits
from ralph.core.task import TaskStatus
from tests.doubles import says
from tests.engine.team_fakes import TEAM, TeamWorld

RED = GateResult(name="test", passed=False, code=1)


@pytest.fixture
def team(tmp_path: Path) -> TeamWorld:
    team = TeamWorld(tmp_path)
    team.gates = (Gate(name="test", command="test"),)
    team.first_baseline = (RED,)
    return team


def baseline(team: TeamWorld) -> dict[str, bool]:
    run = team.store.runs.get(TEAM)
    assert run is not None
    return {one.name: one.passed for one in run.baseline}


def test_what_others_have_fixed_meanwhile_stays_fixed(team: TeamWorld) -> None:
    team.executor.gates = {"test": [1, 1, 0]}
    task = team.add()

    def quicker() -> None:
        team.place(task).edit("work.txt", "breaks it again")
        team.others_fix(theirs_txt="fixes the gate")

    team.works_along(
        says("<task-done>TASK</task-done>", does=quicker), team.edits(task, text="does not")
    )
    [rejected] = team.recorded(events.TaskRejected)
    assert isinstance(rejected, events.TaskRejected)
    assert "gate test fails" in (rejected.reason or "")
    assert team.merge_branch.files == {"work.txt": "does not", "theirs.txt": "fixes the gate"}
    assert team.merge_branch.merges == [task]
    assert baseline(team) == {"test": True}


def test_it_does_though_nobody_has_merged_since_the_work_began(team: TeamWorld) -> None:
    team.executor.gates = {"test": [1, 1, 0]}
    task = team.add()

    def known_now() -> None:
        team.place(task).edit("work.txt", "breaks it again")
        team.store.runs.save_baseline(TEAM, (GateResult(name="test", passed=True, code=0),))

    team.works_along(says("<task-done>TASK</task-done>", does=known_now), team.edits(task))
    assert len(team.recorded(events.TaskRejected)) == 1
    assert team.merge_branch.files == {"work.txt": "mine"}


def test_a_gate_that_passes_in_a_checkout_does_not_pass_in_the_branch(team: TeamWorld) -> None:
    team.executor.gates = {"test": [0]}
    team.limits = RunLimits(iterations=1)
    task = team.add()

    def clashes() -> None:
        team.place(task).edit("work.txt", "mine")
        team.merge_branch.others_merge(work_txt="theirs")

    team.works_along(says("<task-done>TASK</task-done>", does=clashes))
    assert team.merge_branch.merges == []
    assert baseline(team) == {"test": False}


def test_a_gate_that_others_have_fixed_is_not_broken_by_whoever_lacks_that(team: TeamWorld) -> None:
    team.gates = (*team.gates, Gate(name="lint", command="lint"))
    team.executor.gates = {"test": [1, 1, 0], "lint": [1, 0]}
    task = team.add()

    def quicker() -> None:
        team.place(task).edit("work.txt", "mine")
        team.others_fix(theirs_txt="fixes the gate")

    team.works_along(
        says("<task-done>TASK</task-done>", does=quicker), team.edits(task, text="no lint")
    )
    assert team.task(task).status is TaskStatus.DONE
    [rejected] = team.recorded(events.TaskRejected)
    assert isinstance(rejected, events.TaskRejected)
    assert "gate lint fails" in (rejected.reason or "")
    assert baseline(team) == {"test": True, "lint": True}


def test_what_a_person_has_broken_meanwhile_is_nobody_elses_fault(team: TeamWorld) -> None:
    team.first_baseline = (GateResult(name="test", passed=True, code=0),)
    team.gates = (*team.gates, Gate(name="lint", command="lint"))
    # In its own checkout, on top of what the person has committed, there alone, and again.
    team.executor.gates = {"test": [0, 1, 1, 1], "lint": [0]}
    task = team.add()

    def person_commits() -> None:
        team.place(task).edit("work.txt", "mine")
        team.merge_branch.others_merge(broken_txt="by a person")
        team.merge_branch.theirs.add(team.merge_branch.head())

    team.works_along(says("<task-done>TASK</task-done>", does=person_commits))
    assert team.task(task).status is TaskStatus.DONE
    assert team.task(task).retry_count == 0
    assert team.merge_branch.files == {"work.txt": "mine", "broken.txt": "by a person"}
    assert baseline(team) == {"test": False, "lint": True}
    warned = [one.message for one in team.recorded(events.Warned) if isinstance(one, events.Warned)]
    assert any("committed there by hand" in line for line in warned)


def test_a_task_that_begins_with_it_is_not_to_blame_either(team: TeamWorld) -> None:
    team.first_baseline = (GateResult(name="test", passed=True, code=0),)
    team.executor.gates = {"test": [1]}
    team.merge_branch.others_merge(broken_txt="by a person")
    team.merge_branch.theirs.add(team.merge_branch.head())
    task = team.add()
    team.works_along(team.edits(task))
    assert (team.task(task).status, team.task(task).retry_count) == (TaskStatus.DONE, 0)


def test_who_breaks_a_gate_is_to_blame_though_a_person_has_committed(team: TeamWorld) -> None:
    team.first_baseline = (GateResult(name="test", passed=True, code=0),)
    team.executor.gates = {"test": [1, 0]}
    team.merge_branch.others_merge(harmless_txt="by a person")
    team.merge_branch.theirs.add(team.merge_branch.head())
    team.limits = RunLimits(iterations=1)
    task = team.add()
    team.works_along(team.edits(task))
    assert team.task(task).retry_count == 1
    assert baseline(team) == {"test": True}
