"""Read TOML in linear time, and write it."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

MOST_PARTS: Final = 100
"""Dots outside of strings, on one line."""
STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|\'[^\']*+\'?')


def parse_toml(text: str) -> dict[str, Any]:
    """ValueError if it is no TOML, or has a key without measure: the library takes a time that
    grows with the square of a key's parts. RecursionError if it is nested without end."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_PARTS and STRING.sub("", line).count(".") > MOST_PARTS:
            raise ValueError(f"a key has more than {MOST_PARTS} parts (at line {number})")
    return tomllib.loads(text)


def toml_text(values: Mapping[str, Any]) -> str:
    """A document that reads back as these values. Tables are written inline, one key a line."""
    return "".join(f"{toml_value(key)} = {toml_value(value)}\n" for key, value in values.items())


def toml_value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            # A JSON string is a TOML string too, but for one character that JSON leaves as it is.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            pairs = (f"{toml_value(key)} = {toml_value(one)}" for key, one in value.items())
            return f"{{{', '.join(pairs)}}}"
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case _:
            # Numbers, dates and times look the same everywhere.
            return str(value)
