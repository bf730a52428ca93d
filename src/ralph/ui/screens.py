"""Choose the screen of a run, and wrap it to notify and to follow other processes."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final, TextIO

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.events import RecordedEvent
from ralph.core.ids import RunId, TaskId
from ralph.core.notifications import NotificationKind, notification_of
from ralph.ports.clock import Clock
from ralph.ports.user_interface import EventSink, NotificationChannel
from ralph.ui.output_stream import OutputStream
from ralph.ui.run_view import RunView
from ralph.ui.session_stream import SessionTails
from ralph.ui.terminal import can_redraw

READ_EVERY_S: Final = 0.4


def choose_screen(
    stdout: TextIO,
    *,
    clock: Clock,
    run_view: RunView | None = None,
    json: bool = False,
    color: str = "auto",
    env: Mapping[str, str] | None = None,
) -> EventSink:
    """JSON lines when asked for, the live view on a terminal that can, else plain lines.

    `color` is `auto`, `always` or `never`; only the live view has any.
    """
    if json:
        from ralph.ui.plain_screen import JsonLines

        return JsonLines(stdout)
    if not can_redraw(stdout, os.environ if env is None else env):
        from ralph.ui.plain_screen import PlainScreen

        return PlainScreen(stdout, clock, run_view)
    from ralph.ui.live_screen import LiveScreen

    wanted = {"always": True, "never": False}.get(color)
    return LiveScreen(stdout, clock, run_view, color=wanted)


class ScreenWrapper(msgspec.Struct):
    """Passes everything on to a screen."""

    screen: EventSink

    def event(self, recorded: RecordedEvent) -> None:
        self.screen.event(recorded)

    def agent_event(self, task: TaskId, event: AgentEvent) -> None:
        self.screen.agent_event(task, event)

    def tick(self) -> None:
        self.screen.tick()

    def suspended(self) -> AbstractContextManager[None]:
        return self.screen.suspended()

    def close(self) -> None:
        self.screen.close()


class NotifyingScreen(ScreenWrapper):
    """Also sends notifications about one run to its channels."""

    run: RunId
    wanted: Collection[NotificationKind]
    channels: Sequence[NotificationChannel]

    def event(self, recorded: RecordedEvent) -> None:
        """Show the event first, since a notification says less."""
        self.screen.event(recorded)
        news = notification_of(recorded) if recorded.run_id == self.run else None
        if news is not None and news.kind in self.wanted:
            for channel in self.channels:
                channel(news)


def bell(terminal: TextIO) -> NotificationChannel:
    """The terminal's bell. It moves no cursor, so it may ring while a screen is drawn."""
    out = OutputStream(terminal)
    return lambda _: out.write_if_ready("\a")


class AttachedScreen(ScreenWrapper):
    """Also shows the events that sessions in other processes write to files."""

    tails: SessionTails
    clock: Clock
    read_at: float = float("-inf")

    def event(self, recorded: RecordedEvent) -> None:
        """Follow sessions from start to end; their last events are shown before their end."""
        self._show(self.tails.end(recorded.event))
        self.screen.event(recorded)
        self.tails.begin(recorded.event)

    def tick(self) -> None:
        now = self.clock.monotonic()
        if now - self.read_at >= READ_EVERY_S:
            self.read_at = now
            self._show(self.tails.more())
        self.screen.tick()

    def _show(self, said: Iterable[tuple[TaskId, AgentEvent]]) -> None:
        for task, event in said:
            self.screen.agent_event(task, event)
