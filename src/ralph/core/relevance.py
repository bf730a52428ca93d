"""Which of many texts have to do with a task: those that share its words."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

MOST: Final = 32
"""More words make a search slower and no better."""

# Said in every task, so that sharing them says nothing.
COMMON: Final = frozenset(
    {"a", "about", "add", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be"}
    | {"been", "before", "but", "by", "can", "do", "does", "done", "each", "for", "from", "get"}
    | {"has", "have", "how", "if", "in", "into", "is", "it", "its", "make", "more", "must", "new"}
    | {"no", "not", "of", "on", "only", "or", "other", "out", "over", "set", "should", "so"}
    | {"some", "such", "task", "tasks", "than", "that", "the", "their", "them", "then", "there"}
    | {"these", "they", "this", "to", "up", "use", "used", "uses", "using", "was", "we", "were"}
    | {"what", "when", "where", "which", "while", "who", "why", "will", "with", "without"}
    | {"work", "works", "would", "you", "your"}
)

_WORD: Final = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Every word, in small letters; `parse_header` is two."""
    return _WORD.findall(text.lower())


def telling_words(title: str, text: str = "") -> tuple[str, ...]:
    """The words by which to look for what is related: those of the title first, then the most
    frequent of the text."""
    named = _telling(words(title))
    frequent = [word for word, _ in Counter(_telling(words(text))).most_common()]
    return tuple(dict.fromkeys([*named, *frequent]))[:MOST]


def _telling(found: Iterable[str]) -> list[str]:
    return [word for word in found if len(word) > 1 and word not in COMMON]


def shared(asked: Sequence[str], text: str) -> int:
    """How many of the words are in a text."""
    return len(set(asked).intersection(words(text)))
