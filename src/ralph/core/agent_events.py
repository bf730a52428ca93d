"""The one language in which every agent's stream is understood.

This is what an agent says while it works. It is not state: it goes to the screens and to the
session's own stream file, never to the journal.
"""

from enum import StrEnum

import msgspec


class LimitStatus(StrEnum):
    """What the provider says about the account's allowance."""

    ALLOWED = "allowed"
    WARNING = "allowed_warning"
    REJECTED = "rejected"


class Usage(msgspec.Struct, frozen=True, kw_only=True, tag="usage", tag_field="event"):
    """Tokens, as far as they are known."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0


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
    error: bool = False


class Retry(msgspec.Struct, frozen=True, kw_only=True, tag="retry", tag_field="event"):
    """The agent tries again by itself."""

    message: str = ""
    attempt: int = 0


class Limit(msgspec.Struct, frozen=True, kw_only=True, tag="limit", tag_field="event"):
    """The provider speaks about the allowance."""

    status: LimitStatus
    resets_at: float | None = None
    window: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True, tag="result", tag_field="event"):
    """The agent's last word. Cost that is not reported is unknown, never 0."""

    text: str = ""
    error: bool = False
    detail: str = ""
    cost_usd: float | None = None
    turns: int | None = None
    duration_s: float | None = None
    usage: Usage | None = None


class Unknown(msgspec.Struct, frozen=True, kw_only=True, tag="unknown", tag_field="event"):
    """A line that nobody understands: kept, never fatal."""

    line: str = ""


AgentEvent = (
    Started | Text | Thinking | ToolUse | ToolResult | Usage | Retry | Limit | Result | Unknown
)
