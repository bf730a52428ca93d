"""`config.sh` and `agents.sh`: plain `NAME="value"` lines, read and written, never sourced."""

from typing import Final

import msgspec

from ralph.core.errors import UnusableData
from ralph.core.safe_text import one_line

SPECIAL: Final = {
    "`": "a command substitution",
    "(": "an array or a function",
    ")": "an array or a function",
    ";": "a second command",
    "&": "a second command",
    "|": "a second command",
    "<": "a redirection",
    ">": "a redirection",
}
"""What these mean outside quotes, so that nobody wonders why the value is not taken as it is."""
STARTS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
CONTINUES: Final = STARTS | frozenset("0123456789")
ESCAPED: Final = frozenset('$`"\\')
"""What a backslash quotes within double quotes."""
HINT: Final = 'only lines such as NAME="value" are read; write \\$ for a dollar sign'


class Variable(msgspec.Struct, frozen=True):
    """A value, and the line that gives it."""

    value: str
    line: int


def read(text: str, name: str = "config.sh") -> dict[str, Variable]:
    """The variables of the file `name`; the last line counts where one is given twice."""
    variables: dict[str, Variable] = {}
    # Not `splitlines`: a form feed or a Unicode separator does not end a shell's line.
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = raw.removesuffix("\r").lstrip(" \t")
        if not line or line.startswith("#"):
            continue
        try:
            variable, value = _assignment(line)
        except ValueError as error:
            raise UnusableData(f"{name}:{number}: {error}", hint=HINT) from None
        variables[variable] = Variable(value, number)
    return variables


def written(name: str, value: str) -> str:
    """The line that `read` turns back into this name and value."""
    if not _is_name(name) or "\n" in value or "\r" in value or "\0" in value:
        raise ValueError(f"{name!r} with {value!r} does not fit on a line NAME=value")
    for character in '\\$`"':
        value = value.replace(character, "\\" + character)
    return f'{name}="{value}"'


def _assignment(line: str) -> tuple[str, str]:
    """Name and value; ValueError says what else stands there."""
    first, _, rest = line.partition(" ")
    if first == "export":
        line = rest.lstrip(" \t")
    name, equals, value = line.partition("=")
    if not (equals and _is_name(name)):
        if _is_name(name.rstrip(" \t")) and equals:
            raise ValueError(f"{name.rstrip()} has a space before its =")
        if equals and _is_name(name.removesuffix("+")):
            raise ValueError(f"{name} adds to a value, which is not supported")
        raise ValueError(f"`{one_line(line, 40)}` is no NAME=value")
    if "\0" in value:
        raise ValueError(f"{name} holds a zero byte")
    return name, _value(name, value)


def _is_name(text: str) -> bool:
    return text[:1] in STARTS and text != "" and CONTINUES.issuperset(text)


def _value(name: str, text: str) -> str:
    """Quoted and unquoted pieces up to a space; only a comment may follow."""
    pieces, at = [], 0
    while at < len(text) and text[at] not in " \t":
        character = text[at]
        if character == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise ValueError(f"{name} has a quote ' that is not closed on its line")
            pieces.append(text[at + 1 : end])
            at = end + 1
        elif character == '"':
            piece, at = _double_quoted(name, text, at + 1)
            pieces.append(piece)
        elif character == "\\":
            if at + 1 == len(text):
                raise ValueError(f"{name} goes on in the next line, which is not supported")
            pieces.append(text[at + 1])
            at += 2
        else:
            _refuse(name, text, at)
            pieces.append(character)
            at += 1
    rest = text[at:].strip(" \t")
    if rest and not rest.startswith("#"):
        raise ValueError(
            f"{name} is followed by `{one_line(rest, 30)}`; a value with spaces needs quotes"
        )
    return "".join(pieces)


def _double_quoted(name: str, text: str, at: int) -> tuple[str, int]:
    """The piece that starts at `at`, and where the text goes on behind its closing quote."""
    pieces: list[str] = []
    while at < len(text):
        character = text[at]
        if character == '"':
            return "".join(pieces), at + 1
        if character == "\\" and text[at + 1 : at + 2] in ESCAPED:
            pieces.append(text[at + 1])
            at += 2
            continue
        if character in "$`":
            _refuse(name, text, at, quoted=True)
        pieces.append(character)
        at += 1
    raise ValueError(f'{name} has a quote " that is not closed on its line')


def _refuse(name: str, text: str, at: int, *, quoted: bool = False) -> None:
    """ValueError for what a shell would act on; a `$` before nothing is just a dollar sign."""
    character, following = text[at], text[at + 1 : at + 2]
    if character == "$":
        if following and (following in CONTINUES or following in "{*@#?!-$"):
            raise ValueError(f"{name} uses another variable")
        if following == "(":
            raise ValueError(f"{name} uses a command substitution")
        if following and following in "'\"" and not quoted:
            raise ValueError(f"{name} uses a $ before a quote")
    elif character == "~" and (at == 0 or text[at - 1] == ":"):
        raise ValueError(f"{name} uses ~ for a home folder")
    elif character in SPECIAL:
        raise ValueError(f"{name} holds `{character}`, {SPECIAL[character]}")
