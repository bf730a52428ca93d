"""Markdown as blocks and lines. One place knows the parser."""

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LINE_END: Final = re.compile(r"\r\n?|\n")
"""What ends a line to the parser. Form feeds and the like do not."""


def blocks(text: str) -> "list[Token]":
    """The blocks of a document, from its top."""
    return _parser().parse(text)


def line_starts(text: str) -> list[int]:
    """Where each line begins."""
    return [0, *(end.end() for end in LINE_END.finditer(text))]


def first_line(token: "Token") -> int:
    """The line that a block begins on, from 0."""
    assert token.map is not None
    return token.map[0]


def rank_of(token: "Token") -> int:
    """How many # a heading has."""
    return int(token.tag[1:])


def unified(text: str) -> str:
    """The text with one kind of line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@cache
def _parser() -> "MarkdownIt":
    """Blocks only: what stands inside a line decides nothing here, and takes most of the time."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser
