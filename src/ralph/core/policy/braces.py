"""Brace expansion: `{git,push}` is two words, `a{1..3}` several."""

import re
from itertools import pairwise
from typing import Final

from ralph.core.policy.known import UNKNOWN
from ralph.core.shell.tree import Part, Text, Word

MOST: Final = 64
TOKENS: Final = re.compile(r"[{},]|[^{},]+")
SEQUENCE: Final = re.compile(r"(?:-?\d+\.\.-?\d+|[A-Za-z]\.\.[A-Za-z])(?:\.\.-?\d+)?")

Tokens = list["str | Part"]


class TooMany(Exception):
    """More words than anybody wants to look at."""


def has_braces(word: Word) -> bool:
    """Whether there is something to expand."""
    return any(
        isinstance(part, Text) and not part.quoted and "{" in part.text for part in word.parts
    )


def expand(word: Word) -> list[Word]:
    """The words that one word stands for; raises TooMany."""
    tokens: Tokens = []
    for part in word.parts:
        if isinstance(part, Text) and not part.quoted:
            tokens += TOKENS.findall(part.text)
        else:
            tokens.append(part)
    if tokens.count("{") > MOST:
        raise TooMany
    versions = _versions(tokens)
    if len(versions) == 1:
        return [word]
    return [Word(parts=_parts(version)) for version in versions]


def _versions(tokens: Tokens) -> list[Tokens]:
    for start, token in enumerate(tokens):
        if token != "{":
            continue
        end, commas = _closing(tokens, start)
        if end is None:
            continue
        inside = tokens[start + 1 : end]
        if commas:
            cuts = [start, *commas, end]
            choices = [
                version
                for left, right in pairwise(cuts)
                for version in _versions(tokens[left + 1 : right])
            ]
        elif len(inside) == 1 and isinstance(inside[0], str) and SEQUENCE.fullmatch(inside[0]):
            # What it counts is of no interest here.
            choices = [[UNKNOWN], [UNKNOWN]]
        else:
            continue
        rest = _versions(tokens[end + 1 :])
        if len(choices) * len(rest) > MOST:
            raise TooMany
        return [[*tokens[:start], *choice, *after] for choice in choices for after in rest]
    return [tokens]


def _closing(tokens: Tokens, start: int) -> tuple[int | None, list[int]]:
    """Where the brace closes, and the commas that belong to it."""
    level = 0
    commas: list[int] = []
    for at in range(start, len(tokens)):
        if tokens[at] == "{":
            level += 1
        elif tokens[at] == "}":
            level -= 1
            if level == 0:
                return at, commas
        elif tokens[at] == "," and level == 1:
            commas.append(at)
    return None, []


def _parts(tokens: Tokens) -> tuple[Part, ...]:
    return tuple(Text(text=token) if isinstance(token, str) else token for token in tokens)
