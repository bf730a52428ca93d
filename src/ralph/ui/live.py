"""The live view: what stays scrolls up, and below it a region shows what happens now."""

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
from ralph.core.events import Recorded, RunEnded
from ralph.core.ids import TaskId
from ralph.ports.clock import Clock
from ralph.ui.account import Line, account
from ralph.ui.board import Board
from ralph.ui.doings import folded
from ralph.ui.fitting import spread, usable
from ralph.ui.frame import frame
from ralph.ui.link import link_to
from ralph.ui.outlet import Outlet
from ralph.ui.region import Region, Size, terminal_size
from ralph.ui.story import Told, Tone, sentence, tell
from ralph.ui.suspension import Suspension

BETWEEN_DRAWS_S: Final = 0.125
KEPT_LINES: Final = 500
"""Lines that wait for a terminal which is held; more of them and the oldest go."""
KEPT_SHOWN: Final = 60
"""Lines that are printed once more when the window gets another width."""

LINK_ID: Final = re.compile(r"\x1b\]8;id=[^;]*;")
MARKS: Final = {
    Tone.GOOD: ("✓", "green"),
    Tone.BAD: ("✗", "red"),
    Tone.AGAIN: ("↻", "yellow"),
    Tone.WARNING: ("!", "yellow"),
    Tone.NOTE: ("·", "cyan"),
    Tone.DETAIL: ("·", "dim"),
}


class Live:
    """Draws at most eight times a second, only when called, and never from a thread."""

    def __init__(
        self,
        stream: TextIO,
        clock: Clock,
        board: Board | None = None,
        *,
        color: bool | None = None,
        size: Callable[[], Size] | None = None,
    ) -> None:
        """`color`: None leaves it to the terminal and `NO_COLOR`."""
        self._clock = clock
        self._board = board or Board()
        self._out = Outlet(stream)
        self._size = size or (lambda: terminal_size(self._out.fd))
        self._region = Region(self._out)
        # Rich turns styles into the escapes that this terminal knows; it writes nothing itself.
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            no_color=None if color is None else not color,
            legacy_windows=False,
        )
        self._waiting: deque[Told | Line] = deque(maxlen=KEPT_LINES)
        self._shown: deque[Told | Line] = deque(maxlen=KEPT_SHOWN)
        self._columns = 0
        self._drawn_at = float("-inf")
        self._beat = 0
        self._is_over = False
        self._is_aside = False
        self._suspension = Suspension()
        if self._out.fd >= 0:
            self._suspension.watch()

    def event(self, recorded: Recorded) -> None:
        """Show it; what matters tomorrow stays as a line."""
        self._board.take(recorded)
        told = tell(recorded.event, self._board)
        if told is not None and told.tone is not Tone.DETAIL:
            self._waiting.append(told)
        if isinstance(recorded.event, RunEnded):
            # What was done stands in the lines above.
            self._waiting.extend(account(recorded.event, self._board, with_done=False))
            self._is_over = True
            self._draw()
        self.tick()

    def said(self, task: TaskId, event: AgentEvent) -> None:
        """Show the newest of it."""
        self._board.hear(task, event, self._clock.now())
        self.tick()

    def tick(self) -> None:
        """Draw, unless it was done a moment ago."""
        if self._suspension.is_asked:
            self._stand_aside()
        if (
            self._is_over
            or self._is_aside
            or self._clock.monotonic() - self._drawn_at < BETWEEN_DRAWS_S
        ):
            return
        self._draw()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the region away; what happens meanwhile is shown afterwards."""
        self._is_aside = True
        self._region.leave()
        # Whoever has the terminal now also has Ctrl-Z.
        self._suspension.close()
        try:
            yield
        finally:
            self._is_aside = False
            self._suspension.watch()
            self._region.enter()
            self._drawn_at = float("-inf")

    def close(self) -> None:
        """Take the region away, keep the lines, show the cursor."""
        try:
            if not self._is_over or self._waiting:
                self._is_over = True
                self._draw()
        finally:
            self._suspension.close()
            self._region.close()

    def _stand_aside(self) -> None:
        self._region.leave()
        self._suspension.stop()
        self._region.enter()
        self._drawn_at = float("-inf")

    def _draw(self) -> None:
        if self._suspension.came_back():
            self._region.enter()
        self._drawn_at = self._clock.monotonic()
        self._beat += 1
        size = self._size()
        lines = [] if self._is_over else frame(self._board, self._clock.now(), size, self._beat)
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

    def _rows(self, lines: Iterable[Told | Line], size: Size) -> list[str]:
        width = usable(size.columns)
        texts = [text for line in lines for text in staying(line, width)]
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


def staying(line: Told | Line, width: int) -> list[Text]:
    """A line that stays above the region, as text."""
    mark, style = MARKS[line.tone]
    if isinstance(line, Line):
        return _of_account(line, style, width)
    left = Text.assemble((mark, style), " ")
    if line.task:
        left.append(f"{line.task} ", style="dim")
    if not line.title:
        words = line.why if line.word == "warning" else sentence(line)
        first, *rest = _indented(words, width, left.cell_len)
        return [Text.assemble(left, first), *map(Text, rest)]
    left.append(line.title)
    word = "" if line.tone is Tone.GOOD else line.word
    reason = _indented(line.why, width, 4) if line.why else []
    return [
        spread(left, (line.seat, word, *line.facts), width),
        *(Text(f"    {row.strip()}", style="dim") for row in reason),
    ]


def _of_account(line: Line, style: str, width: int) -> list[Text]:
    """Folded and not cut: this is what is read in the morning."""
    link = Style(link=link_to(line.path)) if line.path else Style()
    rows = [Text(row, style=style) for row in _indented(line.text, width, 4)]
    for row in rows:
        # Not under the indent.
        row.stylize(link, len(row.plain) - len(row.plain.lstrip()))
    return rows


def _indented(words: str, width: int, indent: int) -> list[str]:
    first, *rest = folded(words, width - indent) or [""]
    return [first, *(" " * indent + row for row in rest)]
