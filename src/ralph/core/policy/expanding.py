"""From a word as written to the words that a command may receive."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from ralph.core.policy import braces
from ralph.core.policy.known import SOME, UNKNOWN, Field, Frame, Known
from ralph.core.shell.tree import Number, Part, Process, Script, Substitution, Text, Variable, Word

MOST: Final = 64
"""Ways to read one command; beyond, nobody can tell."""
GLOB: Final = re.compile(r"[*?\[]")
TILDE: Final = re.compile(r"([A-Za-z_]\w*=)?~([A-Za-z_][\w-]*)?(?=/|$)")
NO_ONE_KNOWS: Final = Field(UNKNOWN, bare=True)


class About(NamedTuple):
    """What is known where a word stands."""

    known: Known
    frame: Frame
    printed: Callable[[Script, Frame], str]
    """What a script prints, as far as that can be told."""


def fields(words: Iterable[Word], about: About) -> list[tuple[Field, ...]]:
    """All the ways in which a command's words may arrive."""
    ways: list[list[Field]] = [[]]
    for word in words:
        more = fields_of(word, about)
        if len(ways) * len(more) > MOST:
            more = [(NO_ONE_KNOWS,)]
        if len(more) == 1:
            for way in ways:
                way.extend(more[0])
        else:
            ways = [[*way, *each] for way in ways for each in more]
    return [tuple(way) for way in ways]


def fields_of(word: Word, about: About) -> list[tuple[Field, ...]]:
    """The ways in which one word may arrive; often it is one, as one field."""
    if len(word.parts) == 1 and isinstance(word.parts[0], Text):
        text = word.parts[0]
        if text.quoted or not ("{" in text.text or "~" in text.text):
            glob = not text.quoted and GLOB.search(text.text) is not None
            bare = text.text == UNKNOWN and not text.quoted
            return [(Field(text.text, word.start, text.start, glob, bare),)]
    try:
        versions = braces.expand(word) if braces.has_braces(word) else [word]
    except braces.TooMany:
        return [(NO_ONE_KNOWS,)]
    ways: list[tuple[Field, ...]] = [()]
    for version in versions:
        more = _expanded(version, about, splits=True)
        if len(ways) * len(more) > MOST:
            return [(NO_ONE_KNOWS,)]
        ways = [(*way, *each) for way in ways for each in more]
    return ways


def texts(word: Word, about: About) -> list[str]:
    """What a word may be where it is not cut into several: in assignments and here-documents."""
    return ["".join(field.text for field in way) for way in _expanded(word, about, splits=False)]


class _Open:
    """A word on its way: the fields that are finished, and the one that is not."""

    def __init__(self, done: Sequence[Field] = ()) -> None:
        self.done = list(done)
        self.text = ""
        self.is_there = self.glob = self.quoted = False
        self.printed: str | None = None

    def copy(self) -> "_Open":
        other = _Open()
        other.__dict__.update(self.__dict__, done=list(self.done))
        return other

    def add(self, text: str, *, quoted: bool, glob: bool = False) -> None:
        self.text += text
        self.is_there = self.is_there or quoted or text != ""
        self.quoted = self.quoted or quoted
        self.glob = self.glob or glob

    def close(self, start: int, inner: int) -> None:
        if self.is_there:
            bare = not self.quoted and self.text.strip(UNKNOWN) == ""
            field = Field(self.text, start, inner, self.glob, bare, self.printed)
            self.done.append(field)
        self.text = ""
        self.is_there = self.glob = self.quoted = False
        self.printed = None


def _expanded(word: Word, about: About, *, splits: bool) -> list[tuple[Field, ...]]:
    ways = [_Open()]
    for number, part in enumerate(word.parts):
        if isinstance(part, Text):
            text, is_home = _tilde(part, about) if number == 0 else (part.text, False)
            glob = splits and not part.quoted and GLOB.search(part.text) is not None
            for way in ways:
                way.add(text, quoted=part.quoted or is_home, glob=glob)
            continue
        choices = _choices(part, about)
        quoted = not splits or getattr(part, "quoted", True)
        if len(ways) * len(choices) > MOST:
            return [(NO_ONE_KNOWS,)]
        if len(choices) > 1:
            ways = [way.copy() for way in ways for _ in choices]
        for place, way in enumerate(ways):
            _append(way, choices[place % len(choices)], about, quoted=quoted)
        if isinstance(part, Process):
            printed = about.printed(part.script, about.frame) if part.reads else UNKNOWN
            for way in ways:
                way.printed = printed
    is_literal = all(isinstance(part, Text) for part in word.parts)
    only = word.parts[0] if len(word.parts) == 1 else None
    for way in ways:
        way.close(word.start if is_literal else -1, only.start if isinstance(only, Text) else -1)
    return [tuple(way.done) for way in ways]


def _append(way: _Open, values: tuple[str, ...], about: About, *, quoted: bool) -> None:
    """Several values are several fields; without quotes each may be cut further."""
    pieces: list[str] = []
    for value in values:
        pieces += [value] if quoted else _cut(value, about.known.separators)
    for number, piece in enumerate(pieces):
        if number:
            way.close(-1, -1)
        way.add(piece, quoted=quoted, glob=not quoted and GLOB.search(piece) is not None)


def _cut(value: str, separators: str) -> list[str]:
    if not separators or not value:
        return [value]
    return re.split(f"[{re.escape(separators)}]+", value)


def _tilde(part: Text, about: About) -> tuple[str, bool]:
    found = TILDE.match(part.text) if not part.quoted else None
    if found is None:
        return part.text, False
    home = next(iter(about.known.variables["HOME"]))[0]
    place = f"/home/{found[2]}" if found[2] else home
    return (found[1] or "") + place + part.text[found.end() :], True


def _choices(part: Part, about: About) -> list[tuple[str, ...]]:
    """What may stand in the place of an expansion: each choice is the fields it becomes."""
    match part:
        case Substitution():
            return [(about.printed(part.script, about.frame).rstrip("\n"),)]
        case Process():
            return [(f"/dev/fd/{UNKNOWN}",)]
        case Number():
            return [("0",)]
        case Variable():
            return _variable(part, about)
        case Text():
            return [(part.text,)]


def _variable(part: Variable, about: About) -> list[tuple[str, ...]]:
    values = _values(part, about)
    operator = part.operator.lstrip(":")
    if part.operator in (":?", ":-", ":="):
        # Whatever it is, it is not empty.
        values = [(SOME,) if value == (UNKNOWN,) else value for value in values]
    if operator not in ("-", "=", "+"):
        return [(UNKNOWN,)] if operator == "!" else values
    given = [(text,) for text in texts(part.word, about)] if part.word else [("",)]
    if operator == "+":
        return [*given, ("",)]
    if operator == "=":
        for value in given:
            about.known.assign(part.name, value)
    present = [value for value in values if value not in ((), ("",))]
    return [*dict.fromkeys([*present, *given])]


def _values(part: Variable, about: About) -> list[tuple[str, ...]]:
    frame = about.frame
    if part.name in "@*" or part.name.isdigit():
        return _arguments(part, frame)
    found = list(about.known.variables.get(part.name, ()))
    if not found or not (part.name in frame.assigned or part.name in about.known.given):
        # Perhaps it has no value yet, or one from outside.
        found.append((UNKNOWN,))
    if part.index == "@" and found[-1] == (UNKNOWN,):
        found.append(())
    if part.index in ("@", "*"):
        joins = part.index == "*" and part.quoted
        return [(" ".join(value),) if joins else value for value in found]
    if part.index:
        return [(text,) for text in dict.fromkeys(text for value in found for text in value)]
    return [value[:1] or ("",) for value in found]


def _arguments(part: Variable, frame: Frame) -> list[tuple[str, ...]]:
    if part.name == "0":
        return [(frame.zero,)]
    if not frame.arguments:
        return [(UNKNOWN,), ()] if part.name == "@" else [(UNKNOWN,)]
    versions = [
        arguments[start:]
        for arguments in frame.arguments
        for start in range(min(len(arguments) + 1 if frame.shifted else 1, MOST))
    ]
    if part.name == "@":
        return versions
    if part.name == "*":
        return [(" ".join(version),) if part.quoted else version for version in versions]
    place = int(part.name) - 1
    return [*dict.fromkeys(version[place : place + 1] or ("",) for version in versions)]
