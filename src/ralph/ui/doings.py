"""The agent's doings as rows: thinking is dim, tools have a colour, errors are red and short."""

from typing import Final

from rich.cells import cell_len, chop_cells
from rich.text import Text

from ralph.core.safe_text import block, one_line
from ralph.ui.activity import Activity, Doing, Kind

ROWS_OF: Final = {Kind.TOOL: 1, Kind.NOTE: 1, Kind.THINKING: 3, Kind.ERROR: 5, Kind.TEXT: 6}
STYLE_OF: Final = {
    Kind.TOOL: "dim",
    Kind.NOTE: "yellow",
    Kind.THINKING: "dim italic",
    Kind.ERROR: "red",
    Kind.TEXT: "",
}


def doing_rows(activity: Activity, width: int, lines: int) -> list[Text]:
    """The newest doings that fit, the oldest of them first."""
    rows: list[Text] = []
    for doing in reversed(activity.doings):
        if len(rows) >= lines:
            break
        rows = _rows(doing, width, min(ROWS_OF[doing.kind], lines - len(rows))) + rows
    return rows


def _rows(doing: Doing, width: int, lines: int) -> list[Text]:
    style = STYLE_OF[doing.kind]
    match doing.kind:
        case Kind.TOOL:
            summary = one_line(doing.text, width)
            return [_cut(Text.assemble((doing.tool, "cyan"), "  ", (summary, style)), width)]
        case Kind.NOTE:
            return [_cut(Text(one_line(doing.text, width), style=style), width)]
        case Kind.ERROR:
            return _styled(folded(doing.text[: lines * width], width)[:lines], style)
        case Kind.TEXT | Kind.THINKING:
            return _styled(folded(doing.text[-lines * width :], width)[-lines:], style)


def _styled(rows: list[str], style: str) -> list[Text]:
    return [Text(row, style=style) for row in rows]


def _cut(row: Text, width: int) -> Text:
    row.truncate(width, overflow="ellipsis")
    return row


def folded(text: str, width: int) -> list[str]:
    """The lines of a text that say something, folded at words to a number of columns."""
    rows: list[str] = []
    width = max(4, width)
    for line in block(text).expandtabs(4).splitlines():
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
