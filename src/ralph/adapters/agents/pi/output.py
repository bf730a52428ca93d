"""Turn the output of `pi --mode json` into agent events."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Raw, field

from ralph.adapters.agents.json_lines import (
    JsonLineReader,
    JsonPart,
    TextPart,
    plausible,
    silent_kinds,
    tokens,
    tool_result,
    tool_summary,
)
from ralph.adapters.agents.request_failures import of_answer
from ralph.core import agent_events as agent
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind

MESSAGE_CHARS: Final = 300
STATUS: Final = re.compile(r"^(\d{3})\b")
BROKEN_OFF: Final = re.compile(r"stream ended without|^terminated$|finish_reason")
"""Of a response that has no end: the program has asked again, and gives up."""


class Cost(JsonPart, frozen=True):
    total: float | None = None


class MessageUsage(JsonPart, frozen=True, rename="camel"):
    """Of one request. `input` leaves out what was read from the cache or written into it."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cost: Cost | None = None


class ContentPart(JsonPart, frozen=True):
    type: str = ""
    text: str = ""
    thinking: str = ""


class Message(JsonPart, frozen=True, rename="camel"):
    role: str = ""
    # What a person or a tool says may be a mere text.
    content: tuple[ContentPart, ...] | str = ()
    model: str = ""
    usage: MessageUsage | None = None
    stop_reason: str = ""
    error_message: str = ""


class Update(JsonPart, frozen=True):
    type: str = ""
    delta: str = ""


class MessageUpdate(JsonPart, frozen=True, tag="message_update"):
    update: Update = field(name="assistantMessageEvent", default=Update())


class MessageEnd(JsonPart, frozen=True, tag="message_end"):
    message: Message = Message()


class ToolStart(JsonPart, frozen=True, tag="tool_execution_start", rename="camel"):
    tool_call_id: str = ""
    tool_name: str = ""
    args: Raw = Raw(b"{}")


class ToolAnswer(JsonPart, frozen=True):
    content: tuple[TextPart, ...] = ()


class ToolEnd(JsonPart, frozen=True, tag="tool_execution_end", rename="camel"):
    tool_call_id: str = ""
    result: ToolAnswer = ToolAnswer()
    is_error: bool = False


class Retry(JsonPart, frozen=True, tag="auto_retry_start", rename="camel"):
    attempt: int = 0
    delay_ms: float | None = None
    error_message: str = ""


class SessionStart(JsonPart, frozen=True, tag="session"):
    """The session is up."""


class AgentEnd(JsonPart, frozen=True, tag="agent_end", rename="camel"):
    """One try is over; its messages are repeated."""

    messages: tuple[Message, ...] = ()
    will_retry: bool = False


Line = MessageUpdate | MessageEnd | ToolStart | ToolEnd | Retry | SessionStart | AgentEnd
SILENT: Final = str.split("""
    agent_settled agent_start auto_retry_end entry_appended message_start tool_execution_update
    turn_end turn_start
""")
LINES: Final[JsonLineReader[Line]] = JsonLineReader(Line | silent_kinds(*SILENT))


def read_output(block: bytes) -> Iterator[agent.AgentEvent]:
    for line in LINES.read(block):
        match line:
            case MessageUpdate(update=Update(type="text_delta", delta=text)):
                yield agent.Text(text=text, partial=True)
            case MessageUpdate(update=Update(type="thinking_delta", delta=text)):
                yield agent.Thinking(text=text, partial=True)
            case MessageEnd(message=message) if message.role == "assistant":
                yield from _said(message)
            case MessageUpdate() | MessageEnd():
                pass
            case ToolStart():
                summary = tool_summary(line.args)
                yield agent.ToolUse(name=line.tool_name, summary=summary, call=line.tool_call_id)
            case ToolEnd():
                text = "\n".join(part.text for part in line.result.content)
                yield tool_result(line.tool_call_id, text, error=line.is_error)
            case Retry():
                delay_ms = plausible(line.delay_ms)
                yield agent.AgentRetry(
                    message=one_line(line.error_message, MESSAGE_CHARS),
                    attempt=line.attempt,
                    delay_s=None if delay_ms is None else delay_ms / 1000,
                )
            case SessionStart():
                yield agent.AgentStarted()
            case AgentEnd():
                yield from _ended(line)
            case agent.UnknownLine():
                yield line


def _said(message: Message) -> Iterator[agent.AgentEvent]:
    for part in message.content if isinstance(message.content, tuple) else ():
        match part.type:
            case "text":
                yield agent.Text(text=part.text)
            case "thinking":
                yield agent.Thinking(text=part.thinking)
            case _:
                pass  # calls of tools have lines of their own
    used = message.usage
    if used is not None and message.stop_reason != "error":
        cached = tokens(used.cache_read)
        yield agent.ModelRequest(
            input_tokens=tokens(used.input, used.cache_write) + cached,
            cached_tokens=cached,
            output_tokens=tokens(used.output),
            # Without a price for the model it is 0, which means nothing.
            cost_usd=plausible(used.cost.total if used.cost else None) or None,
        )


def _ended(line: AgentEnd) -> Iterator[agent.AgentEvent]:
    """The result is in the last message of the last try. Without one nothing was asked."""
    if line.will_retry or not line.messages:
        return
    last = line.messages[-1]
    parts = last.content if isinstance(last.content, tuple) else ()
    text = "\n".join(part.text for part in parts if part.type == "text")
    if last.role == "assistant" and last.stop_reason == "stop" and text:
        yield agent.SessionResultEvent(text=text, model=last.model)
        return
    why = last.error_message or f"it stopped with {last.stop_reason or 'nothing'}"
    yield agent.SessionResultEvent(
        error=True,
        detail=one_line(why, MESSAGE_CHARS),
        failure=_failure(last.error_message) or _stopped(last),
        model=last.model,
    )


def _stopped(message: Message) -> EndingKind | None:
    match message.stop_reason:
        case "aborted":
            return EndingKind.KILLED
        case "stop" | "length":
            # It has said nothing, or not all.
            return EndingKind.NO_RESULT
        case _:
            return None


def _failure(message: str) -> EndingKind | None:
    found = STATUS.match(message)
    known = of_answer(message, int(found[1]) if found else None)
    return known or (EndingKind.OVERLOADED if BROKEN_OFF.search(message) else None)
