"""A run whose sessions only fail: it stops, waits, tries one, and goes on or tells a person."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.agents.command_agent import CommandAgent
from ralph.core import events
from ralph.core.agent_events import AgentEvent, ToolResult
from ralph.core.breaker import Breaker, BreakerCause, BreakerState
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, WorkerId
from ralph.core.run import AllTasks, RunOutcome, Subtree
from ralph.core.settings import BreakerSection
from ralph.core.task import TaskStatus
from ralph.core.transitions import Accepted
from ralph.ports.agent import AgentSetup
from ralph.store.messages import ControlWord
from tests.contracts.store_test_helpers import start
from tests.doubles import says
from tests.engine.world import DEAD, World

SLOT = "teammate-1"
HM = says("hm")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def opened(world: World) -> list[str]:
    return [event.recovery for event in world.recorded(events.BreakerOpened)]  # type: ignore[union-attr]


def test_a_run_that_has_worked_waits_and_goes_on_where_it_works_again(world: World) -> None:
    for number in range(3):
        world.add(f"task {number}")
    ended = world.run(world.works("a"), HM, HM, HM, world.works("b"), world.works("c"))
    assert ended.outcome is RunOutcome.COMPLETE
    assert opened(world) == ["back_off"]
    assert (
        len(world.recorded(events.BreakerTried)) == len(world.recorded(events.BreakerClosed)) == 1
    )
    assert max(world.executor.slept) == pytest.approx(300.0, abs=2.0)
    assert world.store.breakers.get(SLOT).is_closed


def test_a_run_in_which_another_worker_has_worked_waits_as_well(world: World) -> None:
    stuck, other = world.add("stuck"), world.add("other")

    def work_elsewhere() -> None:
        store = world.store
        claim = store.claims.claim(
            WorkerId("w-2"), RunId("run-1"), Subtree(other), Schedule.PRIORITY
        )
        assert claim is not None
        start(store, claim, run_id=RunId("run-1"))
        store.claims.settle(claim, Accepted(), message="done", fail_fast=False)

    ended = world.run(says("hm", does=work_elsewhere), HM, HM, world.works("a"))
    assert opened(world) == ["back_off"]
    assert (ended.outcome, world.task(stuck).status) == (RunOutcome.COMPLETE, TaskStatus.DONE)


def test_the_second_time_the_task_is_put_aside_for_another(world: World) -> None:
    world.add("works", priority=0)
    stuck = world.add("stuck", priority=1)
    world.add("other", priority=2)
    ended = world.run(world.works("a"), HM, HM, HM, HM, world.works("b"))
    assert opened(world) == ["back_off", "skip"]
    assert world.task(stuck).status is TaskStatus.BLOCKED
    assert "put aside: 3 failures in a row" in (world.task(stuck).reason or "")
    assert ended.outcome is RunOutcome.BLOCKED


def test_when_nothing_helps_a_person_is_told(world: World) -> None:
    world.add("works", priority=0)
    world.add("stuck", priority=1)
    ended = world.run(world.works("a"), HM, HM, HM, HM, HM)
    assert ended.outcome is RunOutcome.PAUSED
    assert opened(world) == ["back_off", "hand_off", "person"]
    assert "ralph breaker reset" in ended.reason
    assert world.store.breakers.get(SLOT).state is BreakerState.OPEN


def test_the_only_task_left_is_handed_to_a_fresh_session_with_what_was_seen(world: World) -> None:
    world.add("works", priority=0)
    task = world.add("stuck", priority=1)
    # What a session says is in its stream, and that is a line for each event.
    ended = world.run(world.works("a"), HM, HM, HM, says("the port is taken\n"), world.works("b"))
    assert opened(world) == ["back_off", "hand_off"]
    assert ended.outcome is RunOutcome.COMPLETE
    briefs = sorted(world.runs_dir.glob("*.prompt.md"), key=lambda path: path.stat().st_mtime_ns)
    text = briefs[-1].read_text()
    assert "the port is taken" in text
    assert f"{task} is not done yet" in text
    assert "MEMORY.md" not in world.project_files.pages


def test_a_run_that_never_worked_tells_a_person_at_once(world: World) -> None:
    world.add()
    ended = world.run(HM, HM, HM)
    assert (ended.outcome, opened(world)) == (RunOutcome.PAUSED, ["person"])


def test_the_next_run_tries_one_session_and_no_more(world: World) -> None:
    world.add()
    world.run(HM, HM, HM)
    ended = world.run(HM)
    assert ended.outcome is RunOutcome.PAUSED
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    assert world.store.breakers.get(SLOT).is_closed


def test_failures_of_a_run_that_ended_count_in_the_next_one(world: World) -> None:
    world.add()
    world.signal = None
    world.store.breakers.save(SLOT, Breaker(failures=2, at=world.clock.now()))
    ended = world.run(HM)
    assert "3 failures in a row" in ended.reason


def test_yesterdays_failures_do_not_count(world: World) -> None:
    world.add()
    world.run(HM, HM, HM)
    world.clock.advance(86_400.0)
    ended = world.run(HM, HM, HM)
    assert "3 failures in a row" in ended.reason


def test_a_reset_lets_a_waiting_run_go_on(world: World) -> None:
    world.add("first")
    world.add("second")
    world.executor.meanwhile = lambda: world.store.breakers.save(SLOT, Breaker())
    ended = world.run(world.works("a"), HM, HM, HM, world.works("b"))
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.recorded(events.BreakerTried) == []


def test_resume_ends_the_wait_with_a_try(world: World) -> None:
    world.add("first")
    world.add("second")
    run = RunId("run-1")

    def hurry() -> None:
        if world.recorded(events.BreakerOpened):
            world.store.messages.send_control(run, ControlWord.RESUME)

    world.executor.meanwhile = hurry
    ended = world.run(world.works("a"), HM, HM, HM, world.works("b"))
    assert ended.outcome is RunOutcome.COMPLETE
    assert max(world.executor.slept, default=0.0) < 10.0
    assert len(world.recorded(events.BreakerTried)) == 1


def test_nobody_waits_for_it_when_others_have_settled_the_rest(world: World) -> None:
    world.add("works", priority=0)
    other, worker = world.add("stuck", priority=1), WorkerId("teammate-2-1")
    world.store.workers.join(worker, RunId("run-1"), DEAD, 60.0, "teammate-2")

    def others_do_it() -> None:
        if opened(world) and world.task(other).status is TaskStatus.PENDING:
            taken = world.store.claims.claim(worker, RunId("run-1"), AllTasks(), Schedule.PRIORITY)
            assert taken is not None
            world.store.claims.settle(taken, Accepted(), message="done", fail_fast=False)

    world.executor.meanwhile = others_do_it
    ended = world.run(world.works("a"), HM, HM, HM)
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.recorded(events.BreakerTried) == []


def test_nobody_waits_for_it_when_only_dependents_of_failed_tasks_are_left(world: World) -> None:
    world.add("works", priority=0)
    stuck = [world.add(f"stuck {number}", priority=1, max_retries=0) for number in range(3)]
    world.add("dependent", priority=2, blocked_by=(stuck[0],))
    ended = world.run(world.works("a"), *[says("<task-failed>TASK</task-failed>")] * 3)
    assert ended.outcome is RunOutcome.BLOCKED
    assert max(world.executor.slept, default=0.0) < 10.0


def test_a_signal_ends_a_run_that_waits_for_its_breaker(world: World) -> None:
    world.add("first")
    world.add("second")

    def interrupt() -> None:
        if world.recorded(events.BreakerOpened):
            world.signal = "SIGINT"

    world.executor.meanwhile = interrupt
    ended = world.run(world.works("a"), HM, HM, HM)
    assert ended.outcome is RunOutcome.INTERRUPTED
    assert world.store.breakers.get(SLOT).state is BreakerState.OPEN


def test_a_short_cooldown_is_waited_for_even_by_a_run_that_never_worked(world: World) -> None:
    world.breaker = BreakerSection(cooldown="2s")
    world.add()
    assert world.run(HM, HM, HM, world.works()).outcome is RunOutcome.COMPLETE


def test_research_that_is_noted_down_does_not_open_it(world: World) -> None:
    world.breaker = BreakerSection(failures=2, stagnation=2)
    world.add(max_retries=9)
    notes = says("<journal>found out how it works</journal>")
    ended = world.run(notes, notes, notes, notes, world.works())
    assert ended.outcome is RunOutcome.COMPLETE


def test_a_budget_that_was_raised_is_no_longer_spent(world: World) -> None:
    broke = Breaker(
        state=BreakerState.OPEN, cause=BreakerCause.BUDGET, reason="all spent", at=world.clock.now()
    )
    world.store.breakers.save(SLOT, broke)
    world.add()
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE


def test_a_breaker_that_opens_tells_which_tool_failed_last(world: World) -> None:
    world.agents = (Stumbling(AgentSetup(command="agent")),)
    task = world.add("stuck")
    ended = world.run(HM, HM, HM)
    assert "its last tool failed: hm" in ended.reason
    assert [one.tools.errors for one in world.store.sessions.select(task=task)] == [1, 1, 1]


class Stumbling(CommandAgent):
    """Whatever it says is what a tool of its failed with."""

    def read(self, block: bytes) -> Iterator[AgentEvent]:
        yield ToolResult(call="1", text=block.decode(), error=True)
        yield from super().read(block)
