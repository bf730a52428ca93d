"""The events that every agent adapter turns its program's output into.

This is what an agent says while it works. It is not state: it goes to the screens and to the
session's own stream file, never to the journal.
"""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from ralph.core.session_ending import EndingKind


class LimitStatus(StrEnum):
    """What the provider says about the account's allowance."""

    ALLOWED = "allowed"
    WARNING = "allowed_warning"
    REJECTED = "rejected"


class TokenUsage(msgspec.Struct, frozen=True, kw_only=True, tag="usage", tag_field="event"):
    """Tokens, as far as they are known."""

    input_tokens: int = 0
    """All that was read, from a cache or not."""
    cached_tokens: int = 0
    """What of it came from a cache."""
    output_tokens: int = 0


def sum_of_usage(usages: "Iterable[TokenUsage | ModelRequest]") -> TokenUsage:
    names = TokenUsage.__struct_fields__
    found = tuple(usages)
    return TokenUsage(**{name: sum(getattr(one, name) for one in found) for name in names})


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True, tag="request", tag_field="event"):
    """A request to the model has begun, or is answered: tokens of this one alone, while the session
    works. The result counts them all once more."""

    input_tokens: int = 0
    """All that it read: the context of the session as it is now."""
    cached_tokens: int = 0
    output_tokens: int = 0
    is_main: bool = True
    """False: of a sub-agent, which has a context of its own."""
    cost_usd: float | None = None


class AgentStarted(msgspec.Struct, frozen=True, kw_only=True, tag="started", tag_field="event"):
    model: str = ""
    tools: tuple[str, ...] = ()


class Text(msgspec.Struct, frozen=True, kw_only=True, tag="text", tag_field="event"):
    text: str
    partial: bool = False


class Thinking(msgspec.Struct, frozen=True, kw_only=True, tag="thinking", tag_field="event"):
    text: str
    partial: bool = False


class ToolUse(msgspec.Struct, frozen=True, kw_only=True, tag="tool_use", tag_field="event"):
    """The model calls a tool. `summary` is one line of the tool's input."""

    name: str
    summary: str = ""
    call: str = ""


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, tag="tool_result", tag_field="event"):
    call: str = ""
    text: str = ""
    """A part of it."""
    cut: int = 0
    """Characters of the rest."""
    error: bool = False


class ToolDenied(msgspec.Struct, frozen=True, kw_only=True, tag="denied", tag_field="event"):
    """A tool call was denied. The session continues without it."""

    name: str
    summary: str = ""


class AgentRetry(msgspec.Struct, frozen=True, kw_only=True, tag="retry", tag_field="event"):
    """The agent program retries a request by itself."""

    message: str = ""
    attempt: int = 0
    delay_s: float | None = None


class AgentProblem(msgspec.Struct, frozen=True, kw_only=True, tag="trouble", tag_field="event"):
    """Something around the agent failed, such as a request. Only what the program itself reports:
    text from the model never counts. The session may still recover."""

    message: str = ""
    failure: EndingKind | None = None
    """How the session ended, if this was its end."""
    resets_at: float | None = None


class UsageLimit(msgspec.Struct, frozen=True, kw_only=True, tag="limit", tag_field="event"):
    """The provider reports the state of the usage limit."""

    status: LimitStatus
    resets_at: float | None = None
    window: str = ""
    """Which allowance, such as `five_hour`."""
    used: float | None = None
    """The share of it that is used up."""


class SessionResultEvent(
    msgspec.Struct, frozen=True, kw_only=True, tag="result", tag_field="event"
):
    """The agent's final result. A cost that is not reported is unknown, never 0."""

    text: str = ""
    error: bool = False
    detail: str = ""
    failure: EndingKind | None = None
    """What kind of error, where the agent says so."""
    resets_at: float | None = None
    model: str = ""
    cost_usd: float | None = None
    turns: int | None = None
    duration_s: float | None = None
    usage: TokenUsage | None = None


class UnknownLine(msgspec.Struct, frozen=True, kw_only=True, tag="unknown", tag_field="event"):
    """A line that the adapter does not understand. It is kept and never fatal."""

    line: str = ""


AgentEvent = (
    AgentStarted
    | Text
    | Thinking
    | ToolUse
    | ToolResult
    | ToolDenied
    | TokenUsage
    | ModelRequest
    | AgentRetry
    | AgentProblem
    | UsageLimit
    | SessionResultEvent
    | UnknownLine
)
