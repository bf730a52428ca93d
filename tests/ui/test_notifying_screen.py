"""Who is called, and for what."""

import io
import os
import pty

from ralph.core import events
from ralph.core.ids import RunId
from ralph.core.notifications import Notification, NotificationKind
from ralph.core.run import RunOutcome
from ralph.ui.screens import NotifyingScreen, bell
from tests.doubles import RecordingSink

RUN, OTHER = RunId("run-1"), RunId("run-2")


def paused(run: RunId) -> events.RecordedEvent:
    event = events.RunEnded(run_id=run, outcome=RunOutcome.PAUSED, exit_code=6)
    return events.RecordedEvent(seq=1, time="2026-11-15T08:00:00.000000Z", run_id=run, event=event)


def test_the_screen_shows_everything_and_channels_hear_what_is_wanted() -> None:
    screen = RecordingSink()
    heard: list[Notification] = []
    NotifyingScreen(screen, RUN, {NotificationKind.PAUSED}, [heard.append]).event(paused(RUN))
    assert len(screen.events) == 1
    assert [news.kind for news in heard] == [NotificationKind.PAUSED]


def test_nobody_is_called_for_what_is_not_wanted() -> None:
    heard: list[Notification] = []
    NotifyingScreen(RecordingSink(), RUN, {NotificationKind.FAILED}, [heard.append]).event(
        paused(RUN)
    )
    assert heard == []


def test_another_runs_news_are_its_own() -> None:
    heard: list[Notification] = []
    NotifyingScreen(RecordingSink(), RUN, {NotificationKind.PAUSED}, [heard.append]).event(
        paused(OTHER)
    )
    assert heard == []


def test_the_bell_rings_in_the_terminal() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        bell(terminal)(Notification(kind=NotificationKind.PAUSED, text="x"))
        assert os.read(master, 10) == b"\a"
    os.close(master)


def test_a_bell_that_nobody_hears_is_no_error() -> None:
    stream = io.StringIO()
    stream.close()
    bell(stream)(Notification(kind=NotificationKind.PAUSED, text="x"))
