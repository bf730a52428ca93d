"""What happens when a session hands its task to a fresh one."""

from ralph.core.happening import Happening
from ralph.core.ids import SessionId, TaskId


class WrapUpAsked(Happening, frozen=True, kw_only=True):
    """A session is to write down where it stands, so that a fresh one can go on."""

    session_id: SessionId
    task_id: TaskId
    reason: str
    used: int
    """Tokens in its context."""
    capacity: int


class SessionHandedOver(Happening, frozen=True, kw_only=True):
    """A fresh session goes on with the same attempt. What the one before it came to."""

    session_id: SessionId
    task_id: TaskId
    number: int
    """The first hand-off of the attempt, the second…"""
    reason: str
    ended: str
    used: int
    capacity: int
    agent: str = ""
    duration_s: float = 0.0
    model: str = ""
    cost_usd: float | None = None
    estimated: bool = False
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    log: str = ""


HandoffEvent = WrapUpAsked | SessionHandedOver
