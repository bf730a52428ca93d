"""What is worth calling a person for, among all that happens."""

from enum import StrEnum
from typing import Final

import msgspec

from ralph.core import events
from ralph.core.moment import epoch
from ralph.core.outcome import Outcome
from ralph.core.safe_text import one_line

LONG_WAIT_S: Final = 60.0
"""A shorter wait is over before anybody has looked."""


class Kind(StrEnum):
    """The words of `[notify] on`."""

    DONE = "done"
    COMPLETE = "complete"
    FAILED = "failed"
    PAUSED = "paused"
    LIMIT = "limit"


class News(msgspec.Struct, frozen=True, kw_only=True):
    """One line for a person who is elsewhere. It is safe to show."""

    kind: Kind
    text: str


def news_of(recorded: events.Recorded) -> News | None:
    """The news in an event; None: it can wait until the person looks."""
    match recorded.event:
        case events.RunEnded():
            return _ended(recorded.event)
        # Without an attempt it was done by its children, or by hand.
        case events.TaskDone(attempt=attempt, title=title) if attempt:
            return News(kind=Kind.DONE, text=f"done: {one_line(title, 80)}")
        # Without an attempt it failed by its children, which have been told of.
        case events.TaskFailed(attempt=attempt, title=title, reason=reason) if attempt:
            why = f": {one_line(reason, 120)}" if reason else ""
            return News(kind=Kind.FAILED, text=f"failed: {one_line(title, 80)}{why}")
        case events.RunPaused(reason=reason):
            return News(kind=Kind.PAUSED, text=f"paused: {one_line(reason, 160)}")
        case events.RunWaiting(reason=reason, until=until):
            if epoch(until) - epoch(recorded.time) < LONG_WAIT_S:
                return None
            return News(kind=Kind.LIMIT, text=f"waiting: {one_line(reason, 160)}")
        case _:
            return None


def _ended(ended: events.RunEnded) -> News | None:
    why = f": {one_line(ended.reason, 160)}" if ended.reason else ""
    cost = f", cost {ended.spent}" if ended.spent.sessions else ""
    match ended.outcome:
        case Outcome.COMPLETE | Outcome.COMPLETE_WITH_FAILURES:
            failed = f", {ended.failed} failed" if ended.failed else ""
            return News(kind=Kind.COMPLETE, text=f"complete: {ended.done} done{failed}{cost}")
        case Outcome.FAILURE | Outcome.BLOCKED | Outcome.ERROR:
            return News(kind=Kind.FAILED, text=f"the run ended, {ended.outcome.value}{why}{cost}")
        case Outcome.PAUSED:
            return News(kind=Kind.PAUSED, text=f"the run has paused{why}{cost}")
        case Outcome.LIMIT_REACHED:
            return News(kind=Kind.LIMIT, text=f"the run ended{why}{cost}")
        case Outcome.NO_PLAN | Outcome.INTERRUPTED:
            return None  # whoever started or interrupted it is there
