"""The journal as JSON lines, for programs."""

from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from ralph.core.agent_events import AgentEvent
from ralph.core.events import Recorded, as_line
from ralph.core.ids import TaskId
from ralph.ui.outlet import Outlet


class JsonLines:
    """One object per stored event. What an agent says is not stored, so it is not here."""

    def __init__(self, stream: TextIO) -> None:
        self._out = Outlet(stream)

    def event(self, recorded: Recorded) -> None:
        """Write its line at once: the reader may be waiting for it."""
        line = as_line(recorded).decode()
        # JSON itself allows what a terminal takes for a control, such as U+009B.
        self._out.write((line if line.isprintable() else _escaped(line)) + "\n")

    def said(self, task: TaskId, event: AgentEvent) -> None:
        """Not stored, not shown."""

    def tick(self) -> None:
        """Nothing moves here."""

    def aside(self) -> AbstractContextManager[None]:
        """Lines are in nobody's way."""
        return nullcontext()

    def close(self) -> None:
        """Every line is out already."""


def _escaped(line: str) -> str:
    from json import dumps

    return "".join(char if char.isprintable() else dumps(char)[1:-1] for char in line)
