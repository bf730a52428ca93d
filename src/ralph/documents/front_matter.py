"""The lines between `---` and `---` at the top of a Markdown file: plain `name: value` pairs.

Of YAML only what people write there: quotes, values that go on below, `>` and `|`. Lists and maps
are passed over.
"""

from collections.abc import Sequence
from typing import Final

FENCE: Final = "---"
ENDS: Final = frozenset({"---", "..."})
BLOCKS: Final = ("|", ">")


def read(text: str) -> tuple[dict[str, str], str] | None:
    """The pairs, and the text below them. None: the file does not begin with such lines, or they do
    not end."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        return None
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in ENDS), None)
    if end is None:
        return None
    return _pairs(lines[1:end]), "\n".join(lines[end + 1 :])


def _pairs(lines: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for at, line in enumerate(lines):
        name, colon, value = line.partition(":")
        if not colon or not name.strip() or name[0] in " \t#-":
            continue
        if value and not value[0].isspace():
            continue  # `http://…` is no pair
        found[name.strip().strip("\"'")] = _value(value.strip(), _below(lines[at + 1 :]))
    return found


def _below(lines: Sequence[str]) -> list[str]:
    """The lines that belong to the pair before them: indented, or empty."""
    below = []
    for line in lines:
        if line.strip() and not line.startswith((" ", "\t")):
            break
        below.append(line.strip())
    return below


def _value(value: str, below: Sequence[str]) -> str:
    if value.startswith(BLOCKS) and set(value[1:]) <= set("+-123456789"):
        return ("\n" if value[0] == "|" else " ").join(below).strip()
    if value[:1] in ('"', "'"):
        return _unquoted(" ".join((value, *below)).strip())
    bare = value.partition(" #")[0].rstrip() if not value.startswith("#") else ""
    # A list or a map below a name is not for us.
    more = [line for line in below if line]
    if not bare and any(line.startswith("- ") or _is_pair(line) for line in more):
        return ""
    return " ".join(filter(None, (bare, *more)))


def _is_pair(line: str) -> bool:
    name, colon, value = line.partition(":")
    return bool(colon) and " " not in name and (not value or value[0].isspace())


def _unquoted(value: str) -> str:
    """What stands between the quotes; what follows them is a comment."""
    quote = value[0]
    text, at = "", 1
    while at < len(value):
        char = value[at]
        following = value[at + 1 : at + 2]
        if quote == '"' and char == "\\" and following:
            text += {"n": "\n", "t": "\t"}.get(following, following)
            at += 2
        elif char == quote and quote == "'" and following == "'":
            text += "'"
            at += 2
        elif char == quote:
            return text
        else:
            text += char
            at += 1
    return text
