"""While the loop waits: until when, why, and what a person can do."""

from typing import Final

from rich.text import Text

from ralph.ui.board import Hold
from ralph.ui.doings import folded
from ralph.ui.story import SAFE
from ralph.ui.wording import clock, countdown

ROWS: Final = 4


def held_rows(hold: Hold, now: float, width: int, lines: int) -> list[Text]:
    """A headline and, where there is room, up to so many lines below it."""
    if hold.until is None:
        head = Text.assemble(("‖ paused", "bold yellow"), f": {hold.reason}")
        return [head]
    head = Text.assemble((f"◷ {waiting_words(hold, now)}", "bold yellow"))
    if lines < 2:
        head.append(f": {hold.reason}")
        return [head]
    reason = folded(hold.reason, width - 4)[: lines - 1]
    hint = folded(SAFE, width - 4)[: lines - len(reason)]
    rows = [*(Text(row) for row in reason), *(Text(row, style="dim") for row in hint)]
    return [head, *(Text.assemble("  ", ("│", "dim"), " ", row) for row in rows)]


def waiting_words(hold: Hold, now: float) -> str:
    """`waiting: goes on at 14:05, in 23:10`"""
    if hold.until is None or hold.until <= now:
        return "waiting: goes on now"
    return f"waiting: goes on at {clock(hold.until, now)}, in {countdown(hold.until - now + 0.999)}"
