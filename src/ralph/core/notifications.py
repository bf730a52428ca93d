"""Decide which events are worth a notification."""

from enum import StrEnum
from typing import Final, NamedTuple

from ralph.core import events
from ralph.core.run import RunOutcome, WaitKind
from ralph.core.safe_text import one_line
from ralph.core.times import from_iso

LONGEST: Final = 500
"""Of a reason: the way out comes last."""
LONG_WAIT_S: Final = 60.0
"""A shorter wait is over before a person has looked."""


class NotificationKind(StrEnum):
    DONE = "done"
    COMPLETE = "complete"
    FAILED = "failed"
    PAUSED = "paused"
    LIMIT = "limit"


class Notification(NamedTuple):
    """One line for a user who is away from the terminal. It is safe to display."""

    kind: NotificationKind
    text: str


def notification_of(recorded: events.RecordedEvent) -> Notification | None:
    """The news in an event; None: it can wait until the person looks."""
    match recorded.event:
        case events.RunEnded():
            return _run_ended(recorded.event)
        # Without an attempt it was done by its children, or by hand.
        case events.TaskDone(attempt=attempt, title=title) if attempt:
            return Notification(NotificationKind.DONE, f"done: {one_line(title, 80)}")
        # Without an attempt it failed by its children, each of which had a notification.
        case events.TaskFailed(attempt=attempt, title=title, reason=reason) if attempt:
            why = f": {one_line(reason, LONGEST)}" if reason else ""
            return Notification(NotificationKind.FAILED, f"failed: {one_line(title, 80)}{why}")
        case events.RunPaused(kind=WaitKind.PAUSED, reason=reason):
            return Notification(NotificationKind.PAUSED, f"paused: {one_line(reason, LONGEST)}")
        case events.RunWaiting(reason=reason, until=until):
            is_long = from_iso(until) - from_iso(recorded.time) >= LONG_WAIT_S
            text = f"waiting: {one_line(reason, LONGEST)}"
            return Notification(NotificationKind.LIMIT, text) if is_long else None
        case _:
            return None


def _run_ended(ended: events.RunEnded) -> Notification | None:
    why = f": {one_line(ended.reason, LONGEST)}" if ended.reason else ""
    cost = f", cost {ended.spent}" if ended.spent.sessions else ""
    match ended.outcome:
        case RunOutcome.COMPLETE | RunOutcome.COMPLETE_WITH_FAILURES:
            failed = f", {ended.failed} failed" if ended.failed else ""
            return Notification(
                NotificationKind.COMPLETE, f"complete: {ended.done} done{failed}{cost}"
            )
        case RunOutcome.FAILURE | RunOutcome.BLOCKED | RunOutcome.ERROR:
            return Notification(
                NotificationKind.FAILED, f"the run ended, {ended.outcome.value}{why}{cost}"
            )
        case RunOutcome.PAUSED:
            kind, text = NotificationKind.PAUSED, f"the run has paused{why}{cost}"
        case RunOutcome.LIMIT_REACHED:
            kind, text = NotificationKind.LIMIT, f"the run ended{why}{cost}"
        case _:
            # No plan, interrupted: the person who started or interrupted it is there.
            return None
    return Notification(kind, text)
