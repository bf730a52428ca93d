"""What is on record about an attempt that counted: what the choice of the next model rests on."""

from enum import StrEnum

import msgspec

from ralph.core.ids import RunId, TaskId
from ralph.core.transitions import Accepted, Conflicted, GaveUp, Rejected, Struck, Transition


class Judged(StrEnum):
    """What an attempt came to."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    STRUCK = "struck"
    GAVE_UP = "gave_up"
    CONFLICT = "conflict"
    """It counts, and does not fit what others have merged meanwhile."""
    SPLIT = "split"
    """It has split its task up: the tasks below it decide."""
    RELEASED = "released"
    """Given back at no cost, or held back: it says nothing about the model."""


def judged(transition: Transition) -> Judged:
    """The word for a verdict's transition."""
    match transition:
        case Accepted():
            return Judged.ACCEPTED
        case Rejected():
            return Judged.REJECTED
        case Struck():
            return Judged.STRUCK
        case GaveUp():
            return Judged.GAVE_UP
        case Conflicted():
            return Judged.CONFLICT
        case _:
            return Judged.RELEASED


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that counted: a session that Ralph released at no cost is none."""

    task_id: TaskId
    attempt: int
    run_id: RunId
    judged: Judged
    ended_at: str = ""
    strategy: str = ""
    """By which its model was chosen."""
    tier: str = ""
    """What it ran on, where that was a tier."""
    message: str = ""
    """Its final message, for a hint and a note."""
    notes: tuple[str, ...] = ()
    """What the task's log and the verdict say about it."""
