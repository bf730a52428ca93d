"""Which model the next session runs on. Four strategies, pure functions of what is on record, so
that a restart of Ralph comes to the same choice."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.distress import distress
from ralph.core.ids import RunId, TaskId
from ralph.core.sigils import read_sigils
from ralph.core.tried import Tried

CLEAN_STREAK: Final = 3
"""So many clean attempts in a row earn a cheaper model."""


class Tier(StrEnum):
    """What a model can do and costs, whatever an agent calls it; from cheap to dear."""

    HAIKU = "haiku"
    SONNET = "sonnet"
    OPUS = "opus"


LADDER: Final = tuple(Tier)


class Strategy(StrEnum):
    """How the model of the next session is chosen."""

    FIXED = "fixed"
    COST_OPTIMIZED = "cost-optimized"
    ESCALATE = "escalate"
    PLAN_THEN_EXECUTE = "plan-then-execute"


class Preferences(msgspec.Struct, frozen=True, kw_only=True):
    """What a person has said about models."""

    strategy: Strategy = Strategy.COST_OPTIMIZED
    model: str = ""
    """The one of the fixed strategy: a tier, or a name that is passed on as it is."""
    tiers: Mapping[str, Mapping[str, str]] = {}
    """What the tiers are called, by agent."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A model, and whether it is what the strategy had in mind."""

    model: str
    """A tier, or a name that is passed on as it is."""
    planned: str
    """What the strategy alone would have chosen."""

    @property
    def was_overridden(self) -> bool:
        """The last session asked for another one, and gets its way."""
        return self.model != self.planned

    @property
    def tier(self) -> str:
        """Empty for a name."""
        return self.model if self.model in LADDER else ""


def choose(
    preferences: Preferences, history: Sequence[Tried], *, task: TaskId, run: RunId
) -> Choice:
    """The model for the next session of a task. `history`: attempts that counted, oldest first."""
    planned: str
    match preferences.strategy:
        case Strategy.FIXED:
            planned = preferences.model
        case Strategy.COST_OPTIMIZED:
            planned = _cost_optimized(history, task)
        case Strategy.ESCALATE:
            planned = _escalate(history)
        case Strategy.PLAN_THEN_EXECUTE:
            is_first = not any(one.run_id == run for one in history)
            planned = Tier.OPUS if is_first else Tier.SONNET
    hint = _hint(history[-1]) if history else None
    return Choice(model=hint or planned, planned=planned)


def _hint(tried: Tried) -> Tier | None:
    word = read_sigils(tried.message).next_model
    return Tier(word) if word else None


def _cost_optimized(history: Sequence[Tried], task: TaskId) -> Tier:
    """The middle one; the best after something bad, the cheapest after nothing but good."""
    newest = range(max(0, len(history) - CLEAN_STREAK), len(history))
    own = [at for at, one in enumerate(history) if one.task_id == task]
    if any(distress(history[at], history[:at]) for at in {*newest, *own[-1:]}):
        return Tier.OPUS
    return Tier.HAIKU if len(newest) == CLEAN_STREAK else Tier.SONNET


def _escalate(history: Sequence[Tried]) -> Tier:
    """Up with distress and never down by itself; only a hint can lower it.

    What an attempt ran on is on record, so the level is known though its cause is long past.
    """
    level = 0
    for at, one in enumerate(history):
        if one.strategy == Strategy.ESCALATE and one.tier in LADDER:
            level = max(level, LADDER.index(Tier(one.tier)))
        level = max(level, distress(one, history[:at]))
        if at < len(history) - 1 and (hint := _hint(one)):
            level = LADDER.index(hint)
    return LADDER[level]


def name_for(model: str, own: Mapping[str, str], known: Mapping[str, str]) -> str:
    """What to tell an agent: a tier by the person's table, else by the agent's, else nothing, so
    that the agent chooses; any other name as it is."""
    if model not in LADDER:
        return model
    return own.get(model) or known.get(model, "")
