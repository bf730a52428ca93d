"""What fits: lines into a window, facts into a line."""

from collections.abc import Iterable
from typing import Final

from rich.text import Text

SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
WIDEST: Final = 112
"""Lines that run across a very wide window are hard to read."""


def usable(columns: int) -> int:
    """The width to draw in: the last column stays free, or some terminals wrap."""
    return max(10, min(WIDEST, columns - 1))


def spread(left: Text, facts: Iterable[str], width: int) -> Text:
    """One line with the facts at its right edge; as many of the last of them as there is room."""
    told = [fact for fact in facts if fact]
    while told:
        right = Text(" · ".join(told), style="dim")
        room = width - right.cell_len - 2
        if room >= min(16, left.cell_len):
            left.truncate(room, overflow="ellipsis", pad=True)
            return Text.assemble(left, "  ", right)
        told = told[1:]
    left.truncate(width, overflow="ellipsis")
    return left


class Room:
    """How many lines are left. What comes first gets its lines first."""

    def __init__(self, lines: int) -> None:
        self.left = lines

    def grant(self, wanted: int, *, least: int = 1) -> int:
        """So many of them, as far as there are any; none where that is less than `least`."""
        granted = min(wanted, self.left)
        if granted < least:
            return 0
        self.left -= granted
        return granted
