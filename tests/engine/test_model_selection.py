"""The model of each session, chosen before it begins and kept on record."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.adapters.agents.scripted_agent import ScriptedAgent
from ralph.core import events
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunLimits, RunOutcome
from ralph.core.settings import ModelsSection, PriceSection, Strategy
from ralph.core.transitions import Retried
from ralph.ports.agent import AgentSetup
from ralph.ports.executor import Command, OutputListener
from tests.doubles import Play, says
from tests.engine.limited_agent import Limited
from tests.engine.test_crash_recovery import deaths
from tests.engine.world import World

NAMES = {"command": {"haiku": "small", "sonnet": "medium", "opus": "large"}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def by(
    strategy: Strategy, model: str = "", tiers: dict[str, dict[str, str]] = NAMES
) -> ModelsSection:
    return ModelsSection(strategy=strategy, model=model, tiers=tiers)


def asked(world: World) -> list[str]:
    """The model of every session that began, as the screens hear it."""
    return [one.model for one in world.recorded(events.SessionStarted)]  # type: ignore[union-attr]


def a_scripted_agent(world: World) -> ScriptedAgent:
    """Reads events, and knows all tiers by their own names."""
    script = world.runs_dir / "script.toml"
    script.write_text("")
    world.models = replace(world.models, tiers={})
    return ScriptedAgent(AgentSetup(command=str(script)))


def empty() -> Play:
    """A session that claims its task without any work behind it."""
    return says("<task-done>TASK</task-done>")


def test_a_fixed_model_is_passed_on_as_it_is(world: World) -> None:
    world.models = by("fixed", "gpt-5.5")
    world.add("a")
    world.add("b")
    world.run(world.works("a"), world.works("b"))
    assert asked(world) == ["gpt-5.5", "gpt-5.5"]
    kept = world.store.sessions.select()[0]
    assert (kept.model, kept.tier, kept.strategy) == ("gpt-5.5", "", "fixed")


def test_a_tier_is_called_as_its_agent_knows_it(world: World) -> None:
    world.models = by("fixed", "opus")
    world.add("a")
    world.run(world.works("a"))
    assert asked(world) == ["large"]
    assert world.store.sessions.select()[0].tier == "opus"


def test_who_steps_in_is_told_a_tier_but_no_name_of_the_first_agents(world: World) -> None:
    for model, text in (("gpt-5.5", ""), ("opus", "large")):
        here = World(world.runs_dir)
        here.agents = (Limited("first", here.clock.now() + 3600), Limited("second"))
        here.models = by("fixed", model, {"second": NAMES["command"]})
        here.add("a")
        here.run(says("limit"), here.works("a"))
        assert asked(here)[1] == text


def test_a_tier_that_an_agent_does_not_know_is_its_own_choice(world: World) -> None:
    world.models = by("cost-optimized", tiers={})
    world.add("a")
    world.run(world.works("a"))
    assert asked(world) == [""]
    assert world.store.sessions.select()[0].tier == "sonnet"


@pytest.mark.parametrize(
    ("strategy", "model", "warned"),
    [
        ("fixed", "opus", True),
        ("fixed", "a-model", False),
        ("fixed", "haiku", False),
        ("cost-optimized", "", False),
    ],
)
def test_a_person_who_wants_a_tier_that_there_is_not_is_told(
    world: World, strategy: Strategy, model: str, *, warned: bool
) -> None:
    world.models = by(strategy, model, tiers={"command": {"haiku": "small"}})
    world.add("a")
    world.run(world.works("a"))
    recorded = [
        one.message
        for one in world.recorded(events.Warned)
        if "no model called opus" in one.message
    ]  # type: ignore[union-attr]
    assert len(recorded) == warned


def test_cost_optimized_follows_what_happens(world: World) -> None:
    world.models = by("cost-optimized")
    for name in "abcde":
        world.add(name)
    works = [world.works(name) for name in "abcde"]
    world.run(works[0], works[1], works[2], works[3], empty(), works[4])
    assert asked(world) == ["medium", "medium", "medium", "small", "small", "large"]


def test_escalate_climbs_with_every_try_at_a_hard_task(world: World) -> None:
    world.models = by("escalate")
    world.add("hard")
    world.add("easy", priority=9)
    world.run(empty(), empty(), world.works("hard"), world.works("easy"))
    assert asked(world) == ["small", "medium", "large", "large"]


def test_a_run_begins_with_a_plan(world: World) -> None:
    world.models = by("plan-then-execute")
    world.add("a")
    world.add("b")
    world.run(world.works("a"), world.works("b"))
    world.add("c")
    world.run(world.works("c"))
    assert asked(world) == ["large", "medium", "large"]


def test_a_session_that_was_cut_short_at_no_cost_was_not_the_first(world: World) -> None:
    world.models = by("plan-then-execute")
    world.agents = (a_scripted_agent(world),)
    world.add("a")
    limit = says('{"event":"limit","status":"rejected"}\n', code=1)
    done = '{"event":"result","text":"<task-done>TASK</task-done>"}\n'
    world.run(limit, says(done, does=lambda: world.workspace.edit("a", "x")))
    assert asked(world) == ["opus", "opus"]


def test_a_hint_is_followed_said_and_logged(world: World) -> None:
    world.models = by("fixed", "gpt-5.5")
    world.add("a")
    task = world.add("b")
    world.add("c")
    hint = "<next-model>opus</next-model> <task-done>TASK</task-done>"
    asks = says(hint, does=lambda: world.workspace.edit("a", "x"))
    world.run(asks, world.works("b"), world.works("c"))
    assert asked(world) == ["gpt-5.5", "large", "gpt-5.5"]
    assert world.recorded(events.ModelOverridden) == [
        events.ModelOverridden(task_id=task, model="opus", planned="gpt-5.5", strategy="fixed")
    ]
    assert "asked for opus (fixed: gpt-5.5)" in world.store.tasks.logs(task)[0].message


def test_a_hint_that_the_agent_has_no_name_for_changes_nothing(world: World) -> None:
    world.models = by("fixed", "gpt-5.5", tiers={})
    world.add("a")
    world.add("b")
    hint = "<next-model>opus</next-model> <task-done>TASK</task-done>"
    asks = says(hint, does=lambda: world.workspace.edit("a", "x"))
    world.run(asks, world.works("b"))
    assert asked(world) == ["gpt-5.5", "gpt-5.5"]
    assert not world.recorded(events.ModelOverridden)
    assert any("command has none" in str(one) for one in world.recorded(events.Warned))


def is_hard(world: World) -> None:
    """A task that is tried three times, each time with a better model."""
    world.models = by("escalate")
    world.add("hard")

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        does = (
            empty()
            if len(world.store.sessions.attempt_records(limit=9)) < 2
            else world.works("hard")
        )
        return does(command, listener)

    world.executor.otherwise = play


def test_a_restart_comes_to_the_same_choice_wherever_the_run_died(tmp_path: Path) -> None:
    for world in deaths(tmp_path, is_hard):
        assert world.run().outcome is RunOutcome.COMPLETE
        counted = [one.tier for one in world.store.sessions.attempt_records(limit=9)]
        assert counted == ["haiku", "sonnet", "opus"]


def test_a_run_goes_on_with_the_level_of_one_that_reached_its_limit(world: World) -> None:
    world.models = by("escalate")
    world.add("hard")
    world.limits = RunLimits(iterations=1)
    world.run(empty())
    world.run(empty())
    world.run(world.works("hard"))
    assert asked(world) == ["small", "medium", "large"]


def test_a_new_run_begins_anew_after_one_that_was_over(world: World) -> None:
    world.models = by("escalate")
    world.add("a")
    world.run(empty(), world.works("a"))
    world.add("b")
    world.run(world.works("b"))
    assert asked(world) == ["small", "medium", "small"]


def test_a_task_that_failed_in_a_run_long_over_is_still_known_as_hard(world: World) -> None:
    world.models = by("cost-optimized")
    task = world.add("hard", max_retries=0)
    world.run(empty())
    world.store.tasks.apply(task, [Retried()])
    world.run(world.works("hard"))
    assert asked(world) == ["medium", "large"]


def test_what_nobody_reports_is_estimated_where_a_price_is_known(world: World) -> None:
    world.models = by("fixed", "gpt")
    world.prices = {"gpt": PriceSection(input=1.0, output=2.0)}
    world.agents = (a_scripted_agent(world),)
    world.add("a")
    usage = '"usage":{"event":"usage","input_tokens":500000,"output_tokens":250000}'
    done = f'{{"event":"result","text":"<task-done>TASK</task-done>",{usage}}}\n'
    ended = world.run(says(done, does=lambda: world.workspace.edit("a", "x")))
    (recorded,) = world.recorded(events.SessionEnded)
    assert isinstance(recorded, events.SessionEnded)
    assert (recorded.cost_usd, recorded.estimated, recorded.input_tokens) == (1.0, True, 500_000)
    assert ended.cost_usd == 1.0


def test_without_a_price_it_stays_unknown(world: World) -> None:
    world.add("a")
    ended = world.run(world.works("a"))
    (recorded,) = world.recorded(events.SessionEnded)
    assert isinstance(recorded, events.SessionEnded)
    assert (recorded.cost_usd, recorded.estimated) == (None, False)
    assert ended.cost_usd is None
