"""Sessions that have handed their attempt to a fresh one."""

from typing import Protocol

import msgspec

from ralph.core.ending import Ending
from ralph.core.events import Event
from ralph.core.ids import RunId, SessionId, TaskId


class Stint(msgspec.Struct, frozen=True, kw_only=True):
    """What one context has carried of an attempt: the session that handed over, archived."""

    session_id: SessionId
    number: int
    task_id: TaskId
    run_id: RunId
    agent: str
    model: str = ""
    log: str = ""
    started_at: str = ""
    ended_at: str | None = None
    ending: Ending | None = None
    reason: str = ""
    """Why it handed over."""
    memory: str = ""
    """What it has left to the next one."""
    duration_s: float = 0.0


class Stints(Protocol):
    """The archive of hand-offs."""

    def hand_over(self, stint: Stint, event: Event) -> None:
        """Archive the session of an attempt, with its cost; the attempt goes on."""
        ...

    def stints(self, session: SessionId) -> list[Stint]:
        """The sessions of an attempt that have handed over, in order."""
        ...
