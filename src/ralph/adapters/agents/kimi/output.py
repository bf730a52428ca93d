"""Turn the output of `kimi --output-format stream-json` into agent events."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Raw, field

from ralph.adapters.agents.json_lines import (
    JsonLineReader,
    JsonPart,
    decode_leniently,
    plausible,
    tokens,
    tool_result,
    tool_summary,
)
from ralph.adapters.agents.request_failures import of_answer
from ralph.core import agent_events as agent
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind

MESSAGE_CHARS: Final = 300
PATIENCE_S: Final = 300.0
"""Of Ralph's with a program that waits for its next try: it says so once, and then nothing."""
FAILED_TOOL: Final = re.compile(r"Command failed with exit code: \d+\.\Z|^Tool .{1,80} not found")
"""No other line says that a tool has failed."""
END: Final = "session.resume_hint"
"""Printed after a turn that ended well, and after no other."""
USAGE: Final = '"usage.record"'


class CallFunction(JsonPart, frozen=True):
    name: str = ""
    arguments: str = ""


class Call(JsonPart, frozen=True):
    id: str = ""
    function: CallFunction = CallFunction()


class Assistant(JsonPart, frozen=True, tag_field="role", tag="assistant"):
    content: str | None = None
    tool_calls: tuple[Call, ...] = ()


class ToolMessage(JsonPart, frozen=True, tag_field="role", tag="tool"):
    tool_call_id: str = ""
    content: str = ""


class Meta(JsonPart, frozen=True, tag_field="role", tag="meta"):
    """What the program itself says; `type` says which of the fields are there."""

    type: str = ""
    failed_attempt: int = 0
    delay_ms: float | None = None
    error_message: str = ""
    status_code: int | None = None


class Used(JsonPart, frozen=True, rename="camel"):
    input_other: int | None = None
    input_cache_read: int | None = None
    input_cache_creation: int | None = None
    output: int | None = None


class UsageRecord(JsonPart, frozen=True):
    """A line of its own log: the stream does not tell usage."""

    type: str = ""
    agent: str = field(name="agentId", default="main")
    usage: Used = Used()


Line = Assistant | ToolMessage | Meta
LINES: Final[JsonLineReader[Line]] = JsonLineReader(Line)


def read_output(block: bytes) -> Iterator[agent.AgentEvent]:
    for line in LINES.read(block):
        match line:
            case Assistant():
                if line.content:
                    yield agent.Text(text=line.content)
                for call in line.tool_calls:
                    summary = tool_summary(Raw(call.function.arguments.encode()))
                    yield agent.ToolUse(name=call.function.name, summary=summary, call=call.id)
            case ToolMessage():
                failed = FAILED_TOOL.search(line.content) is not None
                yield tool_result(line.tool_call_id, line.content, error=failed)
            case Meta():
                yield from _meta(line)
            case agent.UnknownLine():
                yield _usage(line) or line


def _meta(line: Meta) -> Iterator[agent.AgentEvent]:
    match line.type:
        case "system.version":
            yield agent.AgentStarted()
        case "turn.step.retrying":
            yield from _retry(line)
        case kind if kind == END:
            yield agent.SessionResultEvent()
        case _:
            pass


def _retry(line: Meta) -> Iterator[agent.AgentEvent]:
    said = one_line(line.error_message, MESSAGE_CHARS)
    delay_ms = plausible(line.delay_ms)
    delay_s = None if delay_ms is None else delay_ms / 1000
    yield agent.AgentRetry(message=said, attempt=line.failed_attempt, delay_s=delay_s)
    if delay_s is not None and delay_s > PATIENCE_S:
        # It would sleep for so long, silently. Ralph waits itself, and shows it.
        detail = f"{said} · retry after {delay_s:.0f} seconds"
        failure = of_answer(line.error_message, line.status_code) or EndingKind.OVERLOADED
        yield agent.SessionResultEvent(error=True, detail=detail, failure=failure)


def _usage(line: agent.UnknownLine) -> agent.ModelRequest | None:
    if USAGE not in line.line:
        return None
    record = decode_leniently(line.line.encode("utf-8", "replace"), UsageRecord)
    if record.type != "usage.record":
        return None
    used, cached = record.usage, tokens(record.usage.input_cache_read)
    return agent.ModelRequest(
        input_tokens=tokens(used.input_other, used.input_cache_creation) + cached,
        cached_tokens=cached,
        output_tokens=tokens(used.output),
        is_main=record.agent == "main",
    )
