"""The machine fails, not the work: a run tries again, or pauses; nothing is forgotten."""

from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ralph.core import events
from ralph.core.errors import TemporaryFailure, UnusableData
from ralph.core.gates import Gate
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunLimits, RunOutcome
from ralph.core.snapshot import Snapshot
from ralph.core.task import TaskStatus
from ralph.engine.loop import run
from ralph.ports.executor import Command, OutputListener
from tests.doubles import Play, says
from tests.engine.world import World

NO_PROCESS = ProcessExit(error="agent cannot be started: Resource temporarily unavailable")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


class Failing:
    """A checkout in which git gives no answer at the n-th question, nor afterwards."""

    def __init__(self, workspace: object, number: int) -> None:
        self.workspace = workspace
        self.left = number

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.workspace, name)
        if not callable(value) or name == "clear_locks":
            return value

        def ask(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            if self.left <= 0:
                raise TemporaryFailure("git diff-tree was killed by signal 9")
            return value(*args, **kwargs)

        return ask


def half(world: World) -> None:
    world.workspace.edit("half.txt", "x")


def plays(exit_: ProcessExit) -> Play:
    def play(command: Command, listener: OutputListener) -> ProcessExit:
        del command, listener
        return exit_

    return play


def test_whichever_question_git_leaves_open_the_run_pauses_and_the_next_one_goes_on(
    tmp_path: Path,
) -> None:
    for number in count(1):
        world = World(tmp_path / str(number))
        world.workspace.edit("mine.txt", "a person's")
        task = world.add()
        # A first attempt, so that there is a base that could be forgotten.
        world.limits = RunLimits(iterations=1)
        world.run(says("half", does=partial(half, world)))
        world.limits = RunLimits()
        ctx = world.ctx()
        failing = Failing(world.workspace, number)
        ctx.checkout.move_to(failing)  # type: ignore[arg-type]
        world.executor.sessions = [world.works()]
        ended = run(ctx)
        if failing.left > 0:
            assert number > 5
            assert ended.outcome is RunOutcome.COMPLETE
            return
        assert (ended.outcome, ended.exit_code) == (RunOutcome.PAUSED, 6)
        assert "git diff-tree was killed" in ended.reason
        begun = len(world.store.sessions.select())
        plays_left = list(world.executor.sessions)
        again = world.run(*plays_left)
        assert again.outcome is RunOutcome.COMPLETE
        assert world.task(task).status is TaskStatus.DONE
        assert world.workspace.head == {"half.txt": "x", "work.txt": "x"}
        assert world.workspace.files["mine.txt"] == "a person's"
        assert len(world.store.sessions.select()) <= begun + len(plays_left)
        assert not [
            one for one in world.recorded(events.Warned) if "taken for yours" in one.message
        ]


def test_where_git_cannot_read_the_checkout_no_work_is_taken_for_a_persons(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add()
    world.limits = RunLimits(iterations=1)
    world.run(says("half", does=partial(half, world)))

    def spoilt() -> Snapshot:
        raise UnusableData("git cannot read what it needs: index file smaller than expected")

    with monkeypatch.context() as patch:
        patch.setattr(world.workspace, "snapshot", spoilt)
        with pytest.raises(UnusableData):
            run(world.ctx())
    world.run(world.works())
    assert world.workspace.head["half.txt"] == "x"
    assert "taken for yours" not in str(world.recorded(events.Warned))


@pytest.mark.parametrize("code", [-9, 137, -15, 143])
def test_a_gate_that_somebody_killed_runs_once_more(world: World, code: int) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, plays(ProcessExit(code=code)), 0]
    task = world.add()
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    assert world.task(task).retry_count == 0
    assert "gate test was killed from outside" in str(world.recorded(events.Warned))


def test_a_gate_that_is_killed_again_is_red(world: World) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, 137]
    world.limits = RunLimits(iterations=1)
    task = world.add()
    world.run(world.works())
    assert world.task(task).retry_count == 1


def test_an_agent_for_which_there_is_no_process_is_started_again(world: World) -> None:
    world.add()
    assert world.run(plays(NO_PROCESS), world.works()).outcome is RunOutcome.COMPLETE
    assert world.executor.slept


def test_an_agent_that_cannot_be_started_for_want_of_processes_pauses_the_run(
    world: World,
) -> None:
    task = world.add()
    world.executor.otherwise = plays(NO_PROCESS)
    ended = world.run()
    assert (ended.outcome, ended.exit_code) == (RunOutcome.PAUSED, 6)
    assert "Resource temporarily unavailable" in ended.reason
    assert world.task(task).status is TaskStatus.PENDING
    assert world.task(task).strikes == 0
