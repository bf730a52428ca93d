"""The review thread of a task: all review rounds, findings, dismissals, and people's comments on
lines of its change.

Findings have names that hold for the whole task (F1, F2, …), so that rounds can be compared. A
comment is a finding, too.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.ids import TaskId

A_PERSON: Final = "a person"
"""Who dismissed a finding, where it was no session."""


class ReviewVerdict(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    BLOCKED = "BLOCKED"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A problem that a reviewer wants fixed."""

    id: str
    text: str
    is_new: bool = True
    """No earlier round has raised it."""


class ReviewRound(msgspec.Struct, frozen=True, kw_only=True):
    round: int
    word: ReviewVerdict | None
    """None: it came to no verdict."""
    summary: str = ""
    why: str = ""
    """The whole text of which `summary` is a part."""
    findings: tuple[Finding, ...] = ()
    assessment: str = ""
    """The reviewer's whole final message."""
    closed: str = ""
    """Why the matter is closed, though the reviewer does not agree."""

    @property
    def passes(self) -> bool:
        """May the work be committed?"""
        return self.word is ReviewVerdict.PASS or bool(self.closed)


class FindingState(StrEnum):
    OPEN = "open"
    """It waits for the next attempt."""
    ADDRESSED = "addressed"
    DISPUTED = "disputed"
    """A session has given a reason for not fixing it, or the review has ended without it."""
    STALE = "stale"
    """The lines had changed, or were gone, before a session could answer."""
    DISMISSED = "dismissed"
    """A person does not ask for it any more."""


class Dismissal(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that will not be fixed, and why."""

    finding: str
    reason: str
    by: str
    """The session that says so, or a person."""

    @property
    def state(self) -> FindingState:
        return FindingState.DISMISSED if self.by == A_PERSON else FindingState.DISPUTED


class DiffSide(StrEnum):
    NEW = "new"
    OLD = "old"
    """Lines that the change has removed."""


class LineRange(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    """From the top of the repository."""
    first: int
    """Counted from 1."""
    last: int
    """Before `first`: there is no line, but this is where they were."""

    def __str__(self) -> str:
        if self.last <= self.first:
            return f"{self.path}:{self.first}"
        return f"{self.path}:{self.first}-{self.last}"


class CommentAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt has done about a comment."""

    state: FindingState
    """Addressed or stale."""
    attempt: int
    lines: LineRange | None = None
    """Those that answer it; None: its file is gone."""
    text: str = ""
    """What is there now."""


class LineComment(msgspec.Struct, frozen=True, kw_only=True):
    """A comment of a person on lines of a change."""

    finding: str = ""
    """Its name among the findings of the task whose sessions answer it."""
    task_id: TaskId
    """That task: the one that made the change, or one that follows up."""
    about: TaskId
    """The task that made the change."""
    attempt: int
    """Which attempt at it did."""
    side: DiffSide = DiffSide.NEW
    lines: LineRange
    excerpt: str
    """What was there when it was written."""
    text: str
    at: str
    """The tree or commit that has these lines."""
    made_at: str = ""
    answer: CommentAnswer | None = None
    dismissal: Dismissal | None = None

    @property
    def state(self) -> FindingState:
        if self.dismissal is not None:
            return self.dismissal.state
        return self.answer.state if self.answer is not None else FindingState.OPEN

    @property
    def as_finding(self) -> Finding:
        return Finding(id=self.finding, text=f"{self.lines}: {self.text}")


class ReviewThread(msgspec.Struct, frozen=True, kw_only=True):
    rounds: tuple[ReviewRound, ...] = ()
    dismissals: tuple[Dismissal, ...] = ()
    comments: tuple[LineComment, ...] = ()
    """Oldest first."""

    @property
    def dismissed(self) -> Mapping[str, Dismissal]:
        return {one.finding: one for one in self.dismissals}

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Every finding, once, in the words of the round or the comment that raised it."""
        return (*self.reviewers_findings, *(one.as_finding for one in self.comments))

    @property
    def reviewers_findings(self) -> tuple[Finding, ...]:
        return tuple(one for each in self.rounds for one in each.findings if one.is_new)

    @property
    def open_comments(self) -> tuple[LineComment, ...]:
        return tuple(one for one in self.comments if one.state is FindingState.OPEN)

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """The findings of the last round that were not dismissed, and comments without an
        answer."""
        answered = [each for each in self.rounds if each.word is not None]
        found = answered[-1].findings if answered and not answered[-1].passes else ()
        left = {one.id: one for one in found if one.id not in self.dismissed}
        comments = {one.finding: one.as_finding for one in self.open_comments}
        return tuple((comments | left).values())

    def state_of(self, finding: str) -> FindingState:
        """What became of a finding that a reviewer has raised."""
        if (gone := self.dismissed.get(finding)) is not None:
            return gone.state
        if any(one.id == finding for one in self.open_findings):
            return FindingState.OPEN
        last = self.rounds[-1] if self.rounds else None
        if last is not None and last.closed and any(one.id == finding for one in last.findings):
            return FindingState.DISPUTED
        return FindingState.ADDRESSED

    @property
    def next_number(self) -> int:
        """The number of the next finding that is new."""
        numbers = (int(one.id.removeprefix("F")) for one in self.all_findings)
        return max(numbers, default=0) + 1
