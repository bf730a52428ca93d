"""Turn the output of `copilot --output-format json` into agent events."""

from collections.abc import Iterator
from typing import Final

from msgspec import Raw, field

from ralph.adapters.agents.json_lines import (
    JsonLineReader,
    JsonPart,
    MessagePart,
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
A_TOOL: Final = "a tool"
"""Its answer names the call and not the tool."""
BY_HOOK: Final = "Denied by preToolUse hook"
"""The policy has denied it, which is recorded elsewhere."""
GAVE_UP: Final = "Failed to get response from the AI model"
"""After its retries, whatever the last error was."""
LIMIT_CODES: Final = (
    *("quota_exceeded", "session_quota_exceeded"),
    *("user_weekly_rate_limited", "user_global_rate_limited"),
)
"""Codes of an allowance that is used up."""
CODES: Final = dict.fromkeys(LIMIT_CODES, EndingKind.USAGE_LIMIT) | {
    "billing_not_configured": EndingKind.BILLING
}
TYPES: Final = {
    "authentication": EndingKind.AUTH_EXPIRED,
    "authorization": EndingKind.AUTH_EXPIRED,
    "context_limit": EndingKind.PROMPT_TOO_LONG,
    "quota": EndingKind.USAGE_LIMIT,
    "rate_limit": EndingKind.RATE_LIMITED,
}
"""Types of errors that say more than no status and no words."""


class ModelData(JsonPart, frozen=True):
    model: str = ""


class ToolsUpdated(JsonPart, frozen=True, tag="session.tools_updated"):
    """The session is up."""

    data: ModelData = ModelData()


class PieceData(JsonPart, frozen=True):
    text: str = field(name="deltaContent", default="")


class MessagePiece(JsonPart, frozen=True, tag="assistant.message_delta"):
    data: PieceData = PieceData()


class ReasoningPiece(JsonPart, frozen=True, tag="assistant.reasoning_delta"):
    data: PieceData = PieceData()


class ContentData(JsonPart, frozen=True):
    content: str = ""


class AssistantMessage(JsonPart, frozen=True, tag="assistant.message"):
    """Something said, or nothing but calls of tools."""

    data: ContentData = ContentData()
    agent: str = field(name="agentId", default="")
    """Empty: the main one. What a sub-agent says is never the final message."""


class Reasoning(JsonPart, frozen=True, tag="assistant.reasoning"):
    data: ContentData = ContentData()


class StartData(JsonPart, frozen=True, rename="camel"):
    tool_call_id: str = ""
    tool_name: str = ""
    arguments: Raw = Raw(b"{}")


class ToolStart(JsonPart, frozen=True, tag="tool.execution_start"):
    data: StartData = StartData()


class ToolError(JsonPart, frozen=True):
    message: str = ""
    code: str = ""


class ShellExit(JsonPart, frozen=True):
    code: int | None = field(name="exitCode", default=None)


class CompleteData(JsonPart, frozen=True, rename="camel"):
    tool_call_id: str = ""
    success: bool = True
    result: ContentData | None = None
    error: ToolError | None = None
    shell_execution: ShellExit | None = None


class ToolComplete(JsonPart, frozen=True, tag="tool.execution_complete"):
    data: CompleteData = CompleteData()


class RetryData(JsonPart, frozen=True):
    reason: str = ""


class TurnRetry(JsonPart, frozen=True, tag="assistant.turn_retry"):
    data: RetryData = RetryData()


class ErrorData(JsonPart, frozen=True, rename="camel"):
    error_type: str = ""
    error_code: str = ""
    message: str = ""
    status_code: int | None = None


class SessionError(JsonPart, frozen=True, tag="session.error"):
    """Why it gives up."""

    data: ErrorData = ErrorData()


class SessionWarning(JsonPart, frozen=True, tag="session.warning"):
    data: MessagePart = MessagePart()


class Abort(JsonPart, frozen=True, tag="abort"):
    """A signal stopped it. Its result is a success all the same."""

    data: RetryData = RetryData()


class RequestUsage(JsonPart, frozen=True, rename="camel"):
    """Tokens of a request. What was read includes what came from a cache."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None


class UsageData(JsonPart, frozen=True):
    usage: RequestUsage = RequestUsage()


class UsageRecord(JsonPart, frozen=True, tag="session.usage_record"):
    """Of its own log: the stream does not tell usage."""

    data: UsageData = UsageData()
    agent: str = field(name="agentId", default="")


class ResultUsage(JsonPart, frozen=True):
    duration_ms: float | None = field(name="sessionDurationMs", default=None)


class Result(JsonPart, frozen=True, tag="result"):
    exit_code: int = field(name="exitCode", default=-1)
    usage: ResultUsage | None = None


Line = (
    MessagePiece
    | ReasoningPiece
    | AssistantMessage
    | Reasoning
    | ToolStart
    | ToolComplete
    | UsageRecord
    | ToolsUpdated
    | TurnRetry
    | SessionError
    | SessionWarning
    | Abort
    | Result
)
SILENT: Final = str.split("""
    agent.interrupted assistant.idle assistant.message_start assistant.tool_call_delta
    assistant.turn_end assistant.turn_start model.call_failure model.call_final_result
    model.call_finished model.call_start session.autopilot_stopped
    session.background_tasks_changed session.info session.mcp_server_status_changed
    session.mcp_server_tools_loaded session.mcp_servers_loaded session.mode_notice_delivered
    session.skills_loaded tool.execution_partial_result tool.shell_output user.message
""")
LINES: Final[JsonLineReader[Line]] = JsonLineReader(Line | silent_kinds(*SILENT))


def read_output(block: bytes) -> Iterator[agent.AgentEvent]:
    for line in LINES.read(block):
        match line:
            case MessagePiece() | ReasoningPiece() | AssistantMessage() | Reasoning():
                yield from _said(line)
            case ToolStart(data=data):
                summary = tool_summary(data.arguments)
                yield agent.ToolUse(name=data.tool_name, summary=summary, call=data.tool_call_id)
            case ToolComplete():
                yield from _answer(line.data)
            case UsageRecord():
                yield _request(line.data.usage, is_main=not line.agent)
            case ToolsUpdated():
                yield agent.AgentStarted(model=line.data.model)
            case TurnRetry() | SessionError() | SessionWarning() | Abort():
                yield _trouble(line)
            case Result():
                yield _result(line)
            case agent.UnknownLine():
                yield line


def _said(
    line: MessagePiece | ReasoningPiece | AssistantMessage | Reasoning,
) -> Iterator[agent.AgentEvent]:
    match line:
        case MessagePiece():
            yield agent.Text(text=line.data.text, partial=True)
        case ReasoningPiece():
            yield agent.Thinking(text=line.data.text, partial=True)
        case AssistantMessage(data=data, agent=""):
            if data.content:
                yield agent.Text(text=data.content)
        case AssistantMessage() | Reasoning():
            yield agent.Thinking(text=line.data.content)


def _trouble(
    line: TurnRetry | SessionError | SessionWarning | Abort,
) -> agent.AgentEvent:
    match line:
        case TurnRetry():
            return agent.AgentRetry(message=line.data.reason)
        case SessionError():
            return agent.AgentProblem(
                message=_short(line.data.message), failure=_failure(line.data)
            )
        case SessionWarning():
            return agent.Thinking(text=_short(line.data.message))
        case Abort():
            said = f"aborted: {_short(line.data.reason)}"
            return agent.SessionResultEvent(error=True, detail=said, failure=EndingKind.KILLED)


def _short(text: str) -> str:
    return one_line(text, MESSAGE_CHARS)


def _answer(data: CompleteData) -> Iterator[agent.AgentEvent]:
    said = data.error.message if data.error else data.result.content if data.result else ""
    if data.error is not None and data.error.code == "denied" and not said.startswith(BY_HOOK):
        yield agent.ToolDenied(name=A_TOOL, summary=one_line(said, MESSAGE_CHARS))
    failed = not data.success
    if data.shell_execution is not None:
        failed = failed or data.shell_execution.code not in (0, None)
    yield tool_result(data.tool_call_id, said, error=failed)


def _request(used: RequestUsage, *, is_main: bool) -> agent.ModelRequest:
    return agent.ModelRequest(
        input_tokens=tokens(used.input_tokens),
        cached_tokens=tokens(used.cache_read_tokens),
        output_tokens=tokens(used.output_tokens),
        is_main=is_main,
    )


def _failure(data: ErrorData) -> EndingKind | None:
    known = CODES.get(data.error_code)
    found = known or of_answer(data.message, data.status_code) or TYPES.get(data.error_type)
    return found or (EndingKind.OVERLOADED if data.message.startswith(GAVE_UP) else None)


def _result(line: Result) -> agent.SessionResultEvent:
    spent_ms = line.usage.duration_ms if line.usage else None
    return agent.SessionResultEvent(
        error=line.exit_code != 0,
        duration_s=None if spent_ms is None else plausible(spent_ms / 1000),
    )
