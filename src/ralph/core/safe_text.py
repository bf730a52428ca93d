"""Make text from any source safe to display on a terminal, or in a document."""

from collections.abc import Sequence
from typing import Any


def one_line(text: str, width: int = 0) -> str:
    """Control characters become visible, newlines become spaces; cut to `width` when given."""
    shown = " ".join(text[:2000].split())
    if not shown.isprintable():
        shown = "".join(map(_visible, shown))
    if width and len(shown) > width:
        return shown[: width - 1] + "…"
    return shown


def multi_line(text: str) -> str:
    """Like `one_line`, but line breaks and tabs stay."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if char in "\n\t" else _visible(char) for char in text)


def all_text(value: Any) -> Any:
    """The same value, in which what is not text (a part of a file's name) is a mark."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: all_text(one) for key, one in value.items()}
    return [all_text(one) for one in value] if isinstance(value, list | tuple) else value


def first_few(names: Sequence[str], most: int) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def first_few_paths(paths: Sequence[str], most: int = 5) -> str:
    shown = [one_line(path, 80) for path in paths[:most]]
    return first_few([*shown, *paths[most:]], most)


def markdown_quote(text: str) -> str:
    """The text as a quotation in Markdown."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
