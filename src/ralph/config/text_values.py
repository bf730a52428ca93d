"""Values that reach Ralph as text, from variables and from `config.sh`."""

from typing import Any, get_origin

import msgspec

from ralph.config.settings import SECTIONS

TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


def kind_of(key: str) -> Any:
    """The type that a setting's value must have."""
    section, _, field = key.partition(".")
    return SECTIONS[section].__annotations__[field]


def truth(text: str) -> bool | None:
    """What people write for true and false; None for anything else."""
    word = text.strip().lower()
    return True if word in TRUE else False if word in FALSE else None


def from_text(key: str, text: str) -> object:
    """The value that is meant. What does not fit stays text, so that the check can show it."""
    kind = kind_of(key)
    if kind is bool:
        answer = truth(text)
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
