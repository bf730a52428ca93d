"""No screen: what a worker of a team has to say, its lead shows."""

from contextlib import AbstractContextManager, nullcontext

from ralph.core.agent_events import AgentEvent
from ralph.core.events import Recorded
from ralph.core.ids import TaskId


class Silent:
    """A `Sink` that shows nothing."""

    def event(self, recorded: Recorded) -> None:
        """It is in the store."""

    def said(self, task: TaskId, event: AgentEvent) -> None:
        """It is in the session's stream."""

    def tick(self) -> None:
        """Nothing moves here."""

    def aside(self) -> AbstractContextManager[None]:
        """There is no terminal."""
        return nullcontext()

    def close(self) -> None:
        """There was nothing."""
