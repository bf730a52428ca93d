"""Choose the model of the next session from the recorded attempts."""

import contextlib
from typing import Final

from msgspec.structs import replace

from ralph.core.errors import NoSuchTask
from ralph.core.events import ModelOverridden
from ralph.core.ids import RunId
from ralph.core.model_selection import (
    TIERS_BY_COST,
    ModelChoice,
    choose_model,
    model_name_for_agent,
)
from ralph.core.run import RunOutcome, Target, describe_target
from ralph.core.settings import ModelsSection
from ralph.core.task import Task
from ralph.core.verdict import AttemptRecord
from ralph.engine.agent_selection import terms_of_agent
from ralph.engine.run_context import RunContext
from ralph.ports.agent import AgentTraits, SessionTerms
from ralph.store.store import Store

REMEMBERED: Final = 20
"""How many attempts a strategy looks back on."""
RUNS: Final = 100
UNFINISHED: Final = frozenset(
    {None, RunOutcome.INTERRUPTED, RunOutcome.PAUSED, RunOutcome.LIMIT_REACHED, RunOutcome.ERROR}
)
"""The next run goes on with one that ended like this."""


def terms_of_next_session(ctx: RunContext, task: Task) -> SessionTerms:
    """Return the terms of the task's next session. A hint that changes the model is logged."""
    s = ctx.settings
    before = ctx.state.earlier_runs(
        lambda: earlier_runs(ctx.store, ctx.state.target, ctx.workspace.path, s.run_id)
    )
    choice = expected_model(ctx.store, s.config.models, task, (s.run_id, *before))
    name = _name_for_current_agent(ctx, choice.model)
    if choice.was_overridden:
        planned = _name_for_current_agent(ctx, choice.planned)
        if planned and not name:
            agent = ctx.agents.current.traits.name
            ctx.log.warn(f"the last session asks for {choice.model}, but {agent} has none", task.id)
            return replace(terms_of_agent(ctx, ctx.agents.current), model=planned)
        _report_override(ctx, task, choice)
    return replace(terms_of_agent(ctx, ctx.agents.current), model=name, tier=choice.tier)


def no_such_tier(ctx: RunContext) -> str:
    """What to say when a person wants a tier that the agent has no model for; empty if all is well.

    Strategies may leave the choice to an agent; a person who has made one should hear of it.
    """
    wanted, traits = ctx.settings.config.models, ctx.agents.builders[0].traits
    if wanted.strategy != "fixed" or agent_model_name(wanted.model, traits, wanted):
        return ""
    return (
        f"{traits.name} has no model called {wanted.model} and chooses for itself;"
        f' [models.{traits.name}] {wanted.model} = "…" names one'
    )


def expected_model(
    store: Store, preferences: ModelsSection, task: Task, runs: tuple[RunId, ...]
) -> ModelChoice:
    """Return the strategy's choice, with the last session's hint. `runs`: this run and the ones
    that it continues.

    The task's own last attempts count even if they belong to a run that is long over.
    """
    tried: list[AttemptRecord] = []
    for run in runs:
        tried = store.sessions.attempt_records(run=run, limit=REMEMBERED) + tried
        if len(tried) >= REMEMBERED:
            break
    tried = tried[-REMEMBERED:]
    if task.reason:
        known = {(one.task_id, one.attempt) for one in tried}
        own = store.sessions.attempt_records(task=task.id, limit=3)
        tried = [one for one in own if (one.task_id, one.attempt) not in known] + tried
    return choose_model(preferences, tried, task=task.id, run=runs[0])


def earlier_runs(store: Store, target: Target, checkout: str, run: RunId) -> tuple[RunId, ...]:
    """Return the runs that this one continues, newest first."""
    found: list[RunId] = []
    for one in store.runs.newest(limit=RUNS):
        if one.id == run or one.checkout != checkout:
            continue
        if one.outcome not in UNFINISHED or one.target != describe_target(target):
            break
        found.append(one.id)
    return tuple(found)


def agent_model_name(model: str, traits: AgentTraits, preferences: ModelsSection) -> str:
    return model_name_for_agent(model, preferences.tiers.get(traits.name, {}), traits.models)


def _name_for_current_agent(ctx: RunContext, model: str) -> str:
    if ctx.agents.current is not ctx.agents.builders[0] and model not in TIERS_BY_COST:
        return ""  # a name of the first agent's; who steps in chooses for itself
    return agent_model_name(model, ctx.agents.current.traits, ctx.settings.config.models)


def _report_override(ctx: RunContext, task: Task, choice: ModelChoice) -> None:
    strategy = ctx.settings.config.models.strategy
    line = f"the last session asked for {choice.model} ({strategy}: {choice.planned})"
    # Deleted since it was claimed: its session will not start, which is seen to there.
    with contextlib.suppress(NoSuchTask):
        ctx.store.tasks.log(task.id, line)
    ctx.log.record(
        ModelOverridden(
            task_id=task.id, model=choice.model, planned=choice.planned, strategy=strategy
        )
    )
