"""`config.sh` and `agents.sh`: plain `NAME="value"` lines, read and written, never sourced."""

import re
from typing import Final

import msgspec

from ralph.core.errors import UnusableData
from ralph.core.safe_text import one_line

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ASSIGNMENT: Final = re.compile(rf"(?:export[ \t]+)?({NAME.pattern})=(.*)")
PIECE: Final = re.compile(
    r"""'(?P<single>[^'\0]*)'|"(?P<double>(?:\\[^\0]|[^"\\$`\0])*)"|\\(?P<escaped>[^\0])"""
    r"""|(?P<plain>[^ \t'"\\$`~();&|<>\0]+)"""
)
"""The parts of a value on which a shell would not act."""
ESCAPED: Final = re.compile(r'\\([$`"\\])')
"""What a backslash quotes within double quotes."""
HINT: Final = 'only lines such as NAME="value" are read; write \\$ for a dollar sign'


class ConfigVariable(msgspec.Struct, frozen=True):
    value: str
    line: int


def read(text: str, name: str = "config.sh") -> dict[str, ConfigVariable]:
    """The variables of the file `name`. Of several lines about one, the last counts."""
    variables: dict[str, ConfigVariable] = {}
    # Not `splitlines`: a form feed or a Unicode separator does not end a shell's line.
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = raw.removesuffix("\r").lstrip(" \t")
        if not line or line.startswith("#"):
            continue
        try:
            found = ASSIGNMENT.fullmatch(line)
            if found is None:
                raise ValueError(f"`{one_line(line, 40)}` is not NAME=value")
            variables[found[1]] = ConfigVariable(_value(found[1], found[2]), number)
        except ValueError as error:
            raise UnusableData(f"{name}:{number}: {error}", hint=HINT) from None
    return variables


def written(name: str, value: str) -> str:
    """The line that `read` turns back into this name and value."""
    if not NAME.fullmatch(name) or re.search("[\n\r\0]", value):
        raise ValueError(f"{name!r} with {value!r} does not fit on a line NAME=value")
    escaped = re.sub(r'([\\$`"])', r"\\\1", value)
    return f'{name}="{escaped}"'


def _value(name: str, text: str) -> str:
    """The value: quoted and unquoted pieces up to a space. Only a comment may follow."""
    pieces, at = [], 0
    while found := PIECE.match(text, at):
        piece = found[found.lastgroup or 0]
        pieces.append(ESCAPED.sub(r"\1", piece) if found.lastgroup == "double" else piece)
        at = found.end()
    rest = text[at:].strip(" \t")
    if text[at : at + 1] not in ("", " ", "\t"):
        raise ValueError(f"{name} holds `{one_line(rest, 30)}`, which only a shell can read")
    if rest and not rest.startswith("#"):
        raise ValueError(
            f"{name} is followed by `{one_line(rest, 30)}`; a value with spaces needs quotes"
        )
    return "".join(pieces)
