"""Markdown as blocks and lines, and the front matter above it: plain `name: value` pairs.

Only this module knows the parser. Of YAML it reads what people write in front matter: quotes,
values that go on below, `>` and `|`. Lists and maps are passed over.
"""

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LINE_END: Final = re.compile(r"\r\n?|\n")
"""What ends a line in Markdown. Form feeds and the like do not."""


def lines_with_ends(text: str) -> list[str]:
    return [text[a:b] for a, b in pairwise([*line_starts(text), len(text)]) if a < b]


def line_end(text: str) -> str:
    """How the first line ends."""
    found = LINE_END.search(text)
    return found[0] if found else "\n"


def blocks(text: str) -> "list[Token]":
    return _parser().parse(text)


def line_starts(text: str) -> list[int]:
    return [0, *(end.end() for end in LINE_END.finditer(text))]


def first_line(token: "Token") -> int:
    """The number of the line on which a block begins, from 0."""
    assert token.map is not None
    return token.map[0]


def rank_of(token: "Token") -> int:
    """The number of # of a heading."""
    return int(token.tag[1:])


def unified(text: str) -> str:
    """The text with \\n as its only line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@cache
def _parser() -> "MarkdownIt":
    """A parser of blocks only: parsing inside of lines takes most of the time."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


FENCES: Final = ("---", "...")
PAIR: Final = re.compile(r"""["']?([^\s#"'-][^:]*?)["']?[ \t]*:(?:\s+(.*))?""")
BLOCK_SCALAR: Final = re.compile(r"[|>][-+1-9]*")
QUOTED: Final = re.compile(r"""'((?:''|[^'])*)|"((?:\\.|[^"])*)""", re.DOTALL)
ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
LIST_OR_MAP: Final = re.compile(r"- |[^\s:]+:(\s|$)")


def read_front_matter(text: str) -> tuple[dict[str, str], str] | None:
    """The pairs, and the text below them; None without complete front matter."""
    lines = text.removeprefix("\ufeff").splitlines()
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in FENCES), None)
    if end is None or lines[0].rstrip() != "---":
        return None
    found: dict[str, list[str]] = {}
    values: list[str] = []
    for line in lines[1:end]:
        if not line.strip() or line[0] in " \t":
            values.append(line.strip())  # it goes on with the pair above
        elif pair := PAIR.fullmatch(line):
            values = found[pair[1]] = [(pair[2] or "").strip()]
        else:
            values = []
    return {name: _value(*lines) for name, lines in found.items()}, "\n".join(lines[end + 1 :])


def _value(first: str, *below: str) -> str:
    """The value beside a name, and the lines below it."""
    if BLOCK_SCALAR.fullmatch(first):
        return ("\n" if first[0] == "|" else " ").join(below).strip()
    if quoted := QUOTED.match(" ".join((first, *below)).strip()):
        if quoted[1] is not None:
            return quoted[1].replace("''", "'")
        return ESCAPED.sub(lambda one: {"n": "\n", "t": "\t"}.get(one[1], one[1]), quoted[2])
    bare = re.split(r"(?:^|\s)#", first)[0].rstrip()
    # A list or a map below a name is passed over.
    if not bare and any(map(LIST_OR_MAP.match, below)):
        return ""
    return " ".join(filter(None, (bare, *below)))
