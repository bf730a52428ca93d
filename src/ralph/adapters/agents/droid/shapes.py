"""The lines of `droid exec -o stream-json`, as far as Ralph wants to know them."""

from typing import Final

from msgspec import Raw, Struct

from ralph.adapters.agents.lines import Lines


class System(Struct, frozen=True, kw_only=True, gc=False, tag="system"):
    """The session is up."""

    subtype: str = ""
    model: str = ""
    tools: list[str] = []


class Message(Struct, frozen=True, kw_only=True, gc=False, tag="message"):
    """The prompt again, or what the model says."""

    role: str = ""
    text: str = ""


class Reasoning(Struct, frozen=True, kw_only=True, gc=False, tag="reasoning"):
    """What the model thinks."""

    text: str = ""


class ToolCall(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    tag="tool_call",
    rename={"name": "toolName", "given": "parameters"},
):
    """A tool is called."""

    id: str = ""
    name: str = ""
    given: Raw = Raw(b"{}")


class ToolError(Struct, frozen=True, kw_only=True, gc=False):
    """Why it did not work."""

    message: str = ""


class ToolResult(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    tag="tool_result",
    rename={"name": "toolId", "is_error": "isError"},
):
    """A tool answered."""

    id: str = ""
    name: str = ""
    is_error: bool = False
    value: str = ""
    error: ToolError = ToolError()


class Failed(Struct, frozen=True, kw_only=True, gc=False, tag="error"):
    """A request failed (`agent_loop`), or the session did (`cli`)."""

    source: str = ""
    message: str = ""


class Used(
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
    """Tokens. What was read is without what the caches had to do with."""

    read: int = 0
    from_cache: int = 0
    into_cache: int = 0
    written: int = 0


class Completion(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    tag="completion",
    rename={"text": "finalText", "turns": "numTurns", "duration_ms": "durationMs"},
):
    """The end, if all is well."""

    text: str = ""
    turns: int | None = None
    duration_ms: float | None = None
    usage: Used | None = None


Line = ToolResult | ToolCall | Message | Reasoning | System | Failed | Completion
LINES: Final[Lines[Line]] = Lines(
    ToolResult, ToolCall, Message, Reasoning, System, Failed, Completion
)
