"""What may be spent: by a session, by a run, by the whole project; each part of the next."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.spent import dollars


class Level(StrEnum):
    """Whose limit it is."""

    SESSION = "session"
    RUN = "run"
    PROJECT = "project"


LEVELS: Final = (Level.PROJECT, Level.RUN, Level.SESSION)
"""The one that stops the most comes first."""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Zero is without limit."""

    session_usd: float = 0.0
    run_usd: float = 0.0
    project_usd: float = 0.0
    session_tokens: int = 0
    """For a session whose cost nobody knows while it works."""
    warn_at: float = 0.8

    def limit(self, level: Level) -> float:
        """In dollars."""
        limits = {
            Level.SESSION: self.session_usd,
            Level.RUN: self.run_usd,
            Level.PROJECT: self.project_usd,
        }
        return limits[level]


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """What is known to be spent: never more than was."""

    session_usd: float | None = None
    """None: nobody knows yet."""
    is_guess: bool = False
    """Its agent tells only in the end: this is what went to and fro, at its price."""
    session_tokens: int = 0
    run_usd: float = 0.0
    """By sessions of this run that have ended."""
    project_usd: float = 0.0
    """By all that have ended."""

    def of(self, level: Level) -> float:
        """With what the session has spent so far."""
        ended = {Level.SESSION: 0.0, Level.RUN: self.run_usd, Level.PROJECT: self.project_usd}
        return ended[level] + (self.session_usd or 0.0)


def left_usd(budget: Budget, bill: Bill) -> float | None:
    """What the next session may spend; None: as much as it likes."""
    limited = [level for level in LEVELS if budget.limit(level)]
    left = (budget.limit(level) - bill.of(level) for level in limited)
    return max(0.0, min(left)) if limited else None


def reached(budget: Budget, bill: Bill) -> Level | None:
    """The limit that is used up."""
    for level in LEVELS:
        if 0 < budget.limit(level) <= bill.of(level):
            return level
    return Level.SESSION if by_tokens(budget, bill) >= 1 else None


def by_tokens(budget: Budget, bill: Bill) -> float:
    """The share of its tokens that a session has used; 0 where they are not what bounds it."""
    is_blind = bill.session_usd is None or bill.is_guess
    return bill.session_tokens / budget.session_tokens if is_blind and budget.session_tokens else 0


def is_about_tokens(budget: Budget, bill: Bill, level: Level) -> bool:
    """Are a session's tokens scarcer than its money?"""
    limit = budget.limit(level)
    share = bill.of(level) / limit if limit else 0.0
    return level is Level.SESSION and by_tokens(budget, bill) > share


def near(budget: Budget, bill: Bill) -> Iterator[Level]:
    """The limits of which so much is used up that a person should know."""
    for level in LEVELS:
        is_near = 0 < budget.limit(level) * budget.warn_at <= bill.of(level)
        if is_near or (level is Level.SESSION and 0 < budget.warn_at <= by_tokens(budget, bill)):
            yield level


def told(budget: Budget, bill: Bill, level: Level) -> str:
    """`$41.20 of $50.00 for this run are spent`, and how to raise it."""
    if is_about_tokens(budget, bill, level):
        spent = f"{bill.session_tokens:,} of {budget.session_tokens:,} tokens"
        return f"{spent} for a session are used; [budget] session_tokens sets that"
    of = {Level.SESSION: "a session", Level.RUN: "this run", Level.PROJECT: "this project"}
    spent = f"{dollars(bill.of(level))} of {dollars(budget.limit(level))}"
    return f"{spent} for {of[level]} are spent; [budget] {level}_usd sets that"
