"""A run is judged within its target, whatever is going on around it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.core.graph import Schedule
from ralph.core.ids import RunId, WorkerId
from ralph.core.run import AllTasks, OneFeature, RunOutcome, Subtree
from ralph.core.task import TaskStatus
from ralph.core.transitions import Accepted, Blocked
from tests.doubles import says
from tests.engine.world import ME, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def login(world: World) -> OneFeature:
    feature = world.store.features.add("login")
    world.target = OneFeature(feature.id, feature.name)
    return world.target


def test_a_feature_is_complete_though_other_tasks_are_open(world: World, login: OneFeature) -> None:
    other = world.add("other", priority=-1)
    mine = world.add("mine", feature_id=login.feature, priority=9)
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    assert world.task(mine).status is TaskStatus.DONE
    assert world.task(other).status is TaskStatus.PENDING


@pytest.mark.usefixtures("login")
def test_a_feature_without_tasks_is_no_plan_though_there_are_others(world: World) -> None:
    world.add("other")
    assert world.run().outcome is RunOutcome.NO_PLAN


def test_a_feature_is_blocked_though_another_task_is_ready(world: World, login: OneFeature) -> None:
    other = world.add("other")
    world.add("mine", feature_id=login.feature, blocked_by=(other,))
    assert world.run().outcome is RunOutcome.BLOCKED
    assert world.task(other).status is TaskStatus.PENDING


def test_a_failed_task_elsewhere_does_not_spoil_the_outcome(
    world: World, login: OneFeature
) -> None:
    world.store.tasks.force_failed(world.add("other"), "no")
    world.add("mine", feature_id=login.feature)
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE


def test_a_failed_task_within_is_told(world: World, login: OneFeature) -> None:
    world.add("mine", feature_id=login.feature)
    ended = world.run(says("<task-failed>TASK</task-failed>"))
    assert (ended.outcome, ended.failed) == (RunOutcome.COMPLETE_WITH_FAILURES, 1)


def test_a_task_is_run_with_all_below_it_and_nothing_else(world: World) -> None:
    top, other = world.add("top"), world.add("other", priority=-1)
    part = world.add("part", parent_id=top)
    world.target = Subtree(top)
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    assert [world.task(one).status for one in (top, part, other)] == [
        TaskStatus.DONE,
        TaskStatus.DONE,
        TaskStatus.PENDING,
    ]


def test_a_task_that_is_held_back_is_blocked_though_another_is_ready(world: World) -> None:
    held, other = world.add("held"), world.add("other")
    world.store.tasks.apply(held, [Blocked("needs a key")])
    world.target = Subtree(held)
    assert world.run().outcome is RunOutcome.BLOCKED
    assert world.task(other).status is TaskStatus.PENDING


def test_a_task_that_is_done_is_complete_at_once(world: World) -> None:
    task = world.add("done already")
    world.store.tasks.force_done(task)
    world.add("other")
    world.target = Subtree(task)
    assert world.run().outcome is RunOutcome.COMPLETE


def test_everything_is_asked_for_without_a_target(world: World) -> None:
    feature = world.store.features.add("login")
    world.add("mine", feature_id=feature.id)
    world.add("other")
    assert world.run(world.works(text="1"), world.works(text="2")).done == 2


def test_a_task_whose_file_somebody_else_works_on_is_waited_for(
    world: World, login: OneFeature
) -> None:
    world.add("theirs", files=("src/app.py",))
    mine = world.add("mine", files=("src/app.py",), feature_id=login.feature)
    them = WorkerId("agent-them")
    alive = replace(ME, pid=world.number + 1)
    world.store.workers.join(them, RunId("theirs"), alive, 60.0)
    taken = world.store.claims.claim(them, None, AllTasks(), Schedule.PRIORITY)
    assert taken is not None

    def they_finish() -> None:
        assert world.task(mine).attempt == 0
        if world.store.claims.holds(taken):
            world.store.claims.settle(taken, Accepted(), message="done", fail_fast=False)

    world.executor.meanwhile = they_finish
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    assert world.task(mine).status is TaskStatus.DONE
