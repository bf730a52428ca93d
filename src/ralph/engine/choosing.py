"""Which model the next session runs on: what is on record, put before the strategy."""

import contextlib
from typing import Final

from msgspec.structs import replace

from ralph.core.errors import NoSuchTask
from ralph.core.events import ModelOverridden
from ralph.core.ids import RunId
from ralph.core.models import LADDER, Choice, Preferences, Strategy, choose, name_for
from ralph.core.outcome import Outcome
from ralph.core.target import Target, describe
from ralph.core.task import Task
from ralph.core.tried import Tried
from ralph.engine.kit import Kit
from ralph.ports.agent import Terms, Traits
from ralph.ports.store import Store

REMEMBERED: Final = 20
"""How many attempts a strategy looks back on."""
RUNS: Final = 100
UNFINISHED: Final = frozenset(
    {None, Outcome.INTERRUPTED, Outcome.PAUSED, Outcome.LIMIT_REACHED, Outcome.ERROR}
)
"""The next run goes on with one that ended like this."""


def choose_model(kit: Kit, task: Task) -> Terms:
    """The terms of the task's next session. A hint that changes them is said and logged."""
    s = kit.settings
    if kit.earlier is None:
        kit.earlier = earlier(kit.store, s.target, kit.workspace.path, s.run_id)
    choice = foresee(kit.store, s.models, task, (s.run_id, *kit.earlier))
    name = _told(kit, choice.model)
    if choice.was_overridden:
        planned = _told(kit, choice.planned)
        if planned and not name:
            agent = kit.agent.traits.name
            kit.warn(f"the last session asks for {choice.model}, but {agent} has none", task.id)
            return replace(kit.terms(kit.agent), model=planned)
        _say(kit, task, choice)
    return replace(kit.terms(kit.agent), model=name, tier=choice.tier)


def no_such_tier(kit: Kit) -> str:
    """What to say when a person wants a tier that the agent has no model for; empty if all is well.

    Strategies may leave the choice to an agent; a person who has made one should hear of it.
    """
    wanted, traits = kit.settings.models, kit.agents[0].traits
    if wanted.strategy is not Strategy.FIXED or called(wanted.model, traits, wanted):
        return ""
    return (
        f"{traits.name} has no model called {wanted.model} and chooses for itself;"
        f' [models.{traits.name}] {wanted.model} = "…" names one'
    )


def foresee(store: Store, preferences: Preferences, task: Task, runs: tuple[RunId, ...]) -> Choice:
    """What the strategy says, with the last session's hint. `runs`: this one, and those before it
    that it goes on with.

    The task's own last attempts count even if they belong to a run that is long over.
    """
    tried: list[Tried] = []
    for run in runs:
        tried = store.tried(run=run, limit=REMEMBERED) + tried
        if len(tried) >= REMEMBERED:
            break
    tried = tried[-REMEMBERED:]
    if task.reason:
        known = {(one.task_id, one.attempt) for one in tried}
        own = store.tried(task=task.id, limit=3)
        tried = [one for one in own if (one.task_id, one.attempt) not in known] + tried
    return choose(preferences, tried, task=task.id, run=runs[0])


def earlier(store: Store, target: Target, checkout: str, run: RunId) -> tuple[RunId, ...]:
    """The runs that this one goes on with, newest first."""
    found: list[RunId] = []
    for one in store.runs(limit=RUNS):
        if one.id == run or one.checkout != checkout:
            continue
        if one.outcome not in UNFINISHED or one.target != describe(target):
            break
        found.append(one.id)
    return tuple(found)


def called(model: str, traits: Traits, preferences: Preferences) -> str:
    """What to tell this agent."""
    return name_for(model, preferences.tiers.get(traits.name, {}), traits.models)


def _told(kit: Kit, model: str) -> str:
    if kit.agent is not kit.agents[0] and model not in LADDER:
        return ""  # a name of the first agent's; who steps in chooses for itself
    return called(model, kit.agent.traits, kit.settings.models)


def _say(kit: Kit, task: Task, choice: Choice) -> None:
    strategy = kit.settings.models.strategy
    line = f"the last session asked for {choice.model} ({strategy}: {choice.planned})"
    # Deleted since it was claimed: its session will not start, which is seen to there.
    with contextlib.suppress(NoSuchTask):
        kit.store.log(task.id, line)
    kit.record(
        ModelOverridden(
            task_id=task.id, model=choice.model, planned=choice.planned, strategy=strategy
        )
    )
