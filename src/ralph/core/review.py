"""What reviewers have said about the work of a task.

Findings have names that hold for the whole task (F1, F2, …), so that rounds can be compared.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class Word(StrEnum):
    """What a reviewer says about the whole."""

    PASS = "PASS"
    FAIL = "FAIL"
    BLOCKED = "BLOCKED"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a reviewer wants mended."""

    id: str
    text: str
    is_new: bool = True
    """No earlier round has raised it."""


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """One round."""

    round: int
    word: Word | None
    """None: it came to no verdict."""
    summary: str = ""
    why: str = ""
    """All that was said where the summary stands."""
    findings: tuple[Finding, ...] = ()
    closed: str = ""
    """Why the matter is closed, though the reviewer does not agree."""

    @property
    def passes(self) -> bool:
        """May the work be committed?"""
        return self.word is Word.PASS or bool(self.closed)


class Dismissal(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that is not to be mended."""

    finding: str
    reason: str
    by: str
    """The session that says so, or a person."""


class Matter(msgspec.Struct, frozen=True, kw_only=True):
    """All that was said about the work of a task so far."""

    rounds: tuple[Review, ...] = ()
    dismissals: tuple[Dismissal, ...] = ()

    @property
    def dismissed(self) -> Mapping[str, Dismissal]:
        return {one.finding: one for one in self.dismissals}

    @property
    def raised(self) -> tuple[Finding, ...]:
        """Every finding, once, in the words of the round that raised it."""
        return tuple(one for each in self.rounds for one in each.findings if one.is_new)

    @property
    def open(self) -> tuple[Finding, ...]:
        """What still stands: the last round has raised it, and nobody has dismissed it."""
        told = [each for each in self.rounds if each.word is not None]
        if not told or told[-1].passes:
            return ()
        return tuple(one for one in told[-1].findings if one.id not in self.dismissed)
