"""Ticking and clearing: one letter in each box, and not a byte elsewhere."""

from collections.abc import Mapping


def with_boxes(text: str, wanted: Mapping[int, bool]) -> str:
    """The text with these boxes ticked (True) or cleared. A box that is right stays as it is,
    however its mark is written."""
    parts, last = [], 0
    for at, ticked in sorted(wanted.items()):
        if text[at].isspace() is ticked:
            parts += [text[last:at], "x" if ticked else " "]
            last = at + 1
    return "".join([*parts, text[last:]])
