"""Where a setting came from."""

from typing import Any, NamedTuple


class Source(NamedTuple):
    """A place that a person can go to and change."""

    kind: str
    """default, config.sh, file, environment or flag"""
    name: str = ""
    """The file's path, the variable's or the flag's name."""
    line: int = 0

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


class Layer(NamedTuple):
    """Settings of one source: value and origin by `section.key`."""

    values: dict[str, tuple[Any, Source]]
    warnings: list[str]


def nearest(word: str, known: list[str]) -> str:
    """`; did you mean …?`, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
