"""A screen that also calls people who are not looking at it."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import TextIO

from ralph.core.agent_events import AgentEvent
from ralph.core.events import Recorded
from ralph.core.ids import RunId, TaskId
from ralph.core.news import Kind, News, news_of
from ralph.ports.channel import Channel
from ralph.ports.sink import Sink
from ralph.ui.outlet import Outlet


class Herald:
    """Passes everything on to the screen, and the news of this run to its channels."""

    def __init__(
        self, screen: Sink, run: RunId, wanted: Collection[Kind], channels: Sequence[Channel]
    ) -> None:
        self._screen = screen
        self._run = run
        self._wanted = wanted
        self._channels = channels

    def event(self, recorded: Recorded) -> None:
        """Show it first: a notification says less."""
        self._screen.event(recorded)
        news = news_of(recorded) if recorded.run_id == self._run else None
        if news is not None and news.kind in self._wanted:
            for channel in self._channels:
                channel.tell(news)

    def said(self, task: TaskId, event: AgentEvent) -> None:
        """Nobody is called for that."""
        self._screen.said(task, event)

    def tick(self) -> None:
        """Only the screen has clocks."""
        self._screen.tick()

    def aside(self) -> AbstractContextManager[None]:
        """Only the screen is in the way."""
        return self._screen.aside()

    def close(self) -> None:
        """Only the screen has a terminal."""
        self._screen.close()


class Bell:
    """The terminal's own. It moves no cursor, so it may ring while a screen is drawn."""

    def __init__(self, terminal: TextIO) -> None:
        self._out = Outlet(terminal)

    def tell(self, news: News) -> None:
        """Ring."""
        del news
        self._out.offer("\a")
