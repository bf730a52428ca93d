"""Teammates that somebody else leads: what counts as done, and who may rest."""

from pathlib import Path

import pytest

from ralph.core.events import TeammateJudged
from ralph.core.gates import GateResult
from ralph.core.settings import BreakerSection
from ralph.core.task import TaskDraft, TaskStatus
from ralph.engine.state_files import team_tally_of
from ralph.store.store import Store
from ralph.workflows.claude_team_hooks import (
    TeamHookAnswer,
    TeamHookCall,
    read_hook_call,
    stamp_goals,
    task_completed,
    teammate_idle,
)
from ralph.workflows.goal import GoalStep, code_tasks_of, find_goal
from ralph.workflows.planning_task import task_of
from tests.doubles import FakeProjectFiles
from tests.doubles.clock import FrozenClock

RED = GateResult(name="test", passed=False, code=1, output="1 failed")
LIMITS = BreakerSection(failures=2)


def completed(
    store: Store, asked: TeamHookCall, failure: GateResult | None = None
) -> TeamHookAnswer:
    return task_completed(store, FrozenClock(), LIMITS, asked, lambda: failure)


def idle(store: Store, root: Path, slot: str = "teammate-1") -> TeamHookAnswer:
    return teammate_idle(store, FrozenClock(), LIMITS, TeamHookCall(slot=slot), str(root))


def judged(store: Store) -> list[tuple[str, bool]]:
    found = [one.event for one in store.events.select(after=0, limit=1000)]
    return [(one.slot, one.passed) for one in found if isinstance(one, TeammateJudged)]


def test_what_a_hook_is_told_may_be_anything() -> None:
    assert read_hook_call({}) == TeamHookCall(slot="teammate-1")
    assert read_hook_call(
        {"teammate_name": "a\nb", "task_subject": 7, "cwd": "/x"}
    ) == TeamHookCall(slot="a b", cwd="/x")


def test_a_task_is_completed_when_the_gates_pass(store: Store) -> None:
    task = store.tasks.add(TaskDraft(title="Parser", alias="task-01"))
    other = store.tasks.add(TaskDraft(title="Printer"))
    assert (
        completed(store, TeamHookCall(slot="b", subject="task-01: the parser")) == TeamHookAnswer()
    )
    assert store.tasks.find(task.id).status is TaskStatus.DONE
    assert store.tasks.find(other.id).status is TaskStatus.PENDING
    assert judged(store) == [("b", True)]
    assert team_tally_of(store).metrics()["per_teammate"] == {"b": {"completed": 1, "failed": 0}}


def test_the_file_of_a_code_task_says_who_has_done_it(store: Store) -> None:
    project_files = FakeProjectFiles()
    goal = find_goal(project_files, "tea")
    path = f"{goal.files.implementation}/task-01-one.code-task.md"
    project_files.pages |= dict.fromkeys(goal.files.read_only, "x") | {path: "# Task: One\n"}
    code_tasks_of(goal, store, FrozenClock(), 3).sync()
    asked = TeamHookCall(slot="teammate-4", subject="task-01")
    completed(store, asked)
    stamp_goals(store, project_files, FrozenClock(), asked, 3)
    said = project_files.pages[path]
    assert said.startswith("---\nStatus: COMPLETED\nCompleted-By: teammate-4\nCompleted-At: ")
    assert said.endswith("---\n# Task: One\n")
    project_files.pages[path] = "Blocked-By: nobody\n"
    stamp_goals(store, project_files, FrozenClock(), asked, 3)
    assert project_files.pages[path] == "Blocked-By: nobody\n"


@pytest.mark.parametrize("name", ["the id", "task-01"])
def test_a_team_may_call_a_task_as_the_graph_does(store: Store, name: str) -> None:
    task = store.tasks.add(TaskDraft(title="Parser", alias="task-01"))
    call = {"task_id": task.id if name == "the id" else name, "task_subject": "write it"}
    assert completed(store, read_hook_call(call)) == TeamHookAnswer()
    assert store.tasks.find(task.id).status is TaskStatus.DONE


def test_a_task_that_is_none_of_the_graph_is_completed_as_well(store: Store) -> None:
    store.tasks.add(TaskDraft(title="Parser"))
    store.tasks.add(TaskDraft(title="Parser"))
    assert completed(store, TeamHookCall(slot="b", subject="Parser")) == TeamHookAnswer()
    assert store.claims.next_ready is not None


def test_a_gate_that_fails_goes_back_to_the_teammate_and_is_counted(store: Store) -> None:
    task = store.tasks.add(TaskDraft(title="Parser"))
    asked = TeamHookCall(slot="b", subject="Parser")
    answer = completed(store, asked, RED)
    assert answer == TeamHookAnswer(
        code=2, message="gate test fails: the task is not done yet.\n1 failed"
    )
    assert store.tasks.find(task.id).status is TaskStatus.PENDING
    assert (store.breakers.get("b").failures, store.breakers.get("a").failures) == (1, 0)
    completed(store, asked)
    assert store.breakers.get("b").failures == 0
    assert judged(store) == [("b", False), ("b", True)]


def test_nobody_rests_while_something_is_ready(store: Store, tmp_path: Path) -> None:
    assert idle(store, tmp_path) == TeamHookAnswer()
    first = store.tasks.add(TaskDraft(title="Parser", priority=1))
    second = store.tasks.add(TaskDraft(title="Printer", priority=2))
    answers = [idle(store, tmp_path, f"teammate-{n}") for n in (1, 2, 3)]
    assert [answer.code for answer in answers] == [2, 2, 2]
    assert [first.id in answers[0].message, second.id in answers[1].message] == [True, True]
    assert "`ralph task brief " in answers[2].message


def test_nobody_is_kept_at_work_by_a_planning_task(store: Store, tmp_path: Path) -> None:
    project_files = FakeProjectFiles()
    task_of(store, find_goal(project_files, "Sell tea").planning_task(GoalStep.DESIGN), 3)
    assert idle(store, tmp_path) == TeamHookAnswer()


def test_whoever_failed_too_often_may_rest_and_the_others_go_on(
    store: Store, tmp_path: Path
) -> None:
    store.tasks.add(TaskDraft(title="Parser"))
    for _ in range(2):
        completed(store, TeamHookCall(slot="teammate-2", subject="x"), RED)
    rests = idle(store, tmp_path, "teammate-2")
    assert (rests.code, "2 failures in a row" in rests.message) == (0, True)
    assert idle(store, tmp_path).code == 2


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_person_may_stop_the_team(store: Store, tmp_path: Path, kind: str) -> None:
    store.tasks.add(TaskDraft(title="Parser"))
    (tmp_path / ".ralph").mkdir()
    abort = tmp_path / ".ralph" / "ABORT"
    abort.touch() if kind == "file" else abort.mkdir()
    assert idle(store, tmp_path) == TeamHookAnswer()
