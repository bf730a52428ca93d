"""An arrow of a diagram, and how one can tell that it was taken."""

from collections.abc import Callable
from typing import NamedTuple

from tests.e2e.pipeline_runs import Ran

START, END = "the beginning", "the end"
"""What the diagrams draw as a dot."""


class Arrow(NamedTuple):
    """From where, by what, to where; the run that took it, and what shows that."""

    state: str
    by: str
    next: str
    scene: str
    seen: Callable[[Ran], bool]


def in_order(text: str, *words: str) -> bool:
    """Does each of them come after the one before?"""
    at = 0
    for word in words:
        at = text.find(word, at) + len(word)
        if at < len(word):
            return False
    return True


def ends(code: int, *words: str) -> Callable[[Ran], bool]:
    """It ends with that, and says so."""
    return lambda ran: ran.code == code and all(word in ran.out for word in words)


def told(*words: str) -> Callable[[Ran], bool]:
    """Its sessions are told of these, in this order."""
    return lambda ran: in_order(ran.told, *words)


def logged(*words: str) -> Callable[[Ran], bool]:
    """They stand in the activity log, in this order or, above all events, in a summary."""
    return lambda ran: in_order(ran.ralph("activity.log"), *words)
