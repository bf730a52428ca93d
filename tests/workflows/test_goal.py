"""Where a goal stands, by what is on disk and what was begun."""

import pytest
from msgspec.structs import replace

from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.errors import UsageError
from ralph.core.events import SessionEnded
from ralph.core.order import Schedule
from ralph.core.target import Everything
from ralph.core.task import Draft, Status
from ralph.core.transitions import Accepted, Released
from ralph.ports.store import Store
from ralph.testing.doubles import FakeLibrary
from ralph.testing.store_words import WORKER, begin, start
from ralph.workflows.errand import as_task
from ralph.workflows.goal import (
    Goal,
    Step,
    feature_of,
    find_goal,
    finish,
    is_unfinished,
    papers,
    require_own_name,
)

LONG = "Let people search in the shop by name, by colour and by"


@pytest.fixture
def goal() -> Goal:
    return find_goal(FakeLibrary(), "Sell tea")


def test_a_long_sentence_does_not_go_on_with_the_goal_of_another(goal: Goal) -> None:
    library = goal.library
    price = find_goal(library, f"{LONG} price")
    price.write_request(f"{LONG} price\n")
    assert find_goal(library, f"  {LONG.upper()}, price!").name == price.name
    assert find_goal(library, price.name) == price
    with pytest.raises(UsageError, match="is another one: Let people search"):
        find_goal(library, f"{LONG} size")
    goal.write_request("Sell tea")
    goal.library.put(goal.files.request, b"Sell tea, and mind the leaves\n")
    assert find_goal(library, "sell tea") == goal


def test_a_step_whose_session_was_stopped_in_the_middle_is_not_done(
    store: Store, goal: Goal
) -> None:
    begin(store)
    assert not is_unfinished(store, goal, Step.TASKS)
    sent = as_task(store, goal.errand(Step.TASKS), 3)
    assert not is_unfinished(store, goal, Step.TASKS)
    held = store.claim(WORKER, None, Everything(), Schedule.PRIORITY)
    assert held is not None
    # Killed: whatever it has left, nobody knows whether that is all.
    assert is_unfinished(store, goal, Step.TASKS)
    assert as_task(store, goal.errand(Step.TASKS), 3).status is Status.IN_PROGRESS
    store.settle(held, Released("interrupted"), message="", fail_fast=False)
    assert is_unfinished(store, goal, Step.TASKS)
    held = store.claim(WORKER, None, Everything(), Schedule.PRIORITY)
    assert held is not None
    store.settle(held, Accepted(), message="", fail_fast=False)
    assert not is_unfinished(store, goal, Step.TASKS)
    assert as_task(store, goal.errand(Step.TASKS), 3).id == sent.id
    assert store.find(sent.id).status is Status.PENDING


def test_what_is_written_about_goals_is_there_to_be_read(goal: Goal) -> None:
    library = goal.library
    assert papers(library) == ()
    goal.write_request("Sell tea")
    other = find_goal(library, "coffee")
    library.put(other.files.design, b"x")
    library.put(f"{other.files.implementation}/step01/task-01.code-task.md", b"x")
    assert papers(library) == (other.files.design, goal.files.request)


def test_a_goal_does_not_take_over_the_tasks_of_a_feature(store: Store, goal: Goal) -> None:
    require_own_name(store, goal)
    feature = store.add_feature(goal.name)
    code_task = f"{goal.files.implementation}/step01/task-01-one.code-task.md"
    goal.library.put(code_task, b"# Task: One\n")
    store.add_task(Draft(title="One", alias="step01-task-01", feature_id=feature.id))
    store.add_task(Draft(title="Two", feature_id=feature.id))
    require_own_name(store, goal)
    store.add_task(Draft(title="Three", alias="US-001", feature_id=feature.id))
    with pytest.raises(UsageError, match="such as US-001"):
        require_own_name(store, goal)
    feature_of(goal, store)
    require_own_name(store, goal)


def test_an_agent_that_could_not_start_has_left_nothing(store: Store, goal: Goal) -> None:
    begin(store)
    as_task(store, goal.errand(Step.TASKS), 3)
    held = store.claim(WORKER, None, Everything(), Schedule.PRIORITY)
    assert held is not None
    session = start(store, held)
    told = SessionEnded(task_id=held.task.id, session_id=session.id, ended=Ended.NOT_INSTALLED)
    store.end_session(replace(session, ending=Ending(ended=Ended.NOT_INSTALLED)), told)
    store.settle(held, Released("not installed"), message="", fail_fast=False)
    assert not is_unfinished(store, goal, Step.TASKS)


def test_what_a_person_has_done_instead_is_done(store: Store, goal: Goal) -> None:
    begin(store)
    finish(store, goal, Step.DESIGN)
    sent = as_task(store, goal.errand(Step.DESIGN), 3)
    held = store.claim(WORKER, None, Everything(), Schedule.PRIORITY)
    assert held is not None
    store.settle(held, Released("interrupted"), message="", fail_fast=False)
    finish(store, goal, Step.DESIGN)
    assert not is_unfinished(store, goal, Step.DESIGN)
    assert store.find(sent.id).status is Status.DONE
