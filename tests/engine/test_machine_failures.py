"""The machine fails, not the work: a run tries again, or pauses; nothing is forgotten."""

from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ralph.core import events
from ralph.core.ending import Exit
from ralph.core.errors import TemporaryFailure
from ralph.core.gates import Gate
from ralph.core.limits import Limits
from ralph.core.outcome import Outcome
from ralph.core.task import Status
from ralph.engine.loop import run
from ralph.ports.executor import Command, Listener
from ralph.testing.doubles import Play, says
from tests.engine.world import World

NO_PROCESS = Exit(error="agent cannot be started: Resource temporarily unavailable")


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


def plays(exit_: Exit) -> Play:
    def play(command: Command, listener: Listener) -> Exit:
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
        world.limits = Limits(iterations=1)
        world.run(says("half", does=partial(half, world)))
        world.limits = Limits()
        kit = world.kit()
        failing = Failing(world.workspace, number)
        kit.workspace = failing  # type: ignore[assignment]
        world.executor.sessions = [world.works()]
        ended = run(kit)
        if failing.left > 0:
            assert number > 5
            assert ended.outcome is Outcome.COMPLETE
            return
        assert (ended.outcome, ended.exit_code) == (Outcome.PAUSED, 6)
        assert "git diff-tree was killed" in ended.reason
        begun = len(world.store.sessions())
        plays_left = list(world.executor.sessions)
        again = world.run(*plays_left)
        assert again.outcome is Outcome.COMPLETE
        assert world.task(task).status is Status.DONE
        assert world.workspace.head == {"half.txt": "x", "work.txt": "x"}
        assert world.workspace.files["mine.txt"] == "a person's"
        assert len(world.store.sessions()) <= begun + len(plays_left)
        assert not [one for one in world.told(events.Warned) if "taken for yours" in one.message]


@pytest.mark.parametrize("code", [-9, 137, -15, 143])
def test_a_gate_that_somebody_killed_runs_once_more(world: World, code: int) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, plays(Exit(code=code)), 0]
    task = world.add()
    assert world.run(world.works()).outcome is Outcome.COMPLETE
    assert world.task(task).retry_count == 0
    assert "gate test was killed from outside" in str(world.told(events.Warned))


def test_a_gate_that_is_killed_again_is_red(world: World) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, 137]
    world.limits = Limits(iterations=1)
    task = world.add()
    world.run(world.works())
    assert world.task(task).retry_count == 1


def test_an_agent_for_which_there_is_no_process_is_started_again(world: World) -> None:
    world.add()
    assert world.run(plays(NO_PROCESS), world.works()).outcome is Outcome.COMPLETE
    assert world.executor.slept


def test_an_agent_that_cannot_be_started_for_want_of_processes_pauses_the_run(
    world: World,
) -> None:
    task = world.add()
    world.executor.otherwise = plays(NO_PROCESS)
    ended = world.run()
    assert (ended.outcome, ended.exit_code) == (Outcome.PAUSED, 6)
    assert "Resource temporarily unavailable" in ended.reason
    assert world.task(task).status is Status.PENDING
    assert world.task(task).strikes == 0
