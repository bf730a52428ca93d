"""Shell commands as a syntax tree, and the text of their words. Parsed, never run."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ralph.core.safe_text import one_line

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

RESERVED: Final = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "in", "}", ")"})
"""Words that only close or continue something; the grammar takes a stray one for a command."""


def parse(text: str) -> "Node":
    """The root of the tree; a text that is not shell has a tree as well, see `syntax_error`."""
    # The grammar's own scanner is C and was made for ASCII; what else a command holds are letters.
    plain = "".join(char if char < "\x80" else "_" for char in text)
    return _parser().parse(plain.encode()).root_node


@lru_cache(maxsize=1)
def _parser() -> "Parser":
    # Imported here: loading the grammar takes longer than all that `ralph task add` does.
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def syntax_error(root: "Node") -> str | None:
    """What is wrong with the text, and where; None when it is valid."""
    for node in nodes(root):
        if node.is_missing:
            return f"line {node.start_point.row + 1} stops before it is finished"
        if node.is_error or (node.type == "command_name" and text_of(node) in RESERVED):
            shown = one_line(text_of(node), 30)
            return f"line {node.start_point.row + 1} has an unexpected `{shown}`"
    return None


def nodes(root: "Node") -> Iterator["Node"]:
    """The node and all below it, in the order of the text."""
    # Without recursion: a tree may be deeper than Python's stack.
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def text_of(node: "Node") -> str:
    """As written."""
    return (node.text or b"").decode(errors="replace")


def literal(node: "Node") -> str | None:
    """The word as the command receives it, or None when it is known only as the shell runs."""
    if node.type == "command_name":
        return literal(node.children[0]) if node.children else None
    if node.type in ("word", "number"):
        return _unescaped(text_of(node), only="")
    if node.type == "raw_string":
        return text_of(node)[1:-1]
    if node.type == "string":
        plain = all(child.type == "string_content" for child in node.named_children)
        return script_text(node) if plain else None
    if node.type == "concatenation":
        parts = [literal(child) for child in node.children]
        return None if None in parts else "".join(part or "" for part in parts)
    return None


def script_text(node: "Node") -> str:
    """A word that another shell will read: what is quoted is opened, expansions stay as written."""
    if node.type == "string":
        return _unescaped(text_of(node)[1:-1], only='$`"\\\n')
    if node.type == "concatenation":
        return "".join(script_text(child) for child in node.children)
    text = literal(node)
    return text_of(node) if text is None else text


def constant(words: Sequence[str | None]) -> bool | None:
    """What `test` says about words that never change (`1 = 1`); None when that depends."""
    match words:
        case [] | [""]:
            return False
        case ["!", *rest]:
            inner = constant(rest)
            return None if inner is None else not inner
        case [str()]:
            return True
        case [str(left), "=" | "==" | "-eq", str(right)]:
            return left == right
        case [str(left), "!=" | "-ne", str(right)]:
            return left != right
        case _:
            return None


def _unescaped(text: str, *, only: str) -> str:
    """Without the backslashes that quote: before the characters `only`, or before any."""
    if "\\" not in text:
        return text
    result, characters = "", iter(text)
    for character in characters:
        if character != "\\":
            result += character
            continue
        quoted = next(characters, "")
        kept = "" if not only or quoted in only else "\\"
        result += kept + ("" if quoted == "\n" else quoted)
    return result
