"""How long what people and sessions write about a task may be. More is no text that anybody wrote,
and would make every list and every brief as long."""

from typing import Final

import msgspec

from ralph.core.errors import UnusableData
from ralph.core.task import Draft, Edit

LONGEST_TITLE: Final = 10_000
LONGEST_TEXT: Final = 10_000_000
"""A description, a reason, a line of a log."""
LARGEST_DOCUMENT: Final = 1024 * 1024
"""Bytes of a PRD, a design, a code task: of what people and models read."""


def too_long(what: str, text: object, most: int = LONGEST_TEXT) -> str:
    """Why it is refused; empty if it is not."""
    if not isinstance(text, str) or len(text) <= most:
        return ""
    return f"{what} is {len(text):,} characters long, and may have {most:,}"


def refuse_long_task(task: Draft | Edit) -> None:
    """UnusableData if a title or a description is too long."""
    flaw = too_long("the title", task.title, LONGEST_TITLE) or too_long(
        "the description", task.description
    )
    if flaw:
        raise UnusableData(flaw)


def refuse_long_texts(value: object) -> None:
    """The same for whatever a session sends, however it is nested."""
    left = [value]
    while left:
        one = left.pop()
        if flaw := too_long("a text", one):
            raise UnusableData(flaw)
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one
        elif isinstance(one, msgspec.Struct):
            left += msgspec.structs.astuple(one)
