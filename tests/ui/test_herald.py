"""Who is called, and for what."""

import io
import os
import pty

from ralph.core import events
from ralph.core.ids import RunId
from ralph.core.news import Kind, News
from ralph.core.outcome import Outcome
from ralph.testing.doubles import RecordingSink
from ralph.ui.herald import Bell, Herald

RUN, OTHER = RunId("run-1"), RunId("run-2")


class Heard:
    """A channel that remembers."""

    def __init__(self) -> None:
        self.news: list[News] = []

    def tell(self, news: News) -> None:
        self.news.append(news)


def paused(run: RunId) -> events.Recorded:
    event = events.RunEnded(run_id=run, outcome=Outcome.PAUSED, exit_code=6)
    return events.Recorded(seq=1, time="2026-11-15T08:00:00.000000Z", run_id=run, event=event)


def test_the_screen_shows_everything_and_channels_hear_what_is_wanted() -> None:
    screen, heard = RecordingSink(), Heard()
    Herald(screen, RUN, {Kind.PAUSED}, [heard]).event(paused(RUN))
    assert len(screen.events) == 1
    assert [news.kind for news in heard.news] == [Kind.PAUSED]


def test_nobody_is_called_for_what_is_not_wanted() -> None:
    heard = Heard()
    Herald(RecordingSink(), RUN, {Kind.FAILED}, [heard]).event(paused(RUN))
    assert heard.news == []


def test_another_runs_news_are_its_own() -> None:
    heard = Heard()
    Herald(RecordingSink(), RUN, {Kind.PAUSED}, [heard]).event(paused(OTHER))
    assert heard.news == []


def test_the_bell_rings_in_the_terminal() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        Bell(terminal).tell(News(kind=Kind.PAUSED, text="x"))
        assert os.read(master, 10) == b"\a"
    os.close(master)


def test_a_bell_that_nobody_hears_is_no_error() -> None:
    stream = io.StringIO()
    stream.close()
    Bell(stream).tell(News(kind=Kind.PAUSED, text="x"))
