"""A wall clock that jumps: people set it, time servers correct it, laptops sleep."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.errors import Busy, CannotWrite, RalphError
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, WorkerId
from ralph.core.run import AllTasks, RunLimits, RunOutcome
from ralph.core.task import TaskStatus
from ralph.store.runs import WorkerProcess
from tests.doubles import says
from tests.engine.limited_agent import Limited
from tests.engine.world import World

DAY = 86400.0
JUMPS = [-3650 * DAY, -DAY, -1.0, 1.0, DAY, 3650 * DAY]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("jump", JUMPS)
def test_a_run_goes_on_whatever_the_sandbox_clock_says(world: World, jump: float) -> None:
    world.limits = RunLimits(run_s=3600.0)
    tasks = [world.add(f"task {number}") for number in range(3)]

    def work() -> None:
        world.clock.jump(jump)
        world.clock.advance(60.0)
        world.workspace.edit("work.txt", str(world.clock.monotonic()))

    ended = world.run(*[says("<task-done>TASK</task-done>", does=work)] * 3)
    assert ended.outcome is RunOutcome.COMPLETE
    assert ended.duration_s == 180.0, "a run's time is measured, not read from the sandbox"
    assert [world.task(task).status for task in tasks] == [TaskStatus.DONE] * 3
    numbers = [one.seq for one in world.store.events.select()]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("jump", JUMPS)
def test_the_time_of_a_run_is_counted_by_the_other_clock(world: World, jump: float) -> None:
    world.limits = RunLimits(run_s=100.0)
    world.add("first")
    world.add("second")

    def work() -> None:
        world.clock.jump(jump)
        world.clock.advance(101.0)
        world.workspace.edit("work.txt")

    ended = world.run(says("<task-done>TASK</task-done>", does=work))
    assert ended.outcome is RunOutcome.LIMIT_REACHED


@pytest.mark.parametrize(
    ("resets_in", "waits"),
    [
        (600.0, 605.0),  # clocks differ a little
        (-DAY, 300.0),  # the clock was set forward, or it was yesterday's message
        (400 * DAY, 8 * DAY),  # the clock was set back
        (None, 300.0),
    ],
)
def test_a_reset_time_that_makes_no_sense_is_not_waited_for(
    world: World, resets_in: float | None, waits: float
) -> None:
    task = world.add()
    resets_at = None if resets_in is None else world.clock.now() + resets_in
    world.agents = (Limited("claude", resets_at),)
    assert world.run(says("limit"), world.works()).outcome is RunOutcome.COMPLETE
    assert world.executor.slept == [waits]
    found = world.task(task)
    assert (found.attempt, found.retry_count, found.strikes) == (2, 0, 0)
    assert len(world.recorded(events.RunWaiting)) == 1


def test_a_live_owner_keeps_its_claim_when_the_clock_jumps(world: World) -> None:
    """Its heartbeat looks ten years old; but it lives, and it is on this host."""
    task = world.add()
    other = WorkerId("agent-other")
    living = WorkerProcess(host="here", boot_id="b", pid_namespace="n", pid=1, pid_start="1")
    world.store.workers.join(other, RunId("other"), living, 60.0)
    assert world.store.claims.claim(other, None, AllTasks(), Schedule.PRIORITY) is not None
    world.clock.jump(3650 * DAY)

    sleep = world.executor.sleep

    def give_up(seconds: float, tick: Callable[[], bool]) -> None:
        world.signal = "SIGINT"
        sleep(seconds, tick)

    world.executor.sleep = give_up  # type: ignore[method-assign]
    assert world.run().outcome is RunOutcome.INTERRUPTED
    found = world.task(task)
    assert (found.status, found.claimed_by, found.attempt) == (TaskStatus.IN_PROGRESS, other, 1)


@pytest.mark.parametrize("jump", [-3650 * DAY, 3650 * DAY])
def test_a_dead_owner_is_seen_whatever_the_clock_says(world: World, jump: float) -> None:
    task = world.add()
    dead = WorkerId("agent-dead")
    owner = WorkerProcess(host="here", boot_id="b", pid_namespace="n", pid=0, pid_start="1")
    world.store.workers.join(dead, RunId("old"), owner, 60.0)
    world.store.claims.claim(dead, None, AllTasks(), Schedule.PRIORITY)
    world.clock.jump(jump)
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    assert world.task(task).attempt == 2


@pytest.mark.parametrize("error", [Busy("held by another program"), CannotWrite("disk full")])
def test_a_heartbeat_that_cannot_be_written_ends_no_session(
    world: World, monkeypatch: pytest.MonkeyPatch, error: RalphError
) -> None:
    beats: list[object] = []

    def heartbeat(*told: object) -> None:
        beats.append(told)
        raise error

    monkeypatch.setattr(world.store.claims, "heartbeat", heartbeat)
    world.ctx().beat()
    assert len(beats) == 1
