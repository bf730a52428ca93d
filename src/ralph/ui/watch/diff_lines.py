"""A diff as lines on which a person can comment."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rich.text import Text

from ralph.core.review_thread import DiffSide, LineComment
from ralph.core.safe_text import multi_line, one_line
from ralph.ui.watch.line_view import Line, plain
from ralph.ui.watch.panes import comment_lines
from ralph.ui.web.diff_rows import Diff, DiffFile, DiffRow

SIGNS: Final = {"add": ("+", "green"), "cut": ("-", "red"), "same": (" ", "")}
NUMBERS: Final = 5
"""Columns of a line's number."""


class DiffPlace(NamedTuple):
    """A line of a change; removed ones have the number that they had before."""

    path: str
    side: DiffSide
    number: int


class DiffRange(NamedTuple):
    path: str
    side: DiffSide
    first: int
    last: int


def diff_lines(diff: Diff, comments: Iterable[LineComment]) -> Iterator[Line]:
    """The files with their lines, and the comments below the last line that each is about."""
    below: dict[DiffPlace, list[LineComment]] = defaultdict(list)
    for one in comments:
        below[DiffPlace(one.lines.path, one.side, one.lines.last)].append(one)
    for file in diff.files:
        yield from _file(file, below)
    for comment in (one for left in below.values() for one in left):
        yield plain("")
        yield from comment_lines(comment, "")
    if diff.is_cut:
        yield plain("… there is more: ralph diff shows all of it", "dim")


def _file(file: DiffFile, below: dict[DiffPlace, list[LineComment]]) -> Iterator[Line]:
    text = Text(one_line(file.path, 500), "bold underline")
    if file.note:
        text.append(f"  {one_line(file.note, 200)}", "not bold not underline dim")
    yield Line(text, hang=2)
    for row in file.rows:
        yield _row(file, row)
        if (place := _place(file, row)) is not None:
            for comment in below.pop(place, ()):
                yield from comment_lines(comment, " " * NUMBERS + "┃ ")
    yield plain("")


def _row(file: DiffFile, row: DiffRow) -> Line:
    if row.kind == "hunk":
        context = one_line(row.text.rpartition("@@")[2], 200)
        return plain(f"{'⋯':>{NUMBERS}} {context}", "dim cyan", hang=NUMBERS + 1)
    sign, style = SIGNS[row.kind]
    code = multi_line(row.text).expandtabs(4).replace("\n", " ")
    text = Text.assemble((f"{row.number:>{NUMBERS - 1}} ", "dim"), (f"{sign}{code}", style))
    return Line(text, _place(file, row), NUMBERS + 1)


def _place(file: DiffFile, row: DiffRow) -> DiffPlace | None:
    if row.side is None or row.number is None:
        return None
    path = file.before if row.side is DiffSide.OLD else file.path
    return DiffPlace(path, row.side, row.number)


def range_of(selected: Sequence[Hashable]) -> DiffRange | None:
    """The lines of a selection that a comment can be about: those of its first file; where new and
    removed lines are mixed, the new ones."""
    places = [one for one in selected if isinstance(one, DiffPlace)]
    # New lines first; the order in which they were selected otherwise stays.
    places.sort(key=lambda one: one.side is DiffSide.OLD)
    if not places:
        return None
    first = places[0]
    numbers = [one.number for one in places if (one.path, one.side) == (first.path, first.side)]
    return DiffRange(first.path, first.side, min(numbers), max(numbers))
