"""The one language in which every agent's stream is understood.

This is what an agent says while it works. It is not state: it goes to the screens and to the
session's own stream file, never to the journal.
"""

from enum import StrEnum

import msgspec

from ralph.core.ended import Ended


class LimitStatus(StrEnum):
    """What the provider says about the account's allowance."""

    ALLOWED = "allowed"
    WARNING = "allowed_warning"
    REJECTED = "rejected"


class Usage(msgspec.Struct, frozen=True, kw_only=True, tag="usage", tag_field="event"):
    """Tokens, as far as they are known."""

    input_tokens: int = 0
    """All that was read, from a cache or not."""
    cached_tokens: int = 0
    """What of it came from a cache."""
    output_tokens: int = 0


class Request(msgspec.Struct, frozen=True, kw_only=True, tag="request", tag_field="event"):
    """A request to the model has begun, or is answered: tokens of this one alone, while the session
    works. The result counts them all once more."""

    input_tokens: int = 0
    """All that it read: the context of the session as it is now."""
    cached_tokens: int = 0
    output_tokens: int = 0
    is_main: bool = True
    """False: of a sub-agent, which has a context of its own."""


class Started(msgspec.Struct, frozen=True, kw_only=True, tag="started", tag_field="event"):
    """The session is up."""

    model: str = ""
    tools: tuple[str, ...] = ()


class Text(msgspec.Struct, frozen=True, kw_only=True, tag="text", tag_field="event"):
    """Something said."""

    text: str
    partial: bool = False


class Thinking(msgspec.Struct, frozen=True, kw_only=True, tag="thinking", tag_field="event"):
    """Something thought."""

    text: str
    partial: bool = False


class ToolUse(msgspec.Struct, frozen=True, kw_only=True, tag="tool_use", tag_field="event"):
    """A tool is called. `summary` is one line of its input."""

    name: str
    summary: str = ""
    call: str = ""


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, tag="tool_result", tag_field="event"):
    """A tool answered."""

    call: str = ""
    text: str = ""
    """A part of it."""
    cut: int = 0
    """Characters of the rest."""
    error: bool = False


class Denied(msgspec.Struct, frozen=True, kw_only=True, tag="denied", tag_field="event"):
    """A tool call that was not permitted: the agent goes on without it."""

    name: str
    summary: str = ""


class Retry(msgspec.Struct, frozen=True, kw_only=True, tag="retry", tag_field="event"):
    """The agent tries again by itself."""

    message: str = ""
    attempt: int = 0
    delay_s: float | None = None


class Trouble(msgspec.Struct, frozen=True, kw_only=True, tag="trouble", tag_field="event"):
    """Something failed around the agent, such as a request. Only what the program itself reports:
    what the model writes never counts. The session may still recover."""

    message: str = ""
    failure: Ended | None = None
    """How the session ended, if this was its end."""
    resets_at: float | None = None


class Limit(msgspec.Struct, frozen=True, kw_only=True, tag="limit", tag_field="event"):
    """The provider speaks about the allowance."""

    status: LimitStatus
    resets_at: float | None = None
    window: str = ""
    """Which allowance, such as `five_hour`."""
    used: float | None = None
    """The share of it that is used up."""


class Result(msgspec.Struct, frozen=True, kw_only=True, tag="result", tag_field="event"):
    """The agent's last word. Cost that is not reported is unknown, never 0."""

    text: str = ""
    error: bool = False
    detail: str = ""
    failure: Ended | None = None
    """What kind of error, where the agent says so."""
    resets_at: float | None = None
    model: str = ""
    cost_usd: float | None = None
    turns: int | None = None
    duration_s: float | None = None
    usage: Usage | None = None


class Unknown(msgspec.Struct, frozen=True, kw_only=True, tag="unknown", tag_field="event"):
    """A line that nobody understands: kept, never fatal."""

    line: str = ""


AgentEvent = (
    Started
    | Text
    | Thinking
    | ToolUse
    | ToolResult
    | Denied
    | Usage
    | Request
    | Retry
    | Trouble
    | Limit
    | Result
    | Unknown
)
