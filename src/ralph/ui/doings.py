"""The agent's doings as rows: thinking is dim, tools have a colour, errors are red and short."""

from typing import Final

from rich.cells import cell_len, chop_cells
from rich.text import Text

from ralph.core.duration import spoken
from ralph.core.safe_text import block, one_line
from ralph.ui.activity import Activity, Doing, Kind
from ralph.ui.wording import excerpt, uncoloured

ROWS_OF: Final = {
    Kind.TOOL: 1,
    Kind.NOTE: 1,
    Kind.RETRY: 1,
    Kind.DENIED: 1,
    Kind.THINKING: 3,
    Kind.ERROR: 5,
    Kind.TEXT: 6,
}
STYLE_OF: Final = {
    Kind.TOOL: "dim",
    Kind.NOTE: "yellow",
    Kind.RETRY: "yellow",
    Kind.DENIED: "red",
    Kind.THINKING: "dim italic",
    Kind.ERROR: "red",
    Kind.TEXT: "",
}
LONG_S: Final = 5.0
"""A tool that takes longer shows how long."""


def doing_rows(activity: Activity, width: int, lines: int, now: float) -> list[Text]:
    """The newest doings that fit, the oldest of them first."""
    rows: list[Text] = []
    for doing in reversed(activity.doings):
        if len(rows) >= lines:
            break
        rows = _rows(doing, width, min(ROWS_OF[doing.kind], lines - len(rows)), now) + rows
    return rows


def _rows(doing: Doing, width: int, lines: int, now: float) -> list[Text]:
    style = STYLE_OF[doing.kind]
    match doing.kind:
        case Kind.TOOL:
            return [_tool(doing, width, now)]
        case Kind.NOTE | Kind.RETRY:
            return [_cut(Text(f"! {one_line(doing.text, width)}", style=style), width)]
        case Kind.DENIED:
            words = Text.assemble(
                ("not permitted", "bold red"), "  ", (one_line(doing.text), style)
            )
            return [_cut(words, width)]
        case Kind.ERROR:
            rows = excerpt(folded(uncoloured(doing.text), width - 2), lines)
            # A mark, since not every terminal has a red.
            return _styled([f"{'  ' if n else '✗ '}{row}" for n, row in enumerate(rows)], style)
        case Kind.TEXT | Kind.THINKING:
            return _styled(folded(doing.text[-lines * width :], width)[-lines:], style)


def _tool(doing: Doing, width: int, now: float) -> Text:
    row = Text.assemble((doing.tool, "bold cyan" if doing.call else "cyan"))
    row.append(f"  {one_line(doing.text, width)}", style="dim")
    if not doing.call:
        return _cut(row, width)
    took = now - doing.since if doing.since is not None else 0.0
    still = f" … {spoken(took // 1)}" if took >= LONG_S else " …"
    row = _cut(row, max(8, width - len(still)))
    row.append(still.replace(".0s", "s"), style="cyan")
    return row


def _styled(rows: list[str], style: str) -> list[Text]:
    return [Text(row, style=style) for row in rows]


def _cut(row: Text, width: int) -> Text:
    row.truncate(width, overflow="ellipsis")
    return row


def folded(text: str, width: int) -> list[str]:
    """The lines of a text that say something, folded at words to a number of columns."""
    rows: list[str] = []
    width = max(4, width)
    for line in block(text.replace("\r\n", "\n")).expandtabs(4).splitlines():
        if line.strip():
            rows.extend(_fold_line(line.rstrip(), width))
    return rows


def _fold_line(line: str, width: int) -> list[str]:
    if cell_len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())][: width // 2]
    rows, row = [], indent
    for word in line.split():
        for piece in chop_cells(word, width - len(indent)):
            longer = f"{row} {piece}" if row.strip() else f"{row}{piece}"
            if cell_len(longer) > width:
                rows.append(row)
                longer = piece
            row = longer
    return [*rows, row]
