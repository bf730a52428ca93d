"""What every API of a model has in common: it is heard, and answered as a stream or whole."""

import json
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import msgspec

from ralph.testing.model.asked import Heard
from ralph.testing.model.turn import Broken, Call, Refused, Tokens

NewId = Callable[[str], str]
"""A new identifier with that beginning."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A turn, ready to be told: places filled in, tools chosen."""

    model: str
    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    tokens: Tokens = Tokens()
    stop: str = ""


class Dialect(Protocol):
    """One API. Its functions are pure but for the new identifiers."""

    @property
    def takes_free_text(self) -> bool:
        """Whether a tool may be called with a text instead of an object."""
        ...

    def hear(self, body: dict[str, Any]) -> Heard:
        """What a request says."""
        ...

    def stream(self, reply: Reply, new: NewId) -> Iterator[bytes]:
        """The reply as server-sent events."""
        ...

    def whole(self, reply: Reply, new: NewId) -> dict[str, Any]:
        """The reply as one object."""
        ...

    def refusal(self, fault: Refused) -> dict[str, Any]:
        """The body of a failure."""
        ...

    def broken(self, fault: Broken, new: NewId) -> bytes:
        """An error in the middle of the stream."""
        ...


def event(data: dict[str, Any]) -> bytes:
    """A server-sent event that is named like its type."""
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def pieces(text: str) -> Iterator[str]:
    """A text as it trickles in."""
    size = max(40, len(text) // 8)
    for start in range(0, len(text), size):
        yield text[start : start + size]


def words(content: object, *kinds: str) -> str:
    """The text in a message's content: a string, or blocks of these kinds."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    found = (str(block.get("text", "")) for block in content if block.get("type") in kinds)
    return "\n".join(found)
