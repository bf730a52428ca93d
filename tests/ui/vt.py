"""A terminal, as far as the live view needs one: honest about where every character ends up."""

import re

from rich.cells import cell_len

TOKEN = re.compile(
    r"\x1b\[(\??)([0-9;]*)([A-Za-z])|\x1b\]8;[^\x1b]*\x1b\\|(\r)|(\n)|(.)", re.DOTALL
)


class Terminal:
    """Rows that scroll; nothing wraps while wrapping is off."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns, self.lines = columns, lines
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0
        self.cursor_shown = True
        self.widest = 0

    def feed(self, text: str) -> None:
        for match in TOKEN.finditer(text):
            private, number, word, home, down, char = match.groups()
            if word:
                self._control(private, number, word)
            elif home:
                self.column = 0
            elif down:
                self.row += 1
                while len(self.rows) <= self.row:
                    self.rows.append([])
            elif char:
                assert char.isprintable(), f"{char!r} reached the terminal"
                self._put(char)

    def text(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self.rows)

    @property
    def top(self) -> int:
        """The first row in sight."""
        return max(0, len(self.rows) - self.lines)

    def _put(self, char: str) -> None:
        row = self.rows[self.row]
        width = cell_len(char)
        row.extend(" " * (self.column - len(row)))
        if width == 0 and self.column:
            row[self.column - 1] += char
            return
        row[self.column : self.column + 1] = [char]
        self.column += 1
        if width == 2:
            row[self.column : self.column + 1] = [""]
            self.column += 1
        self.widest = max(self.widest, self.column)

    def _control(self, private: str, number: str, word: str) -> None:
        match private, word:
            case "", "m":
                pass
            case "", "A":
                self.row = max(self.top, self.row - int(number or 1))
            case "", "K":
                del self.rows[self.row][self.column :]
            case "", "J":
                del self.rows[self.row][self.column :]
                del self.rows[self.row + 1 :]
            case "", "H":
                self.row, self.column = self.top, 0
            case "?", "h" | "l" if number == "25":
                self.cursor_shown = word == "h"
            case "?", "h" | "l" if number in ("7", "2026"):
                pass
            case _:
                raise AssertionError(f"unexpected control {private}{number}{word}")
