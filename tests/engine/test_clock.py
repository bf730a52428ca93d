"""A wall clock that jumps: people set it, time servers correct it, laptops sleep."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.ids import RunId, WorkerId
from ralph.core.limits import Limits
from ralph.core.order import Schedule
from ralph.core.outcome import Outcome
from ralph.core.target import Everything
from ralph.core.task import Status
from ralph.ports.crew import Owner
from ralph.testing.doubles import says
from tests.engine.limited import Limited
from tests.engine.world import World

DAY = 86400.0
JUMPS = [-3650 * DAY, -DAY, -1.0, 1.0, DAY, 3650 * DAY]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("jump", JUMPS)
def test_a_run_goes_on_whatever_the_wall_clock_says(world: World, jump: float) -> None:
    world.limits = Limits(run_s=3600.0)
    tasks = [world.add(f"task {number}") for number in range(3)]

    def work() -> None:
        world.clock.jump(jump)
        world.clock.advance(60.0)
        world.workspace.edit("work.txt", str(world.clock.monotonic()))

    ended = world.run(*[says("<task-done>TASK</task-done>", does=work)] * 3)
    assert ended.outcome is Outcome.COMPLETE
    assert ended.duration_s == 180.0, "a run's time is measured, not read from the wall"
    assert [world.task(task).status for task in tasks] == [Status.DONE] * 3
    numbers = [one.seq for one in world.store.events()]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("jump", JUMPS)
def test_the_time_of_a_run_is_counted_by_the_other_clock(world: World, jump: float) -> None:
    world.limits = Limits(run_s=100.0)
    world.add("first")
    world.add("second")

    def work() -> None:
        world.clock.jump(jump)
        world.clock.advance(101.0)
        world.workspace.edit("work.txt")

    ended = world.run(says("<task-done>TASK</task-done>", does=work))
    assert ended.outcome is Outcome.LIMIT_REACHED


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
    assert world.run(says("limit"), world.works()).outcome is Outcome.COMPLETE
    assert world.executor.slept == [waits]
    found = world.task(task)
    assert (found.attempt, found.retry_count, found.strikes) == (2, 0, 0)
    assert len(world.told(events.RunWaiting)) == 1


def test_a_live_owner_keeps_its_claim_when_the_clock_jumps(world: World) -> None:
    """Its heartbeat looks ten years old; but it lives, and it is on this host."""
    task = world.add()
    other = WorkerId("agent-other")
    living = Owner(host="here", boot_id="b", pid_namespace="n", pid=1, pid_start="1")
    world.store.join(other, RunId("other"), living, 60.0)
    assert world.store.claim(other, None, Everything(), Schedule.PRIORITY) is not None
    world.clock.jump(3650 * DAY)

    sleep = world.executor.sleep

    def give_up(seconds: float, tick: Callable[[], bool]) -> None:
        world.signal = "SIGINT"
        sleep(seconds, tick)

    world.executor.sleep = give_up  # type: ignore[method-assign]
    assert world.run().outcome is Outcome.INTERRUPTED
    found = world.task(task)
    assert (found.status, found.claimed_by, found.attempt) == (Status.IN_PROGRESS, other, 1)


@pytest.mark.parametrize("jump", [-3650 * DAY, 3650 * DAY])
def test_a_dead_owner_is_seen_whatever_the_clock_says(world: World, jump: float) -> None:
    task = world.add()
    dead = WorkerId("agent-dead")
    owner = Owner(host="here", boot_id="b", pid_namespace="n", pid=0, pid_start="1")
    world.store.join(dead, RunId("old"), owner, 60.0)
    world.store.claim(dead, None, Everything(), Schedule.PRIORITY)
    world.clock.jump(jump)
    assert world.run(world.works()).outcome is Outcome.COMPLETE
    assert world.task(task).attempt == 2
