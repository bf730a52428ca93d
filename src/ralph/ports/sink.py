"""Where events are shown."""

from contextlib import AbstractContextManager
from typing import Protocol

from ralph.core.agent_events import AgentEvent
from ralph.core.events import Recorded
from ralph.core.ids import TaskId


class Sink(Protocol):
    """A screen. All screens fold the same events."""

    def event(self, recorded: Recorded) -> None:
        """Something happened."""
        ...

    def said(self, task: TaskId, event: AgentEvent) -> None:
        """The agent at work on `task` said something."""
        ...

    def tick(self) -> None:
        """Time has passed: redraw clocks."""
        ...

    def aside(self) -> AbstractContextManager[None]:
        """Leave the terminal to somebody else for a while."""
        ...

    def close(self) -> None:
        """The run is over: leave the terminal as it was found."""
        ...
