"""Money: counted between sessions and while one works."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.adapters.agents.command_agent import CommandAgent
from ralph.core import events
from ralph.core.agent_events import AgentEvent, AgentStarted, ModelRequest
from ralph.core.breaker import BreakerCause
from ralph.core.ids import RunId
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunOutcome
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary, classify_ending
from ralph.core.settings import BudgetSection, PriceSection
from ralph.core.task import TaskStatus
from ralph.engine.agent_selection import terms_of_agent
from ralph.ports.agent import AgentSetup, BillingAccount
from ralph.ports.executor import Command, OutputListener
from ralph.store.costs import CostFilter
from ralph.store.sessions import WorkCheck
from tests.contracts.store_test_helpers import claim_of
from tests.doubles import Play
from tests.engine.world import World, a_budget

MODEL = "big"


class Metered(CommandAgent):
    """Counts a token for each byte that it says; somebody pays for them, or nobody does."""

    def __init__(self, *, billed: bool = True, told: bool = False) -> None:
        super().__init__(AgentSetup(command="agent"))
        self.billed = billed
        self.told = told
        """It says what it cost, but only in the end."""

    def account(self, env: object, files: object) -> BillingAccount:
        return BillingAccount(name="a key", billed=self.billed)

    def read(self, block: bytes) -> Iterator[AgentEvent]:
        yield AgentStarted(model=MODEL)
        yield ModelRequest(output_tokens=len(block))
        yield from super().read(block)

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        ending = super().ending(digest, exit_)
        used = classify_ending(digest, exit_)
        cost = float(used.output_tokens or 0) if self.told else None
        return replace(ending, model=MODEL, output_tokens=used.output_tokens, cost_usd=cost)


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.agents = (Metered(),)
    # A dollar for each byte.
    world.prices = {MODEL: PriceSection(output=1_000_000.0)}
    return world


def speaks(world: World, *words: str, edits: str = "work.txt") -> Play:
    """Says word after word, half a minute apart, unless it is stopped."""

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        world.workspace.edit(edits, "x")
        for word in words:
            listener.output(word.replace("TASK", command.env["RALPH_TASK_ID"]).encode())
            world.clock.advance(30.0)
            if stop := listener.tick():
                return ProcessExit(code=-15, stop=stop)
        return ProcessExit(code=0)

    return play


def warned(world: World) -> list[str]:
    return [event.message for event in world.recorded(events.Warned)]  # type: ignore[union-attr]


CLAIM = "<task-done>TASK</task-done>"
COST = len("<task-done>t-000001</task-done>")


def test_a_session_is_stopped_in_mid_flight_when_its_money_is_spent(world: World) -> None:
    world.budget = a_budget(session_usd=100.0)
    task = world.add()
    world.run(speaks(world, "x" * 60, "y" * 60, CLAIM), speaks(world, CLAIM))
    first = world.store.sessions.get(task, 1)
    assert first is not None
    assert first.ending is not None
    assert first.ending.ended is EndingKind.BUDGET_LIMIT
    assert (first.ending.cost_usd, first.ending.estimated) == (120.0, True)
    assert world.task(task).status is TaskStatus.DONE


def test_a_warning_comes_before_the_end(world: World) -> None:
    world.budget = a_budget(session_usd=100.0)
    world.add()
    world.run(speaks(world, "x" * 85, CLAIM.replace("TASK", "x")), speaks(world, CLAIM))
    assert any("$85.00 of $100.00 for a session" in line for line in warned(world))


def test_tokens_are_counted_where_nobody_knows_the_price(world: World) -> None:
    world.prices = {}
    world.agents = (Metered(billed=False),)
    world.budget = a_budget(session_tokens=100)
    task = world.add()
    world.run(speaks(world, "x" * 120, CLAIM), speaks(world, CLAIM))
    first = world.store.sessions.get(task, 1)
    assert first is not None
    assert first.ending is not None
    assert first.ending.ended is EndingKind.BUDGET_LIMIT
    assert first.ending.cost_usd is None


def test_tokens_are_warned_of_before_they_stop_a_session_that_nobody_pays_for(world: World) -> None:
    world.prices = {}
    world.agents = (Metered(billed=False),)
    world.budget = a_budget(session_tokens=150)
    world.add()
    world.run(speaks(world, "x" * 85, "y" * 35, "z" * 31, CLAIM), speaks(world, CLAIM))
    assert warned(world) == [
        "120 of 150 tokens for a session are used; [budget] session_tokens sets that",
        "151 of 150 tokens for a session are used; [budget] session_tokens sets that",
    ]


class Switched(Metered):
    """Stops itself when it has spent what it may."""

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        return replace(super().ending(digest, exit_), ended=EndingKind.BUDGET_LIMIT)


@pytest.mark.parametrize(
    ("budget", "strikes"), [(a_budget(session_usd=20.0), 1), (a_budget(run_usd=20.0), 0)]
)
def test_whose_limit_a_session_has_met_by_its_own_switch(
    world: World, budget: BudgetSection, strikes: int
) -> None:
    world.agents, world.prices = (Switched(told=True),), {}
    world.budget = budget
    world.limits = replace(world.limits, iterations=1)
    task = world.add()
    world.run(speaks(world, "x" * 21))
    found = world.task(task)
    assert (found.status, found.strikes) == (TaskStatus.PENDING, strikes)


class Silent(Metered):
    """Says what it has used only in the end."""

    def read(self, block: bytes) -> Iterator[AgentEvent]:
        yield AgentStarted(model=MODEL)
        yield from CommandAgent.read(self, block)


@pytest.mark.parametrize("budget", [a_budget(session_usd=100.0), a_budget(session_tokens=25)])
def test_who_reports_nothing_while_it_works_is_measured_by_its_words(
    world: World, budget: BudgetSection
) -> None:
    # Four characters to a token, each of which costs four dollars.
    world.agents, world.prices = (Silent(),), {MODEL: PriceSection(input=4_000_000.0)}
    world.budget = budget
    task = world.add()
    world.run(speaks(world, "x" * 60, "y" * 60, CLAIM), speaks(world, CLAIM))
    first = world.store.sessions.get(task, 1)
    assert first is not None
    assert first.ending is not None
    assert first.ending.ended is EndingKind.BUDGET_LIMIT


def test_who_was_stopped_before_it_could_sum_up_has_cost_something(world: World) -> None:
    world.agents, world.prices = (Silent(),), {MODEL: PriceSection(input=4_000_000.0)}
    world.budget = a_budget(run_usd=100.0)
    task = world.add()
    ended = world.run(speaks(world, "x" * 60, "y" * 60, CLAIM))
    assert ended.outcome is RunOutcome.PAUSED, "or it would be begun again and again"
    assert "~$120.00" in str(world.store.costs.total(CostFilter(task=task)))
    assert world.task(task).strikes == 0


def test_what_other_runs_spend_meanwhile_counts_for_the_project(world: World) -> None:
    world.agents, world.prices = (Metered(told=True),), {}
    world.budget = a_budget(project_usd=COST * 2.0)
    first, second = world.add("first"), world.add("second")

    def elsewhere(command: Command, listener: OutputListener) -> ProcessExit:
        begun = world.store.sessions.select()[0]
        check = WorkCheck(
            session_id=begun.id,
            number=1,
            task_id=second,
            run_id=RunId("elsewhere"),
            agent="command",
            ended_at=begun.started_at,
            ending=SessionEnding(ended=EndingKind.FINISHED, cost_usd=COST * 1.0),
        )
        world.store.checks.save(check, claim_of(world.store, begun))
        return speaks(world, CLAIM)(command, listener)

    ended = world.run(elsewhere)
    assert world.task(first).status is TaskStatus.DONE
    assert ended.outcome is RunOutcome.PAUSED
    assert "[budget] project_usd" in ended.reason


def test_a_limit_that_was_raised_closes_the_breaker(world: World) -> None:
    world.agents, world.prices = (Metered(told=True),), {}
    world.budget = a_budget(project_usd=COST * 1.0)
    world.add("a")
    world.add("b")
    world.run(speaks(world, CLAIM, edits="a"))
    assert world.run().outcome is RunOutcome.PAUSED
    assert world.recorded(events.BreakerClosed) == [], "there is no more money than before"
    assert warned(world) == [], "what opens the breaker is not told twice"
    another = world.store.breakers.get("teammate-1")
    world.store.breakers.save("teammate-2", another)
    world.budget = a_budget(project_usd=COST * 9.0)
    world.run(speaks(world, CLAIM, edits="b"))
    assert all(one.is_closed for one in world.store.breakers.all().values())
    assert len(world.recorded(events.BreakerClosed)) == 2, "also of a slot that is empty now"


def test_a_run_that_has_spent_its_money_pauses_and_says_how_to_raise_it(world: World) -> None:
    world.agents, world.prices = (Metered(told=True),), {}
    world.budget = a_budget(run_usd=COST * 2.0)
    for number in range(3):
        world.add(f"task {number}")
    ended = world.run(speaks(world, CLAIM, edits="a"), speaks(world, CLAIM, edits="b"))
    assert ended.outcome is RunOutcome.PAUSED
    assert "[budget] run_usd" in ended.reason
    assert world.store.breakers.get("teammate-1").cause is BreakerCause.BUDGET
    assert world.run(speaks(world, CLAIM, edits="c")).outcome is RunOutcome.COMPLETE, "a new run"


def test_what_earlier_runs_have_spent_counts_for_the_project(world: World) -> None:
    world.budget = a_budget(project_usd=COST * 1.5)
    world.add("first")
    assert world.run(speaks(world, CLAIM, edits="a")).outcome is RunOutcome.COMPLETE
    second = world.add("second")
    ended = world.run(speaks(world, "x" * COST, CLAIM))
    assert ended.outcome is RunOutcome.PAUSED
    assert "[budget] project_usd" in ended.reason
    assert world.task(second).strikes == 0, "that is not the task's fault"
    assert world.run().outcome is RunOutcome.PAUSED, "nothing more is started"


def test_on_a_subscription_the_limits_only_warn(world: World) -> None:
    world.agents = (Metered(billed=False),)
    world.budget = a_budget(session_usd=10.0, run_usd=COST * 1.0)
    world.add("a")
    world.add("b")
    ended = world.run(speaks(world, CLAIM, edits="a"), speaks(world, CLAIM, edits="b"))
    assert ended.outcome is RunOutcome.COMPLETE
    lines = [line for line in warned(world) if "for this run" in line]
    assert any("nothing stops" in line for line in lines)
    assert len(lines) == len(set(lines))


def test_a_budget_can_be_made_hard_or_soft_for_everybody(world: World) -> None:
    world.agents, world.prices = (Metered(billed=False, told=True),), {}
    world.budget, world.budget_hard = a_budget(run_usd=1.0), "always"
    world.add("a")
    world.add("b")
    assert world.run(speaks(world, CLAIM)).outcome is RunOutcome.PAUSED
    world.agents, world.budget_hard = (Metered(),), "never"
    assert world.run(speaks(world, CLAIM, edits="b")).outcome is RunOutcome.COMPLETE


def test_an_agent_with_a_switch_of_its_own_is_told_what_is_left(world: World) -> None:
    world.budget = a_budget(session_usd=50.0, run_usd=100.0)
    ctx = world.ctx()
    assert terms_of_agent(ctx, ctx.agents.current).budget_usd == 50.0
    ctx.budget_tracker.usage = replace(ctx.budget_tracker.usage, run_usd=90.0)
    assert terms_of_agent(ctx, ctx.agents.current).budget_usd == 10.0


PASS = "<verify-pass/>"


def test_what_a_check_costs_counts_and_no_check_is_begun_without_money(world: World) -> None:
    world.verify = True
    world.agents, world.prices = (Metered(told=True),), {}
    world.budget = a_budget(run_usd=COST * 1.0)
    task = world.add()
    ended = world.run(speaks(world, CLAIM))
    assert ended.outcome is RunOutcome.PAUSED
    assert "[budget] run_usd" in ended.reason
    assert world.store.checks.of_session(world.store.sessions.select()[0].id) == []
    world.budget = a_budget(run_usd=COST * 3.0)
    ended = world.run(speaks(world, PASS))
    assert ended.outcome is RunOutcome.COMPLETE, "the work is not done again"
    assert ended.cost_usd == len(PASS)
    assert world.task(task).verification_status == "passed"


def test_a_verifier_that_is_billed_pauses_the_run_though_the_work_is_not(world: World) -> None:
    world.verify = True
    world.agents, world.verifiers = (Metered(billed=False),), (Metered(),)
    world.budget = a_budget(run_usd=COST + 20.0)
    task = world.add()
    ended = world.run(speaks(world, CLAIM), speaks(world, "x" * 30, PASS))
    assert ended.outcome is RunOutcome.PAUSED
    assert "[budget] run_usd" in ended.reason
    found = world.task(task)
    assert (found.status, found.retry_count, found.strikes) == (TaskStatus.PENDING, 0, 0)
    assert world.run(speaks(world, PASS)).outcome is RunOutcome.COMPLETE


def test_a_check_that_costs_more_than_a_session_may_is_tried_again(world: World) -> None:
    world.verify = True
    world.budget = a_budget(session_usd=100.0)
    world.add()
    world.run(speaks(world, CLAIM), speaks(world, "x" * 120, PASS), speaks(world, PASS))
    (session,) = world.store.sessions.select()
    ends = [one.ending and one.ending.ended for one in world.store.checks.of_session(session.id)]
    assert ends == [EndingKind.BUDGET_LIMIT, EndingKind.FINISHED]
