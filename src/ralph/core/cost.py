"""What sessions cost, and the spending limits of a session, a run and the project."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from math import ceil
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.agent_events import TokenUsage
from ralph.core.session_ending import SessionEnding
from ralph.core.settings import BudgetSection, PriceSection


class CostSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of finished sessions. Sessions of unknown cost are counted, not summed."""

    sessions: int = 0
    reported: int = 0
    """Sessions whose agent said what it cost."""
    estimated: int = 0
    """Sessions whose cost is worked out from `[prices]`."""
    unknown: int = 0
    """Sessions of unknown cost."""
    reported_usd: float = 0.0
    estimated_usd: float = 0.0
    counted: int = 0
    """Sessions whose tokens are known."""
    input_tokens: int = 0
    """All that was read, from a cache or not."""
    cached_tokens: int = 0
    output_tokens: int = 0

    @property
    def known_usd(self) -> float:
        """What is known of it: never more than was spent."""
        return self.reported_usd + self.estimated_usd

    @property
    def total_usd(self) -> float | None:
        """None when any of it is unknown."""
        return self.known_usd if self.reported + self.estimated == self.sessions > 0 else None

    def __add__(self, other: "CostSummary") -> "CostSummary":
        names = self.__struct_fields__
        return CostSummary(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def __str__(self) -> str:
        """`$1.20`, `~$1.20`, `unknown`, `$1.20 and 2 sessions of unknown cost`."""
        if not self.sessions:
            return "nothing"
        known = dollars(self.known_usd, estimated=self.estimated > 0)
        if not self.unknown:
            return known
        if self.unknown == self.sessions:
            return "unknown"
        sessions = "session" if self.unknown == 1 else "sessions"
        return f"{known} and {self.unknown} {sessions} of unknown cost"


def session_cost(cost_usd: float | None, *, estimated: bool = False) -> CostSummary:
    if cost_usd is None:
        return CostSummary(sessions=1, unknown=1)
    if estimated:
        return CostSummary(sessions=1, estimated=1, estimated_usd=cost_usd)
    return CostSummary(sessions=1, reported=1, reported_usd=cost_usd)


def dollars(cost_usd: float | None, *, estimated: bool = False) -> str:
    """`$1.20`, `~$1.20` for an estimate. Cost that is not reported is unknown, never $0."""
    if cost_usd is None:
        return "unknown"
    about = "~" if estimated else ""
    return f"under {about}$0.01" if 0 < cost_usd < 0.01 else f"{about}${cost_usd:.2f}"


def estimate(tasks: int, done: int, spent: CostSummary, *, least: int) -> str:
    """What so many tasks may take, judged by what those that are done have taken; `least` is the
    number of sessions of a task that succeeds at once."""
    if not done or not spent.sessions:
        sessions = tasks * least
        return (
            f"at least {sessions} session{'s'[: sessions > 1]}; cost unknown, no task is done yet"
        )
    sessions = ceil(tasks * spent.sessions / done)
    known, cost = spent.sessions - spent.unknown, "unknown cost"
    if known:
        each = spent.known_usd / known * spent.sessions / done
        cost = dollars(tasks * each, estimated=spent.estimated > 0)
    judged = "1 task" if done == 1 else f"{done} tasks"
    return f"about {sessions} session{'s'[: sessions > 1]} and {cost}, judged by {judged} done here"


# What tokens cost

MILLION: Final = 1_000_000
MOST: Final = 10**12
"""No session reads, writes or costs that much; a sum of larger numbers would burst the database."""


def with_cost(
    ending: SessionEnding, prices: Mapping[str, PriceSection], asked: str
) -> SessionEnding:
    """The ending with its cost. A reported one stays; without tokens or a price it is unknown, and
    so is what cannot be true.

    `asked` is the model that was asked for, since not every agent says what it ran on.
    """
    tokens = {name: _count(getattr(ending, name)) for name in TokenUsage.__struct_fields__}
    cost = ending.cost_usd
    is_possible = cost is not None and 0 <= cost <= MOST
    ending = replace(ending, cost_usd=cost if is_possible else None, **tokens)
    price = prices.get(ending.model) or prices.get(asked)
    if ending.cost_usd is not None or price is None:
        return ending
    used = TokenUsage(**{name: count or 0 for name, count in tokens.items()})
    if not used.input_tokens + used.output_tokens:
        # No tokens at all is an agent that does not count, not a session for nothing.
        return ending
    return replace(ending, cost_usd=round(token_cost_usd(used, price), 9), estimated=True)


def token_cost_usd(used: TokenUsage, price: PriceSection) -> float:
    cached = min(used.cached_tokens, used.input_tokens)
    return (
        (used.input_tokens - cached) * price.input
        + cached * (price.input if price.cached is None else price.cached)
        + used.output_tokens * price.output
    ) / MILLION


def _count(number: int | None) -> int | None:
    return number if number is not None and 0 <= number <= MOST else None


class BudgetLevel(StrEnum):
    SESSION = "session"
    RUN = "run"
    PROJECT = "project"


LEVELS: Final = (BudgetLevel.PROJECT, BudgetLevel.RUN, BudgetLevel.SESSION)
"""The one that stops the most comes first."""


class BudgetUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What has been spent, as far as it is known."""

    session_usd: float | None = None
    """None: not known yet."""
    is_guess: bool = False
    """Its agent tells only in the end: this is what went to and fro, at its price."""
    session_tokens: int = 0
    run_usd: float = 0.0
    """By sessions of this run that have ended."""
    project_usd: float = 0.0
    """By all that have ended."""

    def spent_on(self, level: BudgetLevel) -> float:
        """With what the session has spent so far."""
        ended = 0.0 if level is BudgetLevel.SESSION else float(getattr(self, f"{level}_usd"))
        return ended + (self.session_usd or 0.0)


def left_usd(budget: BudgetSection, bill: BudgetUsage) -> float | None:
    """Return what the next session may spend; None means without limit."""
    limited = [level for level in LEVELS if budget.limit(level)]
    left = (budget.limit(level) - bill.spent_on(level) for level in limited)
    return max(0.0, min(left)) if limited else None


def reached_limit(budget: BudgetSection, bill: BudgetUsage) -> BudgetLevel | None:
    """Return the limit that is used up, if any."""
    for level in LEVELS:
        if 0 < budget.limit(level) <= bill.spent_on(level):
            return level
    return BudgetLevel.SESSION if token_share(budget, bill) >= 1 else None


def token_share(budget: BudgetSection, bill: BudgetUsage) -> float:
    """Return the share of its tokens that a session has used; 0 without a token limit."""
    is_blind = bill.session_usd is None or bill.is_guess
    return bill.session_tokens / budget.session_tokens if is_blind and budget.session_tokens else 0


def is_about_tokens(budget: BudgetSection, bill: BudgetUsage, level: BudgetLevel) -> bool:
    """Are a session's tokens scarcer than its money?"""
    limit = budget.limit(level)
    share = bill.spent_on(level) / limit if limit else 0.0
    return level is BudgetLevel.SESSION and token_share(budget, bill) > share


def limits_nearly_reached(budget: BudgetSection, bill: BudgetUsage) -> Iterator[BudgetLevel]:
    """Yield the limits that are nearly used up, for warnings."""
    for level in LEVELS:
        tokens = token_share(budget, bill) if level is BudgetLevel.SESSION else 0.0
        is_near = 0 < budget.limit(level) * budget.warn_at <= bill.spent_on(level)
        if is_near or 0 < budget.warn_at <= tokens:
            yield level


def describe_limit(budget: BudgetSection, bill: BudgetUsage, level: BudgetLevel) -> str:
    """`$41.20 of $50.00 for this run are spent`, and how to raise it."""
    if is_about_tokens(budget, bill, level):
        spent = f"{bill.session_tokens:,} of {budget.session_tokens:,} tokens"
        return f"{spent} for a session are used; [budget] session_tokens sets that"
    whom = "a session" if level is BudgetLevel.SESSION else f"this {level}"
    spent = f"{dollars(bill.spent_on(level))} of {dollars(budget.limit(level))}"
    return f"{spent} for {whom} are spent; [budget] {level}_usd sets that"
