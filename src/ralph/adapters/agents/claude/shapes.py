"""The lines of `claude -p --output-format stream-json`, as far as Ralph wants to know them.

What is often null says so in its type: a wrong type is survived, but costs time.
"""

from typing import Final

from msgspec import Raw, Struct

from ralph.adapters.agents.lines import Lines


class Part(Struct, frozen=True, kw_only=True, gc=False):
    """A part of a tool's result."""

    text: str = ""


class Block(Struct, frozen=True, kw_only=True, gc=False):
    """A part of a message: text, thinking, the use of a tool, or its result."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: Raw = Raw(b"{}")
    tool_use_id: str = ""
    content: str | list[Part] | None = None
    is_error: bool | None = None


class Message(Struct, frozen=True, kw_only=True, gc=False):
    """What the model says, or what it is told."""

    model: str = ""
    content: str | list[Block] = ""


class Assistant(Struct, frozen=True, kw_only=True, gc=False, tag="assistant"):
    """The model speaks; or, about an error, the program in its place."""

    message: Message = Message()
    error: str | None = None
    parent_tool_use_id: str | None = None
    """Set: a sub-agent speaks."""


class User(Struct, frozen=True, kw_only=True, gc=False, tag="user"):
    """What the model is told, such as the results of its tools."""

    message: Message = Message()


class Delta(Struct, frozen=True, kw_only=True, gc=False):
    """A piece of something that is being said."""

    text: str = ""
    thinking: str = ""


class Spent(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    rename={
        "read": "input_tokens",
        "from_cache": "cache_read_input_tokens",
        "into_cache": "cache_creation_input_tokens",
        "written": "output_tokens",
    },
):
    """Tokens of one request."""

    read: int | None = None
    from_cache: int | None = None
    into_cache: int | None = None
    written: int | None = None


class Begun(Struct, frozen=True, kw_only=True, gc=False):
    """The head of an answer."""

    usage: Spent | None = None


class Event(Struct, frozen=True, kw_only=True, gc=False):
    """One event of the provider's own stream."""

    type: str = ""
    delta: Delta = Delta()
    message: Begun | None = None
    """Of `message_start`: what the request has read."""
    usage: Spent | None = None
    """Of `message_delta`: what was written in the end."""


class Stream(Struct, frozen=True, kw_only=True, gc=False, tag="stream_event"):
    """The provider's own stream, passed on."""

    event: Event = Event()
    parent_tool_use_id: str | None = None


class System(Struct, frozen=True, kw_only=True, gc=False, tag="system"):
    """The program about itself."""

    subtype: str = ""
    model: str = ""
    tools: list[str] = []
    attempt: int = 0
    retry_delay_ms: float | None = None
    error_status: int | None = None
    error: str | None = None
    content: str | None = None


class Allowance(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    rename={"resets_at": "resetsAt", "window": "rateLimitType", "is_overage": "isUsingOverage"},
):
    """How much the account may still use."""

    status: str = ""
    resets_at: float | None = None
    window: str = ""
    utilization: float | None = None
    is_overage: bool | None = None
    """It goes on, and what is used now is paid for."""


class RateLimit(Struct, frozen=True, kw_only=True, gc=False, tag="rate_limit_event"):
    """The allowance has changed."""

    rate_limit_info: Allowance = Allowance()


class Denial(Struct, frozen=True, kw_only=True, gc=False):
    """A call that was not permitted."""

    tool_name: str = ""
    tool_input: Raw = Raw(b"{}")


class Used(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    rename={
        "read": "inputTokens",
        "written": "outputTokens",
        "from_cache": "cacheReadInputTokens",
        "into_cache": "cacheCreationInputTokens",
        "cost_usd": "costUSD",
    },
):
    """What one model has read and written, in tokens."""

    read: int = 0
    written: int = 0
    from_cache: int = 0
    into_cache: int = 0
    cost_usd: float = 0.0


class Result(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    tag="result",
    rename={"used": "modelUsage"},
):
    """The end of the session."""

    subtype: str = ""
    is_error: bool | None = None
    api_error_status: int | None = None
    stop_reason: str | None = None
    terminal_reason: str | None = None
    result: str = ""
    errors: list[str] = []
    duration_ms: float | None = None
    num_turns: int | None = None
    total_cost_usd: float | None = None
    used: dict[str, Used] = {}
    permission_denials: list[Denial] = []


Line = Stream | Assistant | User | System | RateLimit | Result
LINES: Final[Lines[Line]] = Lines(Stream, Assistant, User, System, RateLimit, Result)
