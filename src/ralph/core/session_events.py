"""The role of a session, the base of all events, and the events of hand-offs and checks."""

from enum import StrEnum

import msgspec

from ralph.core.ids import SessionId, TaskId
from ralph.core.review_thread import FindingState, LineRange


class SessionRole(StrEnum):
    """Whether a session does the work, verifies it or reviews it."""

    WORK = "work"
    VERIFY = "verify"
    REVIEW = "review"


class EventBase(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="event",
    tag=lambda name: "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_"),
):
    """An event; its name is in the field `event`."""


class WrapUpAsked(EventBase, frozen=True, kw_only=True):
    """A session is asked to write down its state, so that a fresh one can go on."""

    session_id: SessionId
    task_id: TaskId
    reason: str
    used: int
    """Tokens in its context."""
    capacity: int


class SessionResultReported(EventBase, frozen=True, kw_only=True):
    """What is reported of each session of an attempt, the last one or not."""

    session_id: SessionId
    task_id: TaskId
    ended: str
    duration_s: float = 0.0
    model: str = ""
    """What it ran on, as far as it says."""
    cost_usd: float | None = None
    estimated: bool = False
    """The cost is worked out from the tokens."""
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class SessionHandedOver(SessionResultReported, frozen=True, kw_only=True):
    """A fresh session goes on with the same attempt. What the one before it came to."""

    number: int
    """The first hand-off of the attempt, the second…"""
    reason: str
    used: int
    capacity: int
    agent: str = ""
    log: str = ""


HandoffEvent = WrapUpAsked | SessionHandedOver


class _CheckStarted(EventBase, frozen=True, kw_only=True):
    """A second session looks at what the first one claims."""

    session_id: SessionId
    task_id: TaskId
    number: int
    agent: str
    account: str
    """Who pays."""
    log: str
    model: str = ""


class _CheckEnded(EventBase, frozen=True, kw_only=True):
    session_id: SessionId
    task_id: TaskId
    number: int
    passed: bool | None
    """None: it came to no verdict."""
    reason: str = ""
    ended: str = ""
    duration_s: float = 0.0
    cost_usd: float | None = None
    estimated: bool = False


class VerificationStarted(_CheckStarted, frozen=True, kw_only=True):
    """Does it do what the task asks for?"""


class VerificationEnded(_CheckEnded, frozen=True, kw_only=True):
    pass


class ReviewStarted(_CheckStarted, frozen=True, kw_only=True):
    """A reviewer reads the change; the task is in review from now on."""


class ReviewEnded(_CheckEnded, frozen=True, kw_only=True):
    round: int = 0
    """Which review of the task it was."""
    word: str = ""
    """PASS, FAIL or BLOCKED; empty: none of them."""
    summary: str = ""
    findings: int = 0


class FindingDismissed(EventBase, frozen=True, kw_only=True):
    """What a reviewer found is not to be fixed, and is not raised again."""

    task_id: TaskId
    finding: str
    reason: str
    by: str
    """A session, or `a person`."""


class CommentAdded(EventBase, frozen=True, kw_only=True):
    """A person has commented on lines of a change."""

    task_id: TaskId
    """Whose sessions answer it."""
    about: TaskId
    """Whose change it is about."""
    finding: str
    lines: LineRange
    text: str


class CommentAnswered(EventBase, frozen=True, kw_only=True):
    """What an attempt has done about a comment: open is nothing, or no longer."""

    task_id: TaskId
    finding: str
    attempt: int
    state: FindingState
    lines: LineRange | None = None
    """Those that answer it."""


CheckStarted = VerificationStarted | ReviewStarted
CheckEnded = VerificationEnded | ReviewEnded
CheckEvent = CheckStarted | CheckEnded | FindingDismissed | CommentAdded | CommentAnswered
