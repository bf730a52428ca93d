"""Read the output of a gate: the lines that say why it failed, and the coverage that it reports."""

import re
from collections.abc import Sequence
from typing import Final

MOST_LINES: Final = 8
WIDTH: Final = 200
LOOK_BACK: Final = 60
"""A test's name is at most so many lines above its failed assertion."""

WHOLE_OUTPUT: Final = "The whole output is in "
"""Begins the line of a reason that names the gate's log."""

_ESCAPE: Final = re.compile(
    r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
)
_PROGRESS: Final = re.compile(r"[.sxEFX\s]*(?:\[ *\d+%\])?")
_QUOTED_SOURCE: Final = re.compile(
    r"(?m)^(E +File .*, line \d+\n(?:E {4,}.*\n){0,20})(E {3}\S.*)\n"
)
"""How pytest shows a syntax error: the source first, then the error."""
_BLOCK_END: Final = re.compile(r"[=\-_*~#]{8,}|\.{3}|\s*stack(?: backtrace)?:")
_TEST_NAME: Final = re.compile(
    r"_{3,} .+ _{3,}"  # pytest
    r"|(?:FAIL|ERROR): .+"  # unittest
    r"|\s*--- FAIL: .+"  # go
    r"|---- .+ stdout ----"  # cargo
    r"|\s*● .+"  # jest
    r"|\s*[✖\u00d7] .+"  # node
    r"| ?FAIL +\S+ > .+"  # vitest
    r"|\s*\d+\) \S.*"  # mocha, rspec, phpunit
    r"|\s*not ok \d.*"  # TAP
    r"|\S+ > .+ FAILED"  # gradle
    r"|/\S+\.[cm]?[jt]sx?"  # eslint
)
_REASON: Final = re.compile(
    r"E   +\S.*"  # pytest
    r"|\s*(?:[\w.]*\.)?\w*(?:Error|Exception|Failure)(?: \[\w+\])?(?:: .*|$)"
    r"|(?:[\w.-]+: )?(?:error(?:\[\w+\])?|fatal|panic): .*"
    r"|\[ERROR\] +\S+:\d+ .*"  # maven
    r"|\s+error: (?!\|).+"  # TAP
    r"|.*\bpanicked at .*"
    r"|[A-Z]{1,4}\d{3,4} .*"  # ruff
    r"|\S+:\d+(?::\d+)?:? (?:fatal )?(?:error|[A-Z]{1,4}\d{2,4})\b.*"  # compilers, linters
    r"|\S+\(\d+,\d+\): error .*"  # tsc
    r"|\s+\d+:\d+\s+error\s.*"  # eslint
    r"|(?:vet: )?\S+\.go:\d+:\d+: .*"
    r"|\s+\S+_test\.go:\d+: .*"
    r"|\s*(?:Expected|expected|Received|Failure/Error|Failed asserting)\b.*"
    r"|.*(?:(?:command|:) not found|No such file or directory|Permission denied).*"
)
_CONTINUED: Final = re.compile(r"\s*(?:-->|Received\b)")
"""A line that belongs to the reason above it; so does one below a colon."""
_HINT: Final = re.compile(
    r"(?!.*\b(?:0|no) (?:errors?|fail))"
    r".*\b(?:error|errors|fail|failed|failure|failures|fails|fatal|exception|unformatted)\b",
    re.IGNORECASE,
)


def decisive_lines(output: str) -> tuple[str, ...]:
    """Return the first failure: the test's name, the assertion and what follows it.

    Without a line that looks like a reason, return the last lines.
    """
    lines = _clean(output)
    named = _first(_TEST_NAME, lines)
    # What looks like a reason above the first failed test may be what passing tests print.
    found = _first(_REASON, lines, named or 0)
    if found is None:
        found = _first(_REASON, lines)
    if found is None:
        found = named if named is not None else _first(_HINT, lines)
    if found is None:
        return tuple(lines[-MOST_LINES // 2 :])
    names = [line for line in lines[max(0, found - LOOK_BACK) : found] if _fits(_TEST_NAME, line)]
    chosen = [names[-1].strip(" _-")] if names else []
    for line in lines[found:]:
        if len(chosen) == MOST_LINES or (line is not lines[found] and _ends_block(line)):
            break
        chosen.append(line)
    return tuple(chosen)


def headline(lines: tuple[str, ...]) -> str:
    """Return decisive lines in one: the test's name and the reason; empty without lines."""
    if not lines:
        return ""
    at = _first(_REASON, lines) or 0
    more = lines[at + 1] if at + 1 < len(lines) else ""
    is_whole = not (lines[at].endswith(":") or _fits(_CONTINUED, more))
    words = (re.sub(r"^E {2,}", "", line).strip() for line in (lines[at], "" if is_whole else more))
    said = " ".join(filter(None, words))
    return f"{lines[0]}: {said}" if at else said


def _clean(output: str) -> list[str]:
    """The lines without colours, progress marks and blank lines."""
    plain = _QUOTED_SOURCE.sub(r"\2\n\1", _ESCAPE.sub("", output))
    shown = (line.rstrip("\r").rpartition("\r")[2] for line in plain.split("\n"))
    lines = ("".join(filter(_is_shown, line[:2000])).rstrip()[:WIDTH] for line in shown)
    return [line for line in lines if not _PROGRESS.fullmatch(line)]


def _is_shown(char: str) -> bool:
    return char.isprintable() or char == "\t"


def _ends_block(line: str) -> bool:
    return _fits(_BLOCK_END, line) or _fits(_TEST_NAME, line)


def _fits(pattern: re.Pattern[str], line: str) -> bool:
    return pattern.match(line) is not None


def _first(pattern: re.Pattern[str], lines: Sequence[str], start: int = 0) -> int | None:
    return next((at for at in range(start, len(lines)) if pattern.match(lines[at])), None)


# Coverage

_TOTAL: Final = re.compile(r"(?i)^\W*(total|all files)\b")
_NAMED: Final = re.compile(r"(?i)\b(coverage|covered|lines|statements)\b")
_PERCENT: Final = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d+)?)\s?%")
_CELL: Final = re.compile(r"\|\s*(\d{1,3}(?:\.\d+)?)\s*(?=\|)")


def coverage_percent(text: str) -> float | None:
    """The percentage in a line of totals, otherwise in the last line about coverage, otherwise in
    the last line that has one; None if there is none."""
    lines = [_ESCAPE.sub("", line) for line in text.splitlines()]
    for wanted in (_TOTAL, _NAMED, None):
        for line in reversed(lines):
            if wanted is not None and not wanted.search(line):
                continue
            if (found := _share(line, first=wanted is _TOTAL)) is not None:
                return found
    return None


def _share(line: str, *, first: bool) -> float | None:
    found = [share for share in map(float, _PERCENT.findall(line)) if share <= 100]
    if found:
        return found[-1]
    # Tables with % in their heads: statements come first.
    cells = [float(cell) for cell in _CELL.findall(line)] if first else []
    return cells[0] if cells and cells[0] <= 100 else None
