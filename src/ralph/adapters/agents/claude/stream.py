"""What the lines of Claude Code mean, in the language of all agents."""

from collections.abc import Iterable, Iterator
from typing import Final

from ralph.adapters.agents.claude import failures, shapes
from ralph.adapters.agents.claude.last_word import last_word
from ralph.adapters.agents.plausible import count
from ralph.adapters.agents.summary import summary
from ralph.core.agent_events import (
    AgentEvent,
    Limit,
    LimitStatus,
    Request,
    Retry,
    Started,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Trouble,
    Unknown,
)
from ralph.core.ended import Ended
from ralph.core.safe_text import one_line

RESULT_CHARS: Final = 2000
MESSAGE_CHARS: Final = 300
NAME_CHARS: Final = 100
"""Names are kept for as long as a session lasts, so none may be endless."""
LATEST: Final = 1e11
"""Seconds since the epoch beyond which a moment is nonsense."""

SYNTHETIC: Final = "<synthetic>"
"""The model's name where the program speaks in its place."""

QUIET: Final = frozenset(
    {"background_tasks_changed", "compact_boundary", "hook_progress", "hook_response"}
    | {"hook_started", "informational", "notification", "permission_denied"}
    | {"session_state_changed", "status", "task_notification", "task_progress", "task_started"}
    | {"task_summary", "task_updated", "thinking_tokens"}
)
"""What the program says about itself and nobody needs; denials are told again at the end."""


def read(block: bytes) -> Iterator[AgentEvent]:
    """The events of some lines."""
    for line in shapes.LINES.read(block):
        match line:
            case shapes.Stream():
                yield from _piece(line)
            case shapes.Assistant():
                yield from _assistant(line)
            case shapes.User():
                blocks = _blocks(line.message)
                yield from (_result(block) for block in blocks if block.type == "tool_result")
            case shapes.System():
                yield from _system(line)
            case shapes.RateLimit():
                yield _limit(line.rate_limit_info)
            case shapes.Result():
                yield from last_word(line)
            case Unknown():
                yield line


def _piece(line: shapes.Stream) -> Iterator[AgentEvent]:
    """The most frequent by far."""
    event, is_main = line.event, line.parent_tool_use_id is None
    # Sub-agents do not speak to people.
    if event.delta.text and is_main:
        yield Text(text=event.delta.text, partial=True)
    elif event.delta.thinking and is_main:
        yield Thinking(text=event.delta.thinking, partial=True)
    elif event.type == "message_start" and event.message and event.message.usage:
        used = event.message.usage
        cached = count(used.from_cache) or 0
        fresh = (count(used.read) or 0) + (count(used.into_cache) or 0)
        yield Request(input_tokens=fresh + cached, cached_tokens=cached, is_main=is_main)
    elif event.type == "message_delta" and event.usage:
        yield Request(output_tokens=count(event.usage.written) or 0, is_main=is_main)


def _assistant(line: shapes.Assistant) -> Iterator[AgentEvent]:
    message = line.message
    if line.error or message.model == SYNTHETIC:
        said = "\n".join(block.text for block in _blocks(message))
        yield Trouble(
            message=one_line(said or line.error or "", MESSAGE_CHARS),
            # A sub-agent's end is not the session's.
            failure=None if line.parent_tool_use_id else failures.of_message(line.error, said),
        )
        return
    for block in _blocks(message):
        match block.type:
            case "text" if line.parent_tool_use_id is None:
                yield Text(text=block.text)
            case "text":
                # What a sub-agent says to the agent is no word of the session.
                yield Thinking(text=block.text)
            case "thinking":
                yield Thinking(text=block.thinking)
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                yield ToolUse(
                    name=one_line(block.name, NAME_CHARS),
                    summary=summary(block.input),
                    call=block.id[:NAME_CHARS],
                )
            case kind if kind.endswith("tool_result"):
                yield _result(block)  # of a tool that runs at the provider's
            case _:
                pass  # such as a picture


def _result(block: shapes.Block) -> ToolResult:
    content = block.content or ""
    if not isinstance(content, str):
        content = "\n".join(part.text for part in content)
    return ToolResult(
        call=block.tool_use_id[:NAME_CHARS],
        text=content[:RESULT_CHARS],
        cut=max(0, len(content) - RESULT_CHARS),
        error=block.is_error is True,
    )


def _blocks(message: shapes.Message) -> Iterable[shapes.Block]:
    if isinstance(message.content, str):
        return (shapes.Block(type="text", text=message.content),)
    return message.content


def _system(line: shapes.System) -> Iterator[AgentEvent]:
    match line.subtype:
        case "init":
            yield Started(model=one_line(line.model, NAME_CHARS), tools=tuple(line.tools))
        case "api_retry":
            told = f"{line.error or 'error'} {line.error_status}"
            yield Retry(
                message=one_line(told, MESSAGE_CHARS) if line.error_status else "no connection",
                attempt=line.attempt,
                delay_s=None if line.retry_delay_ms is None else line.retry_delay_ms / 1000,
            )
        case "model_fallback" | "model_refusal_fallback" | "model_consent_fallback":
            yield Retry(message=one_line(line.content or line.subtype, MESSAGE_CHARS))
        case "model_refusal_no_fallback":
            told = one_line(line.content or line.subtype, MESSAGE_CHARS)
            yield Trouble(message=told, failure=Ended.REFUSED)
        case subtype:
            if subtype not in QUIET:
                yield Unknown(line=one_line(f"system {subtype}", MESSAGE_CHARS))


def _limit(told: shapes.Allowance) -> AgentEvent:
    try:
        status = LimitStatus(told.status)
    except ValueError:
        return Unknown(line=one_line(f"rate_limit_event {told.status}", MESSAGE_CHARS))
    if status is LimitStatus.REJECTED and told.is_overage:
        # The allowance is used up, and the session goes on at a price.
        status = LimitStatus.WARNING
    at = told.resets_at
    return Limit(
        status=status,
        resets_at=at if at is not None and 0 < at < LATEST else None,
        window=one_line(told.window, MESSAGE_CHARS),
        used=told.utilization,
    )
