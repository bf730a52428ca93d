"""A widget of lines: it folds them to its width, scrolls, follows its end, and finds a text."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import ClassVar, Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

CURSOR: Final = Style(reverse=True)
RESTING: Final = Style(bold=True, underline=True)
"""The line of the cursor while another widget has the keys."""
FOUND: Final = "black on yellow"


class Line(NamedTuple):
    text: Text
    key: Hashable = None
    """What it is about. With a cursor, lines without one are passed over."""
    hang: int = 0
    """How far it is indented where it goes on in the next row."""


def plain(text: str, style: str = "", *, hang: int = 0, key: Hashable = None) -> Line:
    return Line(Text(text, style), key, hang)


class LineView(ScrollView, can_focus=True):
    """Shows lines; with `has_cursor` one of them is selected."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "up", show=False),
        Binding("down,j", "step(1)", "down", show=False),
        Binding("shift+up,K", "extend(-1)", "extend up", show=False),
        Binding("shift+down,J", "extend(1)", "extend down", show=False),
        Binding("pageup,b", "page(-1)", "page up", show=False),
        Binding("pagedown,space", "page(1)", "page down", show=False),
        Binding("home,g", "edge(-1)", "beginning", show=False),
        Binding("end,G", "edge(1)", "end", show=False),
    ]

    class Moved(Message):
        """The cursor is on another line."""

        def __init__(self, view: "LineView", key: Hashable) -> None:
            super().__init__()
            self.view = view
            self.key = key

        @property
        def control(self) -> "LineView":
            return self.view

    class AtEdge(Message):
        """A person wants to go on beyond the first or the last line."""

        def __init__(self, view: "LineView", way: int) -> None:
            super().__init__()
            self.view = view
            self.way = way

        @property
        def control(self) -> "LineView":
            return self.view

    def __init__(self, *, id: str, has_cursor: bool = False, wraps: bool = True) -> None:  # noqa: A002
        super().__init__(id=id)
        self.has_cursor = has_cursor
        self.wraps = wraps
        self.find = ""
        self._lines: list[Line] = []
        self._rows: list[tuple[int, Text]] = []
        self._first: list[int] = []
        """The first row of each line."""
        self._width = 0
        self.cursor = -1
        self._anchor = -1
        """Where the selection began."""
        self._found_at = -1
        """The line that was found last."""
        self._follows = False
        """The end stays in sight, whatever comes and however high the window is."""

    # Lines

    @property
    def lines(self) -> Sequence[Line]:
        return self._lines

    def set_lines(self, lines: Iterable[Line], *, at_end: bool = False) -> None:
        """Show other lines. The cursor stays with what it is about, else with its place; so do
        the lines that are selected with it."""
        before, place, anchor = self.key, self.cursor, self._key_at(self._anchor)
        self._lines, self._found_at, self._follows = list(lines), -1, False
        self._fold_all()
        if self.has_cursor:
            keys = [line.key for line in self._lines]
            is_there = before is not None and before in keys
            self.cursor = keys.index(before) if is_there else place
            keeps = is_there and anchor is not None and anchor in keys
            self._anchor = keys.index(anchor) if keeps else -1
            self._settle(1)
            if self.key != before:
                self.post_message(self.Moved(self, self.key))
        if at_end:
            self.to_end()

    def append(self, lines: Iterable[Line], *, most: int, instead_of: int = 0) -> None:
        """Add lines at the end, in the place of some that were there, and follow the end where it
        is in sight; the oldest lines give way."""
        follows = self.is_at_end
        start = len(self._lines) - instead_of
        if instead_of:
            del self._lines[start:], self._rows[self._first[start] :], self._first[start:]
        self._lines += lines
        if (over := len(self._lines) - most) > 0:
            del self._lines[:over]
            self._fold_all()
        else:
            self._fold(start)
        if follows:
            self.to_end()

    @property
    def is_at_end(self) -> bool:
        return self._follows or self.scroll_offset.y >= self.max_scroll_y

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._follows = new_value >= self.max_scroll_y

    def to_end(self) -> None:
        self._follows = True
        # Forced: the scrollbar is not there before the next frame.
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True, immediate=True)

    @property
    def key(self) -> Hashable:
        """What the line of the cursor is about."""
        return self._key_at(self.cursor)

    def _key_at(self, at: int) -> Hashable:
        return self._lines[at].key if 0 <= at < len(self._lines) else None

    @property
    def selected(self) -> list[Hashable]:
        """What the lines are about on which the selection is."""
        first, last = self._selection()
        return [line.key for line in self._lines[first : last + 1] if line.key is not None]

    def _selection(self) -> tuple[int, int]:
        if self.cursor < 0:
            return 0, -1
        anchor = self.cursor if self._anchor < 0 else self._anchor
        return min(anchor, self.cursor), max(anchor, self.cursor)

    def move_to(self, key: Hashable) -> None:
        """Put the cursor on the line of that key, if it is there."""
        found = next((at for at, line in enumerate(self._lines) if line.key == key), None)
        if found is not None:
            self._move(found)

    def line_at(self, row: int) -> int:
        """Which line a row belongs to."""
        return self._rows[row][0] if 0 <= row < len(self._rows) else 0

    def show_line(self, at: int) -> None:
        """Bring a line to the top."""
        if self._first:
            row = self._first[max(0, min(at, len(self._first) - 1))]
            self.scroll_to(y=row, animate=False, force=True, immediate=True)

    # Rows

    def _fold_all(self) -> None:
        self._rows, self._first = [], []
        self._fold(0)

    def _fold(self, start: int) -> None:
        """Make the rows of the lines from there on."""
        width = self._width = self.scrollable_content_region.width
        if not width:
            return
        console = self.app.console
        for at in range(start, len(self._lines)):
            line = self._lines[at]
            self._first.append(len(self._rows))
            text = line.text
            if not self.wraps or text.cell_len <= width:
                self._rows.append((at, text))
                continue
            hang = min(line.hang, width // 2)
            first, *rest = text.wrap(console, max(4, width - hang), overflow="fold", tab_size=4)
            self._rows.append((at, first))
            self._rows += [(at, Text.assemble(" " * hang, piece)) for piece in rest]
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        del event
        if self.scrollable_content_region.width != self._width:
            self._fold_all()
        if self._follows:
            self.to_end()
        elif self.has_cursor:
            self._show_cursor()

    def render_line(self, y: int) -> Strip:
        width, number = self.scrollable_content_region.width, self.scroll_offset.y + y
        if number >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        at, row = self._rows[number]
        text = row.copy()
        text.end = ""
        text.truncate(width, overflow="ellipsis")
        if self.find:
            text.highlight_words([self.find], FOUND, case_sensitive=False)
        console = self.app.console
        # Without spans a text renders without its own style; and each segment needs one.
        own = self.rich_style + console.get_style(text.style)
        segments = Segment.apply_style(text.render(console), own)
        strip = Strip(segments).adjust_cell_length(width, self.rich_style)
        first, last = self._selection()
        if self.has_cursor and first <= at <= last:
            return strip.apply_style(CURSOR if self.has_focus else RESTING)
        return strip

    # Keys and mouse

    def action_step(self, way: int) -> None:
        self._anchor = -1
        if self.has_cursor:
            self._step(way)
        else:
            self._scroll(way)

    def action_extend(self, way: int) -> None:
        """Select a line more."""
        if self.has_cursor:
            anchor = self.cursor if self._anchor < 0 else self._anchor
            self._step(way)
            self._anchor = anchor
            self.refresh()

    def action_page(self, way: int) -> None:
        height = max(1, self.size.height - 1)
        if not self.has_cursor:
            self._scroll(way * height)
            return
        row = self._first[self.cursor] + way * height if self._lines else 0
        self._anchor = -1
        self._move(self._rows[max(0, min(row, len(self._rows) - 1))][0] if self._rows else -1, way)

    def action_edge(self, way: int) -> None:
        self._anchor = -1
        if self.has_cursor:
            self._move(0 if way < 0 else len(self._lines) - 1, -way)
        elif way < 0:
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
            self.post_message(self.AtEdge(self, -2))
        else:
            self.to_end()
            self.post_message(self.AtEdge(self, 2))

    def _scroll(self, rows: int) -> None:
        is_edge = self.is_at_end if rows > 0 else self.scroll_offset.y <= 0
        if is_edge:
            self.post_message(self.AtEdge(self, 1 if rows > 0 else -1))
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True, immediate=True)

    def _step(self, way: int) -> None:
        """To the next line that is about something."""
        at = self.cursor + way
        while 0 <= at < len(self._lines) and self._lines[at].key is None:
            at += way
        if 0 <= at < len(self._lines):
            self._move(at)
        else:
            self.post_message(self.AtEdge(self, way))
            self._reveal(0 if way < 0 else len(self._lines) - 1)

    def _move(self, at: int, way: int = 1) -> None:
        before = self.key
        self.cursor = at
        self._settle(way)
        self._show_cursor()
        self.refresh()
        if self.key != before:
            self.post_message(self.Moved(self, self.key))

    def _settle(self, way: int) -> None:
        """Put the cursor on a line that is about something: the next one, or one before."""
        size = len(self._lines)
        at = max(0, min(self.cursor, size - 1))
        near: Callable[[range], int | None] = lambda places: next(  # noqa: E731
            (one for one in places if self._lines[one].key is not None), None
        )
        ways = [range(at, size), range(at, -1, -1)][:: 1 if way > 0 else -1]
        found = [one for places in ways if (one := near(places)) is not None]
        self.cursor = found[0] if found else -1

    def _show_cursor(self) -> None:
        if self.cursor >= 0:
            self._reveal(self.cursor)

    def _reveal(self, at: int) -> None:
        if 0 <= at < len(self._first):
            first = self._first[at]
            after = self._first[at + 1] if at + 1 < len(self._first) else len(self._rows)
            # What is before the first line that is about something belongs to it.
            top = 0 if all(line.key is None for line in self._lines[:at]) else first
            region = Region(0, top, 1, min(after - top, self.size.height or 1))
            self.scroll_to_region(region, animate=False, force=True)

    def on_click(self, event: events.Click) -> None:
        row = self.scroll_offset.y + event.y
        if self.has_cursor and row < len(self._rows):
            at = self._rows[row][0]
            if self._lines[at].key is not None:
                if event.shift:
                    self._anchor = self.cursor if self._anchor < 0 else self._anchor
                else:
                    self._anchor = -1
                self._move(at)
                self.refresh()

    # Finding

    def find_next(self, text: str, way: int = 1) -> bool:
        """Go to the next line with this text, at first from what is in sight on; False if there is
        none."""
        if text != self.find:
            self.find, self._found_at = text, -1
            self.refresh()
        if self._found_at >= 0:
            start = self._found_at + way
        elif self.has_cursor:
            start = max(0, self.cursor)
        else:
            start = bisect_left(self._first, self.scroll_offset.y)
        wanted = text.casefold()
        for at in range(start, len(self._lines)) if way > 0 else range(start, -1, -1):
            line = self._lines[at]
            if wanted and wanted in line.text.plain.casefold():
                self._found_at = at
                if self.has_cursor and line.key is not None:
                    self._move(at)
                else:
                    self.show_line(at)
                return True
        return False
