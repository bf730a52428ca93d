"""Members put into JSON, and taken out again, with every other byte left as it is."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

SPACE: Final = re.compile(r"[ \t\r\n]*")
DECODER: Final = json.JSONDecoder()


class Piece(NamedTuple):
    """A member of an object, or an element of an array."""

    start: int
    """Where it begins, with its name."""
    at: int
    """Where its value begins."""
    end: int
    name: str | None
    value: Any


def pieces(text: str, at: int) -> Iterator[Piece]:
    """What is in the object or the array that begins at `at`. The text is valid JSON."""
    is_object = text[at] == "{"
    now = _past(text, at + 1)
    while text[now] not in "}]":
        start, name = now, None
        if is_object:
            name, now = DECODER.raw_decode(text, now)
            now = _past(text, _past(text, now) + 1)
        value, end = DECODER.raw_decode(text, now)
        yield Piece(start, now, end, name, value)
        now = _past(text, end)
        if text[now] == ",":
            now = _past(text, now + 1)


def member(text: str, at: int, name: str) -> Piece | None:
    """The member of that name; of twins the last, which is the one that counts."""
    found = [piece for piece in pieces(text, at) if piece.name == name]
    return found[-1] if found else None


def appended(text: str, at: int, new: str, depth: int) -> str:
    """With one more piece at the end of the object or the array at `at`. `new` is written as if at
    the left edge; it is set in by `depth` steps."""
    there = list(pieces(text, at))
    step = _step(text)
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    edge = end_of_line + step * depth
    # Where all is on one line, so is this: strings hold no line ends.
    inside = new.replace("\n", edge) if step else re.sub(r"\n *", "", new)
    if there:
        end = there[-1].end
        return f"{text[:end]},{edge if step else ' '}{inside}{text[end:]}"
    close = end_of_line + step * (depth - 1) if step and text[at + 1] in "}]" else ""
    return f"{text[: at + 1]}{edge if step else ''}{inside}{close}{text[at + 1 :]}"


def without(text: str, at: int, piece: Piece) -> str:
    """Without one of the pieces of what begins at `at`."""
    there = list(pieces(text, at))
    place = [one.start for one in there].index(piece.start)
    if place:
        return text[: there[place - 1].end] + text[piece.end :]
    if len(there) > 1:
        return text[: piece.start] + text[there[1].start :]
    close = _past(text, piece.end)
    return text[: at + 1] + text[close:]


def start_of(text: str) -> int:
    """Where the outermost value begins."""
    return _past(text, 0)


def _past(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    return found.end() if found else at


def _step(text: str) -> str:
    """How far the first line that is set in is set in; nothing where all is on one line."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else ("  " if "\n" in text.strip() or len(text.strip()) < 3 else "")
