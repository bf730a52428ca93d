"""Where a goal stands, by what is on disk and what was begun."""

import pytest
from msgspec.structs import replace

from ralph.core.errors import UsageError
from ralph.core.events import SessionEnded
from ralph.core.graph import Schedule
from ralph.core.policy.decision import Phase
from ralph.core.run import AllTasks
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.task import TaskDraft, TaskStatus
from ralph.core.transitions import Accepted, Released
from ralph.store.store import Store
from ralph.workflows.goal import (
    Goal,
    GoalStep,
    feature_of,
    find_goal,
    finish,
    goal_documents,
    is_unfinished,
    require_own_name,
)
from ralph.workflows.planning_task import task_of
from ralph.workflows.story_pipeline import PLAN, AutoProgress, storage_key
from ralph.workflows.waiting_plans import waiting_plans
from tests.contracts.store_test_helpers import WORKER, begin, start
from tests.doubles import FakeProjectFiles

LONG = "Let people search in the shop by name, by colour and by"


@pytest.fixture
def goal() -> Goal:
    return find_goal(FakeProjectFiles(), "Sell tea")


def test_a_long_sentence_does_not_go_on_with_the_goal_of_another(goal: Goal) -> None:
    project_files = goal.project_files
    price = find_goal(project_files, f"{LONG} price")
    price.write_request(f"{LONG} price\n")
    assert find_goal(project_files, f"  {LONG.upper()}, price!").name == price.name
    assert find_goal(project_files, price.name) == price
    with pytest.raises(UsageError, match="is another one: Let people search"):
        find_goal(project_files, f"{LONG} size")
    goal.write_request("Sell tea")
    goal.project_files.write(goal.files.request, b"Sell tea, and mind the leaves\n")
    assert find_goal(project_files, "sell tea") == goal


def test_a_step_whose_session_was_stopped_in_the_middle_is_not_done(
    store: Store, goal: Goal
) -> None:
    begin(store)
    assert not is_unfinished(store, goal, GoalStep.TASKS)
    sent = task_of(store, goal.planning_task(GoalStep.TASKS), 3)
    assert not is_unfinished(store, goal, GoalStep.TASKS)
    held = store.claims.claim(WORKER, None, AllTasks(), Schedule.PRIORITY)
    assert held is not None
    # Killed: whatever it has left, nobody knows whether that is all.
    assert is_unfinished(store, goal, GoalStep.TASKS)
    assert task_of(store, goal.planning_task(GoalStep.TASKS), 3).status is TaskStatus.IN_PROGRESS
    store.claims.settle(held, Released("interrupted"), message="", fail_fast=False)
    assert is_unfinished(store, goal, GoalStep.TASKS)
    held = store.claims.claim(WORKER, None, AllTasks(), Schedule.PRIORITY)
    assert held is not None
    store.claims.settle(held, Accepted(), message="", fail_fast=False)
    assert not is_unfinished(store, goal, GoalStep.TASKS)
    assert task_of(store, goal.planning_task(GoalStep.TASKS), 3).id == sent.id
    assert store.tasks.find(sent.id).status is TaskStatus.PENDING


def test_what_is_written_about_goals_is_there_to_be_read(goal: Goal) -> None:
    project_files = goal.project_files
    assert goal_documents(project_files) == ()
    goal.write_request("Sell tea")
    other = find_goal(project_files, "coffee")
    project_files.write(other.files.design, b"x")
    project_files.write(f"{other.files.implementation}/step01/task-01.code-task.md", b"x")
    assert goal_documents(project_files) == (other.files.design, goal.files.request)


def test_a_goal_does_not_take_over_the_tasks_of_a_feature(store: Store, goal: Goal) -> None:
    require_own_name(store, goal)
    feature = store.features.add(goal.name)
    code_task = f"{goal.files.implementation}/step01/task-01-one.code-task.md"
    goal.project_files.write(code_task, b"# Task: One\n")
    store.tasks.add(TaskDraft(title="One", alias="step01-task-01", feature_id=feature.id))
    store.tasks.add(TaskDraft(title="Two", feature_id=feature.id))
    require_own_name(store, goal)
    store.tasks.add(TaskDraft(title="Three", alias="US-001", feature_id=feature.id))
    with pytest.raises(UsageError, match="such as US-001"):
        require_own_name(store, goal)
    feature_of(goal, store)
    require_own_name(store, goal)


def test_an_agent_that_could_not_start_has_left_nothing(store: Store, goal: Goal) -> None:
    begin(store)
    task_of(store, goal.planning_task(GoalStep.TASKS), 3)
    held = store.claims.claim(WORKER, None, AllTasks(), Schedule.PRIORITY)
    assert held is not None
    session = start(store, held)
    event = SessionEnded(
        task_id=held.task.id, session_id=session.id, ended=EndingKind.NOT_INSTALLED
    )
    ending = SessionEnding(ended=EndingKind.NOT_INSTALLED)
    store.sessions.end(replace(session, ending=ending), held, event)
    store.claims.settle(held, Released("not installed"), message="", fail_fast=False)
    assert not is_unfinished(store, goal, GoalStep.TASKS)


def test_what_a_person_has_done_instead_is_done(store: Store, goal: Goal) -> None:
    begin(store)
    finish(store, goal, GoalStep.DESIGN)
    sent = task_of(store, goal.planning_task(GoalStep.DESIGN), 3)
    held = store.claims.claim(WORKER, None, AllTasks(), Schedule.PRIORITY)
    assert held is not None
    store.claims.settle(held, Released("interrupted"), message="", fail_fast=False)
    finish(store, goal, GoalStep.DESIGN)
    assert not is_unfinished(store, goal, GoalStep.DESIGN)
    assert store.tasks.find(sent.id).status is TaskStatus.DONE


def test_planning_makes_guardrails_and_leaves_those_that_are_there(goal: Goal) -> None:
    goal.write_request("Sell tea")
    text = goal.project_files.read(".ralph/guardrails.md").text
    assert text is not None
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Signs", "## Fixes", "## Decisions", "## Patterns",
    ]  # fmt: skip
    assert ".ralph/guardrails.md" in goal.own_files
    goal.project_files.write(".ralph/guardrails.md", b"- mine\n")
    goal.write_request("Sell tea")
    assert goal.project_files.read(".ralph/guardrails.md").text == "- mine\n"


def test_gates_whose_programs_are_not_there_are_not_proposed(goal: Goal) -> None:
    goal.project_files.write("pyproject.toml", b"[tool.mypy]\n[tool.ruff]\n[tool.pytest]\n")
    gates = goal.write_gates({}, lambda name: name in ("pytest", "ruff"))
    assert gates == {"test": "pytest -q", "lint": "ruff check ."}
    assert goal.project_files.read(".ralph/config.sh").text == (
        'GATE_TEST="pytest -q"\nGATE_LINT="ruff check ."\n'
    )


def test_plans_wait_for_approval_until_a_person_gives_it(store: Store, goal: Goal) -> None:
    files = goal.project_files
    assert waiting_plans(store, files) == []
    for path in (goal.files.catalog, goal.files.design, goal.files.plan):
        files.write(path, b"x\n")
    assert waiting_plans(store, files) == [], "it has no code tasks yet"
    files.write(f"{goal.files.implementation}/step01/task-01-one.code-task.md", b"# Task: One\n")
    store.features.add("prd")
    progress = AutoProgress(idea="tea", phase=Phase.BUILDING)
    store.documents.save_value(storage_key("prd"), progress)
    assert [(one.name, one.path, one.approve) for one in waiting_plans(store, files)] == [
        (goal.name, goal.files.plan, f"ralph team plan {goal.name} --yes"),
        ("prd", PLAN, "ralph go --plan stories --from build --yes"),
    ]
    files.write(goal.files.runbook, b"approved\n")
    store.documents.save_value(storage_key("prd"), replace(progress, approved=True))
    assert waiting_plans(store, files) == []
