"""Lists and trees as plain aligned text. Made for quick commands, so it imports next to nothing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ralph.core.safe_text import one_line

GAP: Final = "  "
NARROWEST: Final = 8
DEEPEST: Final = 40
COLORS: Final[Mapping[str, str]] = {
    "done": "32",
    "failed": "31",
    "blocked": "33",
    "in_progress": "36",
    "pending": "2",
}
"""The colour of a cell that is one of these words."""


class Branch(NamedTuple):
    """A node of a tree. Parents come before their children."""

    key: str
    parent: str | None
    label: str
    status: str = ""


def table(
    rows: Iterable[Sequence[str]],
    headers: Sequence[str],
    *,
    width: int = 0,
    color: bool = False,
) -> list[str]:
    """Aligned columns. With a width the widest column is cut until a line fits it."""
    cells = [[_safe(cell) for cell in row] for row in rows]
    widths = _widths([*cells, headers] if headers else cells, width)
    lines = [_paint(_join(headers, widths), "1", wanted=color)] if headers else []
    for row in cells:
        painted = [
            _paint(fit(cell, room, pad=index < len(row) - 1), COLORS.get(cell, ""), wanted=color)
            for index, (cell, room) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(GAP.join(painted).rstrip())
    return lines


def tree(branches: Iterable[Branch], *, width: int = 0, color: bool = False) -> list[str]:
    """Nodes below their parents, with guides. A node whose parent is not there is a root."""
    below: dict[str | None, list[Branch]] = {}
    known: set[str] = set()
    for branch in branches:
        parent = branch.parent if branch.parent in known else None
        known.add(branch.key)
        below.setdefault(parent, []).append(branch)
    lines: list[str] = []
    # A stack and not recursion: a chain of tasks can be deeper than Python's own stack.
    stack = [(branch, "", "") for branch in reversed(below.get(None, ()))]
    while stack:
        branch, lead, guide = stack.pop()
        label = _safe(branch.label)
        if width:
            label = fit(label, max(NARROWEST, width - len(lead)), pad=False)
        lines.append(lead + _paint(label, COLORS.get(branch.status, ""), wanted=color))
        # Guides of a very deep chain would grow with the square of its length.
        deep = len(guide) >= len("│  ") * DEEPEST
        is_last = True
        for child in reversed(below.get(branch.key, ())):
            lead = f"{guide}{'└─ ' if is_last else '├─ '}"
            stack.append((child, lead, guide if deep else guide + ("   " if is_last else "│  ")))
            is_last = False
    return lines


def cells_of(text: str) -> int:
    """How many columns a text fills: East Asian characters fill two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )


def fit(text: str, width: int, *, pad: bool = True) -> str:
    """Cut to a number of columns, and filled up to it where asked."""
    used = cells_of(text)
    if used > width:
        while text and used > width - 1:
            used -= cells_of(text[-1])
            text = text[:-1]
        text, used = f"{text}…", used + 1
    return text + " " * (width - used) if pad else text


def _safe(text: str) -> str:
    # Most cells are harmless, and lists are long.
    return text if len(text) < 1000 and text.isprintable() else one_line(text)


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    widths = [max(map(cells_of, column)) for column in zip(*rows, strict=True)]
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - width if width else 0
    while excess > 0 and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
        excess -= 1
    return widths


def _join(cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = (fit(cell, room) for cell, room in zip(cells, widths, strict=True))
    return GAP.join(parts).rstrip()


def _paint(text: str, code: str, *, wanted: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if wanted and code and text.strip() else text
