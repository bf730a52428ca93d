"""What a tool has answered, whatever its agent's program makes of it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ralph.core.safe_text import one_line
from ralph.core.sections import tokens

ERROR_CHARS: Final = 200
DEEPEST: Final = 20
PATCH: Final = "structuredPatch"
"""A change of a file is told to people in full, and to the model in a line."""
PICTURES: Final = ("base64", "data")
"""Their letters are not what the model reads."""


def tokens_of(payload: Mapping[str, Any]) -> int:
    """About how much of the context the answer takes."""
    if payload.get("agent_id"):
        return 0  # a sub-agent has one of its own
    said = (payload.get("tool_response"), payload.get("error"))
    return tokens("".join(text for one in said for text in _texts(one)))


def error_of(payload: Mapping[str, Any]) -> str:
    """What went wrong, in one line; empty where nothing did, or where nobody says so: then it is
    found in the session's stream."""
    told = payload.get("error")
    if not told:
        return ""
    text = "".join(_texts(told)).strip() or "it failed"
    return one_line(f"{payload.get('tool_name', '')}: {text}", ERROR_CHARS)


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """Every text in it."""
    match value:
        case str():
            yield value
        case Mapping() if PATCH in value:
            pass
        case Mapping() if depth < DEEPEST:
            for key, one in value.items():
                if key not in PICTURES:
                    yield from _texts(one, depth + 1)
        case list() if depth < DEEPEST:
            for one in value:
                yield from _texts(one, depth + 1)
        case _:
            pass
