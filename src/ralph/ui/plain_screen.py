"""Screens that draw nothing: plain lines for pipes and logs, JSON lines for programs, silence."""

from contextlib import AbstractContextManager, nullcontext
from math import ceil
from typing import Final, TextIO

from ralph.core import agent_events as agent
from ralph.core import events
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.core.times import format_duration
from ralph.ports.clock import Clock
from ralph.ui.agent_activity import ActivityKind, action_of
from ralph.ui.closing_summary import closing_summary
from ralph.ui.event_text import message_for, message_text
from ralph.ui.formatting import first_line, parse_time, time_of_day
from ralph.ui.output_stream import OutputStream
from ralph.ui.run_view import RunView
from ralph.ui.team_view import NewestDict, SessionBegins, SessionEnds

PER_SECOND: Final = 5
"""Lines about an agent's actions; further ones are only counted."""
EACH_MINUTE: Final = 10
"""The last minutes of a wait that are counted down: a quota may take hours."""
SESSIONS_KEPT: Final = 100
"""Sessions whose last text may be their result."""
MOST_PER_SECOND: Final = 20
"""Lines about problems and refusals."""
URGENT: Final = (ActivityKind.DENIED, ActivityKind.PROBLEM, ActivityKind.NOTE)
WORDS: Final = {
    ActivityKind.ERROR: "error",
    ActivityKind.PROBLEM: "trouble",
    ActivityKind.DENIED: "not permitted",
}


class SilentScreen:
    """Shows nothing: a team's workers leave it to the lead's screen."""

    def event(self, recorded: events.RecordedEvent) -> None:
        """Ignore a stored event."""

    def agent_event(self, task: TaskId, event: agent.AgentEvent) -> None:
        """Ignore what an agent reports."""

    def tick(self) -> None:
        """Do nothing: there is nothing to redraw."""

    def suspended(self) -> AbstractContextManager[None]:
        """Do nothing: lines do not disturb other programs on the terminal."""
        return nullcontext()

    def close(self) -> None:
        """Do nothing: every line is written already."""


class JsonLines(SilentScreen):
    """One JSON object per stored event. What an agent says is not stored, so it is left out."""

    def __init__(self, stream: TextIO) -> None:
        self._out = OutputStream(stream)

    def event(self, recorded: events.RecordedEvent) -> None:
        """Write its line at once: the reader may be waiting for it."""
        line = events.event_json(recorded).decode()
        # JSON itself allows what a terminal takes for a control, such as U+009B.
        self._out.write((line if line.isprintable() else _escaped(line)) + "\n")


def _escaped(line: str) -> str:
    from json import dumps

    return "".join(char if char.isprintable() else dumps(char)[1:-1] for char in line)


class PlainScreen(SilentScreen):
    """`15:04:05 t-4f2a01 done: Read the config (2 attempts, 3m 12s, $0.21)`"""

    def __init__(self, stream: TextIO, clock: Clock, run_view: RunView | None = None) -> None:
        self._out = OutputStream(stream)
        self._clock = clock
        self._run_view = run_view or RunView()
        self._window = float("-inf")
        self._shown = 0
        self._dropped = 0
        self._last_text: NewestDict[TaskId, str] = NewestDict(SESSIONS_KEPT)
        self._last_problem = ""
        self._minutes = 0
        """Minutes that were left of a wait."""

    def event(self, recorded: events.RecordedEvent) -> None:
        self._run_view.add(recorded)
        self._print_event(recorded.event)
        message = message_for(recorded.event, self._run_view)
        if message is not None:
            advice = f" ({message.advice})" if message.advice else ""
            place = f"{message.worker} {message.task}"
            self._line(parse_time(recorded.time), place, message_text(message) + advice)
        if isinstance(recorded.event, events.RunEnded):
            self._report_left_out()
            lines = closing_summary(recorded.event, self._run_view)
            self._out.write("".join(f"{line.text}\n" for line in lines))

    def agent_event(self, task: TaskId, event: agent.AgentEvent) -> None:
        match event:
            case agent.Text(text=text, partial=False):
                self._last_text[task] = text[:4000]
            # Early in the table, since there are so many of them.
            case agent.Text() | agent.Thinking():
                pass
            case agent.AgentStarted(model=model) if model:
                self._print_agent_line(task, "works with", model)
            case agent.SessionResultEvent(text=text, detail=detail, error=error):
                # Some agents do not repeat their last words in their result.
                last = self._last_text.pop(task, "")
                text = text or ("" if error else last)
                # The program has often said so just before, and the session's end says it again.
                if not error or detail != self._last_problem:
                    words = "ends with an error" if error else "says"
                    self._print_agent_line(task, words, text or detail)
            case _:
                if action := action_of(event, self._clock.now()):
                    if action.kind is ActivityKind.PROBLEM:
                        self._last_problem = action.text[:4000]
                    most = MOST_PER_SECOND if action.kind in URGENT else PER_SECOND
                    word = WORDS.get(action.kind, action.tool)
                    self._print_agent_line(task, word, action.text, most)

    def tick(self) -> None:
        self._count_down()
        if self._clock.monotonic() - self._window >= 1:
            self._report_left_out()

    def _count_down(self) -> None:
        """Print each minute that is left, which shows that the run is alive."""
        wait, now = self._run_view.wait, self._clock.now()
        left = wait.until - now if wait is not None and wait.until is not None else 0.0
        minutes = ceil(left / 60) if left > 0 else 0
        if minutes < self._minutes and wait is not None and minutes:
            self._line(now, "", f"waiting: goes on in {format_duration(left)}: {wait.reason}")
        self._minutes = minutes if minutes <= EACH_MINUTE else 0

    def close(self) -> None:
        self._report_left_out()

    def _print_event(self, event: events.Event) -> None:
        if isinstance(event, SessionBegins):
            self._last_text.pop(event.task_id, None)
        # The result of an agent that reports none is its last text.
        elif isinstance(event, SessionEnds) and (text := self._last_text.pop(event.task_id, "")):
            self._print_agent_line(event.task_id, "says", text)

    def _print_agent_line(self, task: TaskId, name: str, text: str, most: int = PER_SECOND) -> None:
        now = self._clock.monotonic()
        if now - self._window >= 1:
            self._report_left_out()
            self._window, self._shown = now, 0
        if self._shown >= most:
            self._dropped += 1
            return
        self._shown += 1
        words = ": ".join(filter(None, (one_line(name, 60), first_line(text))))
        name = f"{self._run_view.team.worker_of(task)} {self._run_view.name_of(task)}".strip()
        self._out.write_if_ready(f"{time_of_day(self._clock.now())} {name}   {words}\n")

    def _report_left_out(self) -> None:
        count, self._dropped = self._dropped, 0
        if count:
            at = time_of_day(self._clock.now())
            self._out.write_if_ready(f"{at} … and {count} more, in the log\n")

    def _line(self, at: float | None, place: str, words: str) -> None:
        self._out.write(" ".join(filter(None, (time_of_day(at), place.strip(), words))) + "\n")
