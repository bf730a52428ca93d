"""Plain lines, for pipes and logs: one for each thing that matters, and no tricks."""

from contextlib import AbstractContextManager, nullcontext
from math import ceil
from typing import Final, TextIO

from ralph.core import agent_events as said
from ralph.core import check_events, events, handoff_events
from ralph.core.duration import spoken
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.ports.clock import Clock
from ralph.ui.account import account
from ralph.ui.board import Board
from ralph.ui.outlet import Outlet
from ralph.ui.saying import denied_words, limit_words, retry_words, trouble_words
from ralph.ui.story import sentence, tell
from ralph.ui.wording import first_line, moment, time_of_day

PER_SECOND: Final = 5
"""So many lines of an agent's doings; a flood of them is counted instead."""
EACH_MINUTE: Final = 10
"""Of a wait for a quota, which may take hours, only the last minutes are counted."""
REMEMBERED: Final = 100
"""Sessions whose last words may still be their last."""
MOST_PER_SECOND: Final = 20
"""The same for what a person must not miss."""


class Plain:
    """`15:04:05 t-4f2a01 done: Read the config (2 attempts, 3m 12s, $0.21)`"""

    def __init__(self, stream: TextIO, clock: Clock, board: Board | None = None) -> None:
        self._out = Outlet(stream)
        self._clock = clock
        self._board = board or Board()
        self._window = float("-inf")
        self._shown = 0
        self._dropped = 0
        self._last_text: dict[TaskId, str] = {}
        self._last_trouble = ""
        self._minutes = 0
        """That were left of a wait."""

    def event(self, recorded: events.Recorded) -> None:
        """Tell of it."""
        self._board.take(recorded)
        self._speak_of(recorded.event)
        told = tell(recorded.event, self._board)
        if told is not None:
            advice = f" ({told.advice})" if told.advice else ""
            place = f"{told.seat} {told.task}".strip()
            self._line(moment(recorded.time), place, sentence(told) + advice)
        if isinstance(recorded.event, events.RunEnded):
            if self._dropped:
                self._own_up()
            lines = account(recorded.event, self._board)
            self._out.write("".join(f"{line.text}\n" for line in lines))

    def said(self, task: TaskId, event: said.AgentEvent) -> None:  # noqa: C901 - one table
        """Tools, troubles and the last word; the rest is in the session's log."""
        match event:
            case said.Text(text=text, partial=False):
                self._last_text[task] = text[:4000]
                if len(self._last_text) > REMEMBERED:
                    del self._last_text[next(iter(self._last_text))]
            # Early in the table, since there are so many of them.
            case said.Text() | said.Thinking():
                pass
            case said.ToolUse(name=name, summary=summary):
                self._chat(task, name, summary)
            case said.ToolResult(error=True, text=text):
                self._chat(task, "error", text)
            case said.Denied():
                self._chat(task, "not permitted", denied_words(event), MOST_PER_SECOND)
            case said.Trouble():
                self._last_trouble = trouble_words(event)[:4000]
                self._chat(task, "trouble", self._last_trouble, MOST_PER_SECOND)
            case said.Retry():
                self._chat(task, "", retry_words(event))
            case said.Limit(status=status):
                if status is not said.LimitStatus.ALLOWED:
                    words = limit_words(event, self._clock.now())
                    self._chat(task, "", words, MOST_PER_SECOND)
            case said.Started(model=model):
                if model:
                    self._chat(task, "works with", model)
            case said.Result(text=text, detail=detail, error=error):
                # Some agents do not repeat their last words in their result.
                last = self._last_text.pop(task, "")
                text = text or ("" if error else last)
                # The program has often said so just before, and the session's end says it again.
                if not error or detail != self._last_trouble:
                    self._chat(task, "ends with an error" if error else "says", text or detail)
            case said.ToolResult() | said.Usage() | said.Request() | said.Unknown():
                pass

    def tick(self) -> None:
        """Own up to what was left out, and count a long wait down."""
        self._count_down()
        if self._dropped and self._clock.monotonic() - self._window >= 1:
            self._own_up()

    def _count_down(self) -> None:
        """A line for every minute that is left: whoever reads a log sees that it goes on."""
        hold, now = self._board.hold, self._clock.now()
        left = hold.until - now if hold is not None and hold.until is not None else 0.0
        minutes = ceil(left / 60) if left > 0 else 0
        if minutes < self._minutes and hold is not None and minutes:
            self._line(now, "", f"waiting: goes on in {spoken(left)}: {hold.reason}")
        self._minutes = minutes if minutes <= EACH_MINUTE else 0

    def aside(self) -> AbstractContextManager[None]:
        """Lines are in nobody's way."""
        return nullcontext()

    def close(self) -> None:
        """Every line is out already, but for the last count."""
        if self._dropped:
            self._own_up()

    def _speak_of(self, event: events.Event) -> None:
        match event:
            case (
                events.SessionStarted(task_id=task_id)
                | check_events.VerificationStarted(task_id=task_id)
                | check_events.ReviewStarted(task_id=task_id)
            ):
                self._last_text.pop(task_id, None)
            case (
                events.SessionEnded(task_id=task_id)
                | handoff_events.SessionHandedOver(task_id=task_id)
                | check_events.VerificationEnded(task_id=task_id)
                | check_events.ReviewEnded(task_id=task_id)
            ):
                # An agent that reports no result has said its last word in its last text.
                if text := self._last_text.pop(task_id, ""):
                    self._chat(task_id, "says", text)
            case _:
                pass

    def _chat(self, task: TaskId, name: str, text: str, most: int = PER_SECOND) -> None:
        now = self._clock.monotonic()
        if now - self._window >= 1:
            if self._dropped:
                self._own_up()
            self._window, self._shown = now, 0
        if self._shown >= most:
            self._dropped += 1
            return
        self._shown += 1
        words = ": ".join(filter(None, (one_line(name, 60), first_line(text))))
        name = f"{self._board.team.who(task)} {one_line(self._board.names.of(task), 40)}".strip()
        self._out.offer(f"{time_of_day(self._clock.now())} {name}   {words}\n")

    def _own_up(self) -> None:
        count, self._dropped = self._dropped, 0
        self._out.offer(f"{time_of_day(self._clock.now())} … and {count} more, in the log\n")

    def _line(self, at: float | None, task: str, words: str) -> None:
        place = f"{task} " if task else ""
        self._out.write(f"{time_of_day(at)} {place}{words}\n")
