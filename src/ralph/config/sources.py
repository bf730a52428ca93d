"""Where a setting came from."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

MOST_WARNINGS: Final = 50


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


class Layer(msgspec.Struct, frozen=True):
    """What one source sets."""

    values: Values
    warnings: list[str]
    parts: dict[str, Source]
    """Where each entry of a table with free names stands: `gates.test`, `models.claude.opus`."""

    def warn(self, line: str, word: str = "", known: Iterable[str] = ()) -> None:
        """Add a warning, with the nearest known word. Up to a number of them: a file that is full
        of mistakes is none of settings."""
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(line + (nearest(word, list(known)) if word else ""))
        elif len(self.warnings) == MOST_WARNINGS:
            self.warnings.append("further lines are no settings either, and are not shown")


def nearest(word: str, known: list[str]) -> str:
    """`; did you mean …?`, or nothing."""
    # Only somebody who mistyped pays for this import.
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
