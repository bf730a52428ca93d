"""A screen that also keeps two files up to date, for whoever reads them while a run works."""

from contextlib import AbstractContextManager, suppress
from typing import Final

from ralph.core.agent_events import AgentEvent
from ralph.core.errors import RalphError
from ralph.core.events import Recorded, RunEnded, RunStarted
from ralph.core.ids import TaskId
from ralph.documents.team_views import Tally
from ralph.ports.clock import Clock
from ralph.ports.library import Library
from ralph.ports.sink import Sink

PAUSE_S: Final = 1.0
"""Tasks may be done faster than anybody reads."""


class TeamFiles:
    """Passes everything on to the screen; draws `failures.json` and `metrics.json`."""

    def __init__(self, screen: Sink, library: Library, clock: Clock) -> None:
        self._screen = screen
        self._library = library
        self._clock = clock
        self._tally = Tally()
        self._is_due = False
        self._drawn = float("-inf")

    def event(self, recorded: Recorded) -> None:
        """Count it."""
        self._screen.event(recorded)
        self._is_due |= self._tally.fold(recorded)
        at_once = isinstance(recorded.event, RunStarted | RunEnded)
        if at_once or self._clock.monotonic() - self._drawn >= PAUSE_S:
            self._draw()

    def said(self, task: TaskId, event: AgentEvent) -> None:
        """What an agent says counts nothing."""
        self._screen.said(task, event)

    def tick(self) -> None:
        """What came too quickly is drawn now."""
        self._screen.tick()
        if self._is_due and self._clock.monotonic() - self._drawn >= PAUSE_S:
            self._draw()

    def aside(self) -> AbstractContextManager[None]:
        """Only the screen is in the way."""
        return self._screen.aside()

    def close(self) -> None:
        """The last state is there when the run is over."""
        self._draw()
        self._screen.close()

    def _draw(self) -> None:
        if not self._is_due:
            return
        self._is_due = False
        self._drawn = self._clock.monotonic()
        # A view that cannot be written costs nobody their work: it can be drawn again.
        with suppress(RalphError):
            for path, content in self._tally.files().items():
                self._library.put(path, content)
