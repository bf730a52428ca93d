"""Turn the output of `droid exec -o stream-json` into agent events."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Raw

from ralph.adapters.agents.json_lines import (
    JsonLineReader,
    JsonPart,
    MessagePart,
    RequestTokens,
    plausible,
    plausible_count,
    tool_result,
    tool_summary,
)
from ralph.adapters.agents.request_failures import of_answer
from ralph.core import agent_events as agent
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind

MESSAGE_CHARS: Final = 300
LOOP: Final = "agent_loop"
STATUS: Final = re.compile(r"^(\d{3}) ")
LAST_WORDS: Final = (
    ("Error: Authentication failed.", EndingKind.AUTH_EXPIRED),
    ("Airgap Mode is enabled.", EndingKind.AUTH_EXPIRED),
)
"""Beginnings of the line with which it gives up before the model has said anything."""
NOT_PERMITTED: Final = re.compile(
    r"^(?:Error: )?(?:Exec ended early: (?:insufficient permission|MCP tool .{1,200} requires)"
    r"|Tool .{1,200} is not permitted)"
)


class SessionStart(JsonPart, frozen=True, tag="system"):
    subtype: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()


class DroidMessage(JsonPart, frozen=True, tag="message"):
    """The prompt again, or what the model says."""

    role: str = ""
    text: str = ""


class Reasoning(JsonPart, frozen=True, tag="reasoning"):
    text: str = ""


class ToolCallLine(
    JsonPart, frozen=True, tag="tool_call", rename={"name": "toolName", "given": "parameters"}
):
    id: str = ""
    name: str = ""
    given: Raw = Raw(b"{}")


class ToolResultLine(
    JsonPart, frozen=True, tag="tool_result", rename={"name": "toolId", "is_error": "isError"}
):
    id: str = ""
    name: str = ""
    is_error: bool = False
    value: str = ""
    error: MessagePart = MessagePart()


class FailureLine(JsonPart, frozen=True, tag="error"):
    """A request failed (`agent_loop`), or the session did (`cli`)."""

    source: str = ""
    message: str = ""


class Completion(JsonPart, frozen=True, tag="completion", rename="camel"):
    """The end, if all is well."""

    final_text: str = ""
    num_turns: int | None = None
    duration_ms: float | None = None
    usage: RequestTokens | None = None


Line = (
    ToolResultLine
    | ToolCallLine
    | DroidMessage
    | Reasoning
    | SessionStart
    | FailureLine
    | Completion
)
LINES: Final[JsonLineReader[Line]] = JsonLineReader(Line)


def read_output(block: bytes) -> Iterator[agent.AgentEvent]:
    for line in LINES.read(block):
        match line:
            case ToolResultLine():
                yield from _answer(line)
            case ToolCallLine():
                yield agent.ToolUse(name=line.name, summary=tool_summary(line.given), call=line.id)
            case DroidMessage():
                # The prompt comes back, too, and is not a message of the agent.
                if line.role == "assistant":
                    yield agent.Text(text=line.text)
            case Reasoning():
                yield agent.Thinking(text=line.text)
            case SessionStart():
                yield agent.AgentStarted(model=line.model, tools=line.tools)
            case FailureLine():
                yield _failed(line)
            case Completion():
                yield _completed(line)
            case agent.UnknownLine():
                yield line


def _answer(line: ToolResultLine) -> Iterator[agent.AgentEvent]:
    text = line.error.message if line.is_error else line.value
    if line.is_error and NOT_PERMITTED.match(text):
        yield agent.ToolDenied(name=line.name, summary=one_line(text, MESSAGE_CHARS))
    yield tool_result(line.id, text, error=line.is_error)


def _failed(line: FailureLine) -> agent.AgentEvent:
    shown = one_line(line.message, MESSAGE_CHARS)
    if line.source == LOOP:
        status = STATUS.match(line.message)
        failure = of_answer(line.message, int(status[1]) if status else None)
        return agent.AgentProblem(message=shown, failure=failure)
    # Its last line. What it says there may be what the model said last, so nothing follows from
    # it but for the few sentences that are known.
    failure = next((kind for start, kind in LAST_WORDS if line.message.startswith(start)), None)
    is_known = failure is not None or NOT_PERMITTED.match(line.message) is not None
    return agent.SessionResultEvent(error=True, detail=shown if is_known else "", failure=failure)


def _completed(line: Completion) -> agent.SessionResultEvent:
    return agent.SessionResultEvent(
        text=line.final_text,
        turns=plausible_count(line.num_turns),
        duration_s=None if line.duration_ms is None else plausible(line.duration_ms / 1000),
        usage=line.usage.usage if line.usage else None,
    )
