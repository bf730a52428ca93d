"""Where a setting came from, and values that arrive as text: from variables and config.sh."""

from collections.abc import Iterable
from typing import Any, get_origin

import msgspec

from ralph.core.settings import SECTIONS

TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


class Source(msgspec.Struct, frozen=True):
    """A place that a person can go to and change."""

    kind: str
    """default, config.sh, file, environment or flag"""
    name: str = ""
    """The file's path, the variable's or the flag's name."""
    line: int = 0
    variable: str = ""
    """What a `config.sh` calls the setting."""

    def __str__(self) -> str:
        match self.kind:
            case "default":
                return "default"
            case "environment":
                return f"${self.name}"
            case "flag":
                return "command line"
            case _:
                return f"{self.name}:{self.line}" if self.line else self.name


RANK = {"default": 0, "config.sh": 1, "file": 2, "environment": 3, "flag": 4}
"""Which kind of source wins: the higher one."""

Values = dict[str, tuple[Any, Source]]
"""What is set, as it was written, and where; by `section.key`."""


class SettingsLayer(msgspec.Struct, frozen=True):
    """What one source sets."""

    values: Values = {}
    warnings: list[str] = []
    parts: dict[str, Source] = {}
    """Where each entry of a table with free names is: `gates.test`, `models.claude.opus`."""

    def warn(self, line: str, word: str = "", known: Iterable[str] = ()) -> None:
        """Add a warning, with the nearest known word."""
        self.warnings.append(line + (nearest(word, list(known)) if word else ""))


def nearest(word: str, known: list[str]) -> str:
    """`; did you mean …?`, or nothing."""
    # Only a mistyped word costs this import.
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def kind_of(key: str) -> Any:
    """The type that a setting's value must have."""
    section, _, field = key.partition(".")
    return SECTIONS[section].__annotations__[field]


def parse_bool(text: str) -> bool | None:
    """What people write for true and false; None for anything else."""
    word = text.strip().lower()
    return True if word in TRUE else False if word in FALSE else None


def parse_value(key: str, text: str) -> object:
    """The value that is meant. What does not fit stays text, so that the check can show it."""
    kind = kind_of(key)
    if kind is bool:
        answer = parse_bool(text)
        return text if answer is None else answer
    if get_origin(kind) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        return msgspec.convert(text.strip(), kind, strict=False)
    except msgspec.ValidationError:
        return text


def holds_zero(value: object) -> bool:
    """Whether a text in it has a zero byte: no program can be given one, so it crashes later."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(holds_zero(key) or holds_zero(each) for key, each in value.items())
    return isinstance(value, list | tuple) and any(holds_zero(each) for each in value)
