"""The interfaces to people: a screen, a question at the terminal, a notification."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from ralph.core.agent_events import AgentEvent
from ralph.core.events import RecordedEvent
from ralph.core.ids import TaskId
from ralph.core.notifications import Notification
from ralph.core.task import Task


class EventSink(Protocol):
    """Shows the events of a run."""

    def event(self, recorded: RecordedEvent) -> None: ...

    def agent_event(self, task: TaskId, event: AgentEvent) -> None:
        """Show an event of the agent that works on `task`."""

    def tick(self) -> None:
        """Time has passed: redraw clocks."""

    def suspended(self) -> AbstractContextManager[None]:
        """Leave the terminal to another program for a while."""

    def close(self) -> None:
        """The run is over: restore the terminal."""


class UserPrompt(Protocol):
    """Asks the user for guidance. It exists only where the run has a terminal."""

    def ask_guidance(self, task: Task, tick: Callable[[], bool]) -> str | None:
        """Ask the user, who has just stopped the session of this task, for guidance.

        Empty: go on without any. None: end the run. `tick` is called at least twice a second, and
        True ends the question.
        """


NotificationChannel = Callable[[Notification], object]
"""Notifies the user, for example by a bell or a command. A run never waits for a channel and never
fails because of one."""
