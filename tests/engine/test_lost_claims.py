"""Workers that take over from one another, and those that do not know it yet."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ralph.core import events
from ralph.core.gates import Gate
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.process_exit import ProcessExit
from ralph.core.run import AllTasks, RunOutcome
from ralph.core.task import TaskStatus
from ralph.core.transitions import Released
from ralph.engine.crash_recovery import recover_dead_workers
from ralph.ports.executor import Command, OutputListener
from ralph.store.claims import Claim
from ralph.store.costs import CostFilter
from tests.contracts.store_test_helpers import take_over
from tests.doubles import Play, exits, says
from tests.engine.world import ME, World

FAR = WorkerId("agent-far")
LEASE_S = 60.0


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def joins(world: World, worker: WorkerId = FAR) -> None:
    owner = replace(ME, host="far away", pid=77)
    world.store.workers.join(worker, RunId("run-far"), owner, LEASE_S)


def claims(world: World, worker: WorkerId = FAR) -> Claim:
    taken = world.store.claims.claim(worker, None, AllTasks(), Schedule.PRIORITY)
    assert taken is not None
    return taken


def takes_over(world: World, task: TaskId) -> Claim:
    """A worker elsewhere believes that the holder is dead."""
    stored = world.task(task)
    assert stored.claimed_by is not None
    held = Claim(task=stored, worker=stored.claimed_by, attempt=stored.attempt)
    return take_over(world.store, held, FAR)


def gives_back(world: World, claim: Claim) -> None:
    why = "its worker died"
    world.store.claims.settle(claim, Released(why), message=why, fail_fast=False)


def test_a_worker_elsewhere_is_taken_over_after_it_was_watched_for_a_lease(world: World) -> None:
    joins(world)
    task = world.add()
    claims(world)
    # By the clock its lease has expired long ago.
    world.clock.advance(LEASE_S * 100)
    began = world.clock.now()
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    assert LEASE_S <= world.clock.now() - began < LEASE_S * 1.5
    assert world.task(task).attempt == 2


def test_a_worker_elsewhere_that_lives_is_waited_for(world: World) -> None:
    joins(world)
    task = world.add()
    held = claims(world)
    sleeps = 0

    def meanwhile() -> None:
        nonlocal sleeps
        sleeps += 1
        world.store.claims.heartbeat(FAR, LEASE_S)
        if sleeps == 500:
            gives_back(world, held)

    world.executor.meanwhile = meanwhile
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    assert world.task(task).attempt == 2


def test_a_run_that_is_overtaken_while_it_recovers_goes_on(world: World) -> None:
    """It has taken over the claim of a dead worker; before it gives it back, another takes it."""
    joins(world)
    task = world.add()
    gone = replace(ME, pid=0)
    world.store.workers.join(WorkerId("agent-gone"), RunId("run-gone"), gone, LEASE_S)
    claims(world, WorkerId("agent-gone"))
    ctx = world.ctx()
    world.store.workers.join(ctx.settings.worker, RunId("run-1"), ctx.settings.owner, LEASE_S)

    class Overtaken:
        """The claims, where another worker is quicker."""

        def __getattr__(self, name: str) -> Any:
            return getattr(world.store.claims, name)

        def settle(self, claim: Claim, *args: Any, **kwargs: Any) -> object:
            takes_over(world, task)
            return world.store.claims.settle(claim, *args, **kwargs)

    class Parts:
        claims = Overtaken()

        def __getattr__(self, name: str) -> Any:
            return getattr(world.store, name)

    parts: Any = Parts()
    recover_dead_workers(replace(ctx, store=parts))
    assert world.task(task).claimed_by == FAR


def loses_its_claim(world: World, task: TaskId, *, is_given_back: bool) -> Play:
    """A session during which another worker takes over."""

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        world.workspace.edit("half.txt")
        taken = takes_over(world, task)
        if is_given_back:
            gives_back(world, taken)
        return says("<task-done>TASK</task-done>")(command, listener)

    return play


def test_the_work_of_a_session_that_lost_its_claim_is_kept_aside(world: World) -> None:
    joins(world)
    task, other = world.add("first"), world.add("other", priority=1)
    world.executor.meanwhile = lambda: gives_back(
        world, Claim(task=world.task(task), worker=FAR, attempt=1)
    )
    ended = world.run(
        loses_its_claim(world, task, is_given_back=False), world.works("b"), world.works("a")
    )
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.workspace.head == {"a": "x", "b": "x"}
    assert world.workspace.saved[f"refs/ralph/{task}/1"]["half.txt"] == "x"
    assert [world.task(one).status for one in (task, other)] == [TaskStatus.DONE] * 2
    assert world.store.costs.total(CostFilter()).sessions == 3, "it has cost something all the same"


def test_a_session_that_lost_its_claim_to_the_next_attempt_is_not_judged(world: World) -> None:
    joins(world)
    task = world.add("first")
    ended = world.run(loses_its_claim(world, task, is_given_back=True), world.works("a"))
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.workspace.head == {"a": "x"}
    assert [one.attempt for one in world.store.sessions.select(task=task)] == [1, 2]


def test_a_claim_that_is_lost_while_gates_run_ends_no_run(world: World) -> None:
    joins(world)
    world.gates = (Gate(name="test", command="make test"),)
    task = world.add("first")

    def taken(command: Command, listener: OutputListener) -> ProcessExit:
        gives_back(world, takes_over(world, task))
        return exits(0)(command, listener)

    world.executor.gates["make test"] = [0, taken, 0]
    ended = world.run(world.works("half.txt"), world.works("a"))
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.workspace.head == {"a": "x"}
    assert len(world.recorded(events.TaskDone)) == 1


def test_a_claim_whose_answer_was_lost_is_not_held_for_ever(world: World) -> None:
    task = world.add()
    ctx = world.ctx()

    class Deaf:
        """The claims; the answer to the first claim does not arrive."""

        is_first = True

        def __getattr__(self, name: str) -> Any:
            return getattr(world.store.claims, name)

        def claim(self, *args: Any) -> Claim | None:
            taken = world.store.claims.claim(*args)
            is_first, self.is_first = self.is_first, False
            return None if is_first else taken

    class Parts:
        claims = Deaf()

        def __getattr__(self, name: str) -> Any:
            return getattr(world.store, name)

    from ralph.engine.loop import run

    parts: Any = Parts()
    world.executor.sessions = [world.works()]
    assert run(replace(ctx, store=parts)).outcome is RunOutcome.COMPLETE
    assert world.task(task).attempt == 1
