"""What happens when another session looks at the work: a verification, or a review."""

from ralph.core.happening import Happening
from ralph.core.ids import SessionId, TaskId


class _CheckStarted(Happening, frozen=True, kw_only=True):
    """A second session looks at what the first one claims."""

    session_id: SessionId
    task_id: TaskId
    number: int
    agent: str
    account: str
    """Who pays."""
    log: str
    model: str = ""


class _CheckEnded(Happening, frozen=True, kw_only=True):
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


class FindingDismissed(Happening, frozen=True, kw_only=True):
    """What a reviewer found is not to be mended, and is not raised again."""

    task_id: TaskId
    finding: str
    reason: str
    by: str
    """A session, or `a person`."""


CheckStarted = VerificationStarted | ReviewStarted
CheckEnded = VerificationEnded | ReviewEnded
CheckEvent = CheckStarted | CheckEnded | FindingDismissed
