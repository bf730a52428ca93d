"""The live screen: finished lines scroll up, and a region below shows the current state."""

import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from rich.console import Console
from rich.style import Style
from rich.text import Text

from ralph.core.agent_events import AgentEvent
from ralph.core.events import RecordedEvent, RunEnded
from ralph.core.ids import TaskId
from ralph.ports.clock import Clock
from ralph.ui.closing_summary import SummaryLine, closing_summary
from ralph.ui.event_text import MessageTone, ScreenMessage, message_for, message_text
from ralph.ui.live_frame import align_right, fold_text, live_frame, usable_width
from ralph.ui.output_stream import OutputStream
from ralph.ui.run_view import RunView
from ralph.ui.terminal import Size, TerminalRegion, TerminalSuspend, link_to, terminal_size

BETWEEN_DRAWS_S: Final = 0.125
KEPT_LINES: Final = 500
"""Lines that wait for a terminal which is held; more of them and the oldest go."""
KEPT_SHOWN: Final = 60
"""Lines that are printed once more when the window gets another width."""

LINK_ID: Final = re.compile(r"\x1b\]8;id=[^;]*;")
MARKS: Final = {
    MessageTone.GOOD: ("✓", "green"),
    MessageTone.BAD: ("✗", "red"),
    MessageTone.AGAIN: ("↻", "yellow"),
    MessageTone.WARNING: ("!", "yellow"),
    MessageTone.NOTE: ("·", "cyan"),
    MessageTone.DETAIL: ("·", "dim"),
}


class LiveScreen:
    """Draws at most eight times a second, only when called, and never from a thread."""

    def __init__(
        self,
        stream: TextIO,
        clock: Clock,
        run_view: RunView | None = None,
        *,
        color: bool | None = None,
        size: Callable[[], Size] | None = None,
    ) -> None:
        """`color`: None leaves it to the terminal and `NO_COLOR`."""
        self._clock = clock
        self._run_view = run_view or RunView()
        self._out = OutputStream(stream)
        self._size = size or (lambda: terminal_size(self._out.fd))
        self._region = TerminalRegion(self._out)
        # Rich turns styles into the escapes that this terminal knows; it writes nothing itself.
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            no_color=None if color is None else not color,
            legacy_windows=False,
        )
        self._waiting: deque[ScreenMessage | SummaryLine] = deque(maxlen=KEPT_LINES)
        self._shown: deque[ScreenMessage | SummaryLine] = deque(maxlen=KEPT_SHOWN)
        self._columns = 0
        self._drawn_at = float("-inf")
        self._beat = 0
        self._is_over = False
        self._is_aside = False
        self._interrupted: str | None = None
        self._suspension = TerminalSuspend()
        if self._out.fd >= 0:
            self._suspension.watch()

    def event(self, recorded: RecordedEvent) -> None:
        self._run_view.add(recorded)
        message = message_for(recorded.event, self._run_view)
        if message is not None and message.tone is not MessageTone.DETAIL:
            self._waiting.append(message)
        if isinstance(recorded.event, RunEnded):
            # What was done is in the lines above.
            self._waiting.extend(closing_summary(recorded.event, self._run_view, with_done=False))
            self._is_over = True
            self._draw()
        self.tick()

    def agent_event(self, task: TaskId, event: AgentEvent) -> None:
        self._run_view.team.add_agent_event(task, event, self._clock.now())
        self.tick()

    def tick(self) -> None:
        if self._suspension.is_asked:
            self._region.leave()
            self._suspension.stop()
            self._come_back()
        is_due = self._clock.monotonic() - self._drawn_at >= BETWEEN_DRAWS_S
        # A person waits for the answer to a key.
        is_due = is_due or self._run_view.interrupted() != self._interrupted
        if is_due and not (self._is_over or self._is_aside):
            self._draw()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Take the region away; what happens meanwhile is shown afterwards."""
        self._is_aside = True
        self._region.leave()
        # The program that uses the terminal now also handles Ctrl-Z.
        self._suspension.close()
        try:
            yield
        finally:
            self._is_aside = False
            self._suspension.watch()
            self._come_back()

    def close(self) -> None:
        try:
            if not self._is_over or self._waiting:
                self._is_over = True
                self._draw()
        finally:
            self._suspension.close()
            self._region.close()

    def _come_back(self) -> None:
        self._region.enter()
        self._drawn_at = float("-inf")

    def _draw(self) -> None:
        if self._suspension.was_suspended():
            self._region.enter()
        self._drawn_at = self._clock.monotonic()
        self._interrupted = self._run_view.interrupted()
        self._beat += 1
        size, lines = self._size(), []
        if not self._is_over:
            lines = live_frame(self._run_view, self._clock.now(), size, self._beat)
        afresh = self._columns not in (0, size.columns)
        stay = self._rows(self._waiting, size)
        if afresh:
            room = max(0, size.lines - len(lines) - len(stay))
            shown = self._rows(self._shown, size)
            stay = shown[max(0, len(shown) - room) :] + stay
        if self._region.draw(stay, self._ansi(lines), afresh=afresh):
            self._columns = size.columns
            self._shown.extend(self._waiting)
            self._waiting.clear()

    def _rows(self, lines: Iterable[ScreenMessage | SummaryLine], size: Size) -> list[str]:
        width = usable_width(size.columns)
        texts = [text for line in lines for text in permanent_rows(line, width)]
        for text in texts:
            text.truncate(width, overflow="ellipsis")
        return self._ansi(texts)

    def _ansi(self, texts: list[Text]) -> list[str]:
        if not texts:
            return []
        with self._console.capture() as captured:
            self._console.print(Text("\n").join(texts), end="", soft_wrap=True, highlight=False)
        # Rich gives a link a new id each time, and one that changes with every frame flickers.
        return LINK_ID.sub("\x1b]8;;", captured.get()).split("\n")


def permanent_rows(line: ScreenMessage | SummaryLine, width: int) -> list[Text]:
    """A line that stays above the region, as text."""
    mark, style = MARKS[line.tone]
    if isinstance(line, SummaryLine):
        # Folded and not cut: this is what is read in the morning.
        link = Style(link=link_to(line.path)) if line.path else Style()
        rows = [Text(row, style=style) for row in _indented(line.text, width, 4)]
        for row in rows:
            # Not under the indent.
            row.stylize(link, len(row.plain) - len(row.plain.lstrip()))
        return rows
    left = Text.assemble((mark, style), " ")
    if line.task:
        left.append(f"{line.task} ", style="dim")
    if not line.title:
        words = line.why if line.word == "warning" else message_text(line)
        first, *rest = _indented(words, width, left.cell_len)
        return [Text.assemble(left, first), *map(Text, rest)]
    left.append(line.title)
    word = "" if line.tone is MessageTone.GOOD else line.word
    reason = _indented(line.why, width, 4) if line.why else []
    return [
        align_right(left, (line.worker, word, *line.facts), width),
        *(Text(f"    {row.strip()}", style="dim") for row in reason),
    ]


def _indented(words: str, width: int, indent: int) -> list[str]:
    first, *rest = fold_text(words, width - indent) or [""]
    return [first, *(" " * indent + row for row in rest)]
