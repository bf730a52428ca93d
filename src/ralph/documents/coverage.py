"""Read the coverage percentage from the output of a coverage tool."""

import re
from typing import Final

TOTAL: Final = re.compile(r"(?i)^\W*(total|all files)\b")
NAMED: Final = re.compile(r"(?i)\b(coverage|covered|lines|statements)\b")
PERCENT: Final = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d+)?)\s?%")
CELL: Final = re.compile(r"\|\s*(\d{1,3}(?:\.\d+)?)\s*(?=\|)")
ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def coverage_percent(text: str) -> float | None:
    """The percentage in a line of totals, otherwise in the last line about coverage, otherwise in
    the last line that has one; None if there is none."""
    lines = [ESCAPES.sub("", line) for line in text.splitlines()]
    for wanted in (TOTAL, NAMED, None):
        for line in reversed(lines):
            if wanted is not None and not wanted.search(line):
                continue
            if (found := _share(line, first=wanted is TOTAL)) is not None:
                return found
    return None


def _share(line: str, *, first: bool) -> float | None:
    found = [share for share in map(float, PERCENT.findall(line)) if share <= 100]
    if found:
        return found[-1]
    # Tables with % in their heads: statements come first.
    cells = [float(cell) for cell in CELL.findall(line)] if first else []
    return cells[0] if cells and cells[0] <= 100 else None
