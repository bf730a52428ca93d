"""How a run ends: each terminal condition by name, and which comes before which."""

from pathlib import Path

import pytest

from ralph.core.errors import RalphError
from ralph.core.events import RunStarted
from ralph.core.process_exit import ProcessExit
from ralph.core.run import EXIT_CODES, RunLimits, RunOutcome
from ralph.core.task import TaskStatus
from ralph.ports.executor import Command, OutputListener
from tests.doubles import says
from tests.engine.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_an_empty_graph_is_no_plan_whatever_the_limit(world: World) -> None:
    world.limits = RunLimits(iterations=1)
    assert world.run().outcome is RunOutcome.NO_PLAN


def test_all_done_is_complete(world: World) -> None:
    world.add()
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE


def test_all_settled_with_a_failure_among_them_is_complete_with_failures(world: World) -> None:
    world.add("first")
    world.add("second", priority=9)
    ended = world.run(says("<task-failed>TASK</task-failed>"), world.works())
    assert ended.outcome is RunOutcome.COMPLETE_WITH_FAILURES
    assert (ended.done, ended.failed) == (1, 1)


def test_complete_comes_before_the_limit(world: World) -> None:
    world.limits = RunLimits(iterations=1)
    world.add()
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE


def test_open_tasks_of_which_none_can_run_are_blocked(world: World) -> None:
    first = world.add("first")
    world.add("second", blocked_by=(first,))
    ended = world.run(says("<task-failed>TASK</task-failed>"))
    assert ended.outcome is RunOutcome.BLOCKED


def test_the_limit_comes_before_blocked(world: World) -> None:
    world.limits = RunLimits(iterations=1)
    first = world.add("first")
    world.add("second", blocked_by=(first,))
    ended = world.run(says("<task-failed>TASK</task-failed>"))
    assert ended.outcome is RunOutcome.LIMIT_REACHED


def test_a_limit_leaves_the_rest_for_later(world: World) -> None:
    world.limits = RunLimits(iterations=1)
    world.add("first")
    second = world.add("second", priority=9)
    assert world.run(world.works()).outcome is RunOutcome.LIMIT_REACHED
    assert world.task(second).status is TaskStatus.PENDING


def test_no_limit_is_no_limit(world: World) -> None:
    world.limits = RunLimits(iterations=0)
    for number in range(4):
        world.add(f"task {number}")
    plays = [world.works(text=str(number)) for number in range(4)]
    assert world.run(*plays).outcome is RunOutcome.COMPLETE


@pytest.mark.parametrize("claim", ["done", "failed"])
def test_a_promise_of_failure_comes_before_any_claim(world: World, claim: str) -> None:
    task = world.add()
    said = f"<task-{claim}>TASK</task-{claim}>\n<promise>FAILURE</promise>"
    ended = world.run(says(said, does=lambda: world.workspace.edit("work.txt", "x")))
    assert ended.outcome is RunOutcome.FAILURE
    found = world.task(task)
    assert (found.status, found.claimed_by, found.retry_count) == (TaskStatus.PENDING, None, 0)


def test_done_comes_before_failed(world: World) -> None:
    task = world.add()
    both = "<task-failed>TASK</task-failed>\n<task-done>TASK</task-done>"
    world.run(says(both, does=lambda: world.workspace.edit("work.txt", "x")))
    assert world.task(task).status is TaskStatus.DONE


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (RunOutcome.COMPLETE, 0),
        (RunOutcome.FAILURE, 1),
        (RunOutcome.BLOCKED, 2),
        (RunOutcome.NO_PLAN, 3),
        (RunOutcome.LIMIT_REACHED, 4),
        (RunOutcome.COMPLETE_WITH_FAILURES, 5),
        (RunOutcome.PAUSED, 6),
        (RunOutcome.INTERRUPTED, 130),
    ],
)
def test_every_outcome_has_its_exit_code(outcome: RunOutcome, code: int) -> None:
    assert EXIT_CODES[outcome] == code


def test_nothing_starts_while_abort_is_there(world: World) -> None:
    world.project_files.pages[".ralph/ABORT"] = ""
    world.add()
    with pytest.raises(RalphError, match="ABORT") as refused:
        world.run()
    assert refused.value.hint == "rm .ralph/ABORT"
    assert world.recorded(RunStarted) == []


def test_abort_ends_a_run_before_the_next_session(world: World) -> None:
    first, second = world.add("first"), world.add("second", priority=9)

    def abort() -> None:
        world.workspace.edit("work.txt")
        world.project_files.pages[".ralph/ABORT"] = ""

    ended = world.run(says("<task-done>TASK</task-done>", does=abort))
    assert ended.outcome is RunOutcome.PAUSED
    assert "rm .ralph/ABORT" in ended.reason
    assert world.task(first).status is TaskStatus.DONE
    assert world.task(second).status is TaskStatus.PENDING


def test_a_session_that_dies_of_the_signal_that_stops_ralph_costs_nothing(world: World) -> None:
    task = world.add()

    def killed_with_us(command: Command, listener: OutputListener) -> ProcessExit:
        del command, listener
        world.signal = "SIGTERM"
        return ProcessExit(code=-15)

    ended = world.run(killed_with_us)
    assert ended.outcome is RunOutcome.INTERRUPTED
    given_back = world.task(task)
    assert (given_back.status, given_back.strikes) == (TaskStatus.PENDING, 0)
