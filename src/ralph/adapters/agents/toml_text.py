"""Plain values as TOML, for the excerpt of a configuration that a session gets."""

import json
from collections.abc import Mapping
from typing import Any


def toml_text(values: Mapping[str, Any]) -> str:
    """A document that reads back as these values. Tables are written inline, one key a line."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in values.items())


def _key(key: str) -> str:
    # A JSON string is a TOML string too, except for one character that JSON leaves as it is.
    return json.dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _key(value)
        case Mapping():
            return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            # Numbers, dates and times look the same everywhere.
            return str(value)
