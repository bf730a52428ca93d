"""Shell files of plain `NAME="value"` lines: parsed, never sourced."""

from collections.abc import Iterator
from typing import NamedTuple

from ralph.core.errors import UnusableData


class Variable(NamedTuple):
    """A value and the line it stands on."""

    value: str
    line: int


def read_variables(text: str, name: str) -> dict[str, Variable]:
    """The variables of the file `name`; the last assignment of each wins."""
    found: dict[str, Variable] = {}
    for number, line in enumerate(text.splitlines(), 1):
        assignment = line.strip().removeprefix("export ").lstrip()
        if not assignment or assignment.startswith("#"):
            continue
        key, sign, rest = assignment.partition("=")
        if not sign or not key.isidentifier() or not key.isascii():
            raise _refused(name, number, 'only NAME="value" lines are understood')
        found[key] = Variable(_value(rest, name, number), number)
    return found


def _value(rest: str, name: str, line: int) -> str:
    value: list[str] = []
    chars = iter(rest)
    for char in chars:
        if char == "'":
            value.append(_quoted(chars, "'", name, line))
        elif char == '"':
            value.append(_quoted(chars, '"', name, line))
        elif char == "\\":
            value.append(next(chars, ""))
        elif char in " \t":
            _nothing_more(chars, name, line)
        elif char in "$`":
            raise _refused(name, line, f"{char!r} would need a shell; quote it with ' or \\")
        elif char in "|&;<>(){}*?[]~!#":
            raise _refused(name, line, f"{char!r} would need a shell")
        else:
            value.append(char)
    return "".join(value)


def _quoted(chars: Iterator[str], quote: str, name: str, line: int) -> str:
    value: list[str] = []
    for char in chars:
        if char == quote:
            return "".join(value)
        if quote == '"' and char == "\\":
            following = next(chars, "")
            value.append(following if following in '$`"\\' else f"\\{following}")
        elif quote == '"' and char in "$`":
            raise _refused(name, line, f"{char!r} would need a shell; write \\{char}")
        else:
            value.append(char)
    raise _refused(name, line, f"the quote {quote} is not closed")


def _nothing_more(chars: Iterator[str], name: str, line: int) -> None:
    rest = "".join(chars).strip()
    if rest and not rest.startswith("#"):
        raise _refused(name, line, "more than one word: quote the value")


def _refused(name: str, line: int, why: str) -> UnusableData:
    return UnusableData(f"{name}, line {line}: {why}", hint="such files are read, never executed")
