"""Turn the output of `claude -p --output-format stream-json` into agent events.

A failure is classified by the program's codes first, then by its own sentences, which are compared
from their first word on: what a model writes never counts.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Raw, field

from ralph.adapters.agents.json_lines import (
    JsonLineReader,
    JsonPart,
    RequestTokens,
    TextPart,
    plausible,
    plausible_count,
    tokens,
    tool_result,
    tool_summary,
)
from ralph.adapters.agents.request_failures import of_status
from ralph.core import agent_events as agent
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind

MESSAGE_CHARS: Final = 300
NAME_CHARS: Final = 100
"""Names are kept for as long as a session lasts, so none may be endless."""
LATEST: Final = 1e11
"""Seconds since the epoch beyond which a moment is nonsense."""

SYNTHETIC: Final = "<synthetic>"
"""The model's name in messages that the program writes itself."""

QUIET: Final = frozenset(
    {"background_tasks_changed", "compact_boundary", "hook_progress", "hook_response"}
    | {"hook_started", "informational", "notification", "permission_denied"}
    | {"session_state_changed", "status", "task_notification", "task_progress", "task_started"}
    | {"task_summary", "task_updated", "thinking_tokens"}
)
"""System messages that are skipped; the result names denials again."""

UNINFORMATIVE: Final = ("[ede_diagnostic]", "completed", "success")
"""Beginnings of texts that tell people nothing."""

SUBTYPES: Final[Mapping[str, EndingKind]] = {
    "error_max_turns": EndingKind.TURN_LIMIT,
    "error_max_budget_usd": EndingKind.BUDGET_LIMIT,
}

REASONS: Final[Mapping[str, EndingKind]] = {
    "max_turns": EndingKind.TURN_LIMIT,
    "budget_exhausted": EndingKind.BUDGET_LIMIT,
    "prompt_too_long": EndingKind.PROMPT_TOO_LONG,
    "blocking_limit": EndingKind.PROMPT_TOO_LONG,
    # It got a signal. If Ralph sent it, that is known from elsewhere and comes first.
    "aborted_tools": EndingKind.KILLED,
    "aborted_streaming": EndingKind.KILLED,
}

CODES: Final[Mapping[str, EndingKind]] = {
    "authentication_failed": EndingKind.AUTH_EXPIRED,
    "oauth_org_not_allowed": EndingKind.AUTH_EXPIRED,
    "billing_error": EndingKind.BILLING,
    "rate_limit": EndingKind.RATE_LIMITED,
    "overloaded": EndingKind.OVERLOADED,
    "server_error": EndingKind.OVERLOADED,
    "model_not_found": EndingKind.UNKNOWN_MODEL,
}

SENTENCES: Final[Mapping[EndingKind, tuple[str, ...]]] = {
    # Before usage limits, whose sentences begin in the same way.
    EndingKind.BILLING: (
        *("You've hit your org's monthly", "You've hit your monthly", "Your org is out of usage"),
        *("Your seat type doesn't include", "Your usage allocation has been disabled"),
        *("Your group's usage limit is set to $0", "This service is disabled for your org"),
        "Credit balance is too low",
    ),
    EndingKind.USAGE_LIMIT: (
        *("You've hit your", "You've reached your", "You're out of usage credits"),
        *("You're out of extra usage", "Claude AI usage limit reached"),
        "Claude usage limit reached",
    ),
    EndingKind.AUTH_EXPIRED: (
        *("Not logged in", "Please run /login", "Failed to authenticate", "Authentication error"),
        *("Invalid API key", "OAuth token", "Your ANTHROPIC_API_KEY belongs to a disabled"),
        *("Your organization has disabled", "Your organization does not have access"),
    ),
    EndingKind.PROMPT_TOO_LONG: ("Prompt is too long", "Request too large"),
    # Before the provider's own faults, whose sentences begin in the same way.
    EndingKind.NO_NETWORK: (
        *("API Error: Unable to connect to API (", "API Error: Unable to connect to API. Check"),
        *("API Error: Connection refused", "API Error: Connection error"),
    ),
    EndingKind.OVERLOADED: (
        *("API Error: API returned an empty", "API Error: Unable to connect"),
        *("API Error: Connection", "API Error: Request timed out", "Request timed out"),
        "API Error: Repeated 529",
    ),
}

STDERR: Final = (
    ("cannot be used with root/sudo privileges", EndingKind.CANNOT_RUN_AS_ROOT),
    # Of another age than this file: no session could ever start.
    ("error: unknown option", EndingKind.NOT_INSTALLED),
)


class ContentBlock(JsonPart, frozen=True):
    """A part of a message: text, thinking, the use of a tool, or its result."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: Raw = Raw(b"{}")
    tool_use_id: str = ""
    content: str | tuple[TextPart, ...] | None = None
    is_error: bool | None = None


class ClaudeMessage(JsonPart, frozen=True):
    model: str = ""
    content: str | tuple[ContentBlock, ...] = ""


class Assistant(JsonPart, frozen=True, tag="assistant"):
    """The model speaks; or, about an error, the program in its place."""

    message: ClaudeMessage = ClaudeMessage()
    error: str | None = None
    parent_tool_use_id: str | None = None
    """Set: a sub-agent speaks."""


class User(JsonPart, frozen=True, tag="user"):
    """What the model reads, such as the results of its tools."""

    message: ClaudeMessage = ClaudeMessage()


class Delta(JsonPart, frozen=True):
    text: str = ""
    thinking: str = ""


class MessageStart(JsonPart, frozen=True):
    usage: RequestTokens | None = None


class ProviderEvent(JsonPart, frozen=True):
    type: str = ""
    delta: Delta = Delta()
    message: MessageStart | None = None
    """Of `message_start`: what the request has read."""
    usage: RequestTokens | None = None
    """Of `message_delta`: what was written in the end."""


class StreamLine(JsonPart, frozen=True, tag="stream_event"):
    """The provider's own stream, passed on."""

    event: ProviderEvent = ProviderEvent()
    parent_tool_use_id: str | None = None


class SystemLine(JsonPart, frozen=True, tag="system"):
    """The program about itself."""

    subtype: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    attempt: int = 0
    retry_delay_ms: float | None = None
    error_status: int | None = None
    error: str | None = None
    content: str | None = None


class Allowance(JsonPart, frozen=True, rename="camel"):
    """How much the account may still use."""

    status: str = ""
    resets_at: float | None = None
    rate_limit_type: str = ""
    utilization: float | None = None
    is_using_overage: bool | None = None
    """The session goes on, and what it uses now is paid for."""


class RateLimit(JsonPart, frozen=True, tag="rate_limit_event"):
    rate_limit_info: Allowance = Allowance()


class Denial(JsonPart, frozen=True):
    """A call that was not permitted."""

    tool_name: str = ""
    tool_input: Raw = Raw(b"{}")


class ModelTokens(RequestTokens, frozen=True, rename="camel"):
    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float = field(name="costUSD", default=0.0)


class ResultLine(JsonPart, frozen=True, tag="result", rename={"used": "modelUsage"}):
    subtype: str = ""
    is_error: bool | None = None
    api_error_status: int | None = None
    stop_reason: str | None = None
    terminal_reason: str | None = None
    result: str = ""
    errors: tuple[str, ...] = ()
    duration_ms: float | None = None
    num_turns: int | None = None
    total_cost_usd: float | None = None
    used: dict[str, ModelTokens] = field(default_factory=dict)
    permission_denials: tuple[Denial, ...] = ()


Line = StreamLine | Assistant | User | SystemLine | RateLimit | ResultLine
LINES: Final[JsonLineReader[Line]] = JsonLineReader(Line)


def read_output(block: bytes) -> Iterator[agent.AgentEvent]:
    for line in LINES.read(block):
        match line:
            case StreamLine():
                yield from _piece(line)
            case Assistant():
                yield from _assistant(line)
            case User():
                blocks = _blocks(line.message)
                yield from (_result(block) for block in blocks if block.type == "tool_result")
            case SystemLine():
                yield from _system(line)
            case RateLimit():
                yield _limit(line.rate_limit_info)
            case ResultLine():
                yield from _final_result(line)
            case agent.UnknownLine():
                yield line


def _piece(line: StreamLine) -> Iterator[agent.AgentEvent]:
    """The most frequent lines by far."""
    event, is_main = line.event, line.parent_tool_use_id is None
    # Sub-agents do not speak to people.
    if event.delta.text and is_main:
        yield agent.Text(text=event.delta.text, partial=True)
    elif event.delta.thinking and is_main:
        yield agent.Thinking(text=event.delta.thinking, partial=True)
    elif event.type == "message_start" and event.message and event.message.usage:
        used = event.message.usage.usage
        yield agent.ModelRequest(
            input_tokens=used.input_tokens, cached_tokens=used.cached_tokens, is_main=is_main
        )
    elif event.type == "message_delta" and event.usage:
        yield agent.ModelRequest(output_tokens=tokens(event.usage.output_tokens), is_main=is_main)


def _assistant(line: Assistant) -> Iterator[agent.AgentEvent]:
    message = line.message
    if line.error or message.model == SYNTHETIC:
        said = "\n".join(block.text for block in _blocks(message))
        yield agent.AgentProblem(
            message=one_line(said or line.error or "", MESSAGE_CHARS),
            # A sub-agent's end is not the session's.
            failure=None if line.parent_tool_use_id else of_message(line.error, said),
        )
        return
    for block in _blocks(message):
        match block.type:
            case "text" if line.parent_tool_use_id is None:
                yield agent.Text(text=block.text)
            case "text":
                # What a sub-agent says to the agent is not a message of the session.
                yield agent.Thinking(text=block.text)
            case "thinking":
                yield agent.Thinking(text=block.thinking)
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                yield agent.ToolUse(
                    name=one_line(block.name, NAME_CHARS),
                    summary=tool_summary(block.input),
                    call=block.id[:NAME_CHARS],
                )
            case kind if kind.endswith("tool_result"):
                yield _result(block)  # of a tool that runs at the provider's
            case _:
                pass  # such as a picture


def _result(block: ContentBlock) -> agent.ToolResult:
    content = block.content or ""
    if not isinstance(content, str):
        content = "\n".join(part.text for part in content)
    call, error = block.tool_use_id[:NAME_CHARS], block.is_error is True
    return tool_result(call, content, error=error, keep_end=False)


def _blocks(message: ClaudeMessage) -> Iterable[ContentBlock]:
    if isinstance(message.content, str):
        return (ContentBlock(type="text", text=message.content),)
    return message.content


def _system(line: SystemLine) -> Iterator[agent.AgentEvent]:
    message = one_line(line.content or line.subtype, MESSAGE_CHARS)
    match line.subtype:
        case "init":
            yield agent.AgentStarted(model=one_line(line.model, NAME_CHARS), tools=line.tools)
        case "api_retry":
            message = one_line(f"{line.error or 'error'} {line.error_status}", MESSAGE_CHARS)
            yield agent.AgentRetry(
                message=message if line.error_status else "no connection",
                attempt=line.attempt,
                delay_s=None if line.retry_delay_ms is None else line.retry_delay_ms / 1000,
            )
        case "model_fallback" | "model_refusal_fallback" | "model_consent_fallback":
            yield agent.AgentRetry(message=message)
        case "model_refusal_no_fallback":
            yield agent.AgentProblem(message=message, failure=EndingKind.REFUSED)
        case subtype:
            if subtype not in QUIET:
                yield agent.UnknownLine(line=one_line(f"system {subtype}", MESSAGE_CHARS))


def _limit(allowance: Allowance) -> agent.AgentEvent:
    try:
        status = agent.LimitStatus(allowance.status)
    except ValueError:
        return agent.UnknownLine(
            line=one_line(f"rate_limit_event {allowance.status}", MESSAGE_CHARS)
        )
    if status is agent.LimitStatus.REJECTED and allowance.is_using_overage:
        # The allowance is used up, and the session goes on at a price.
        status = agent.LimitStatus.WARNING
    at = allowance.resets_at
    return agent.UsageLimit(
        status=status,
        resets_at=at if at is not None and 0 < at < LATEST else None,
        window=one_line(allowance.rate_limit_type, MESSAGE_CHARS),
        used=allowance.utilization,
    )


def _final_result(line: ResultLine) -> Iterator[agent.ToolDenied | agent.SessionResultEvent]:
    """What was not permitted, then the result."""
    for denial in line.permission_denials:
        yield agent.ToolDenied(
            name=one_line(denial.tool_name, NAME_CHARS), summary=tool_summary(denial.tool_input)
        )
    # Only an explicit success is not an error: `subtype` alone is "success"
    # for a request that was refused, too.
    failed = line.is_error is not False or line.subtype != "success"
    yield agent.SessionResultEvent(
        text="" if failed else line.result,
        error=failed,
        detail=_detail(line) if failed else "",
        failure=_failure(line) if failed else None,
        model=_main_model(line.used),
        cost_usd=plausible(line.total_cost_usd),
        turns=plausible_count(line.num_turns),
        duration_s=None if line.duration_ms is None else plausible(line.duration_ms / 1000),
        usage=_total_usage(line.used.values()),
    )


def _detail(line: ResultLine) -> str:
    texts = (line.result, *line.errors, line.terminal_reason or "", line.subtype)
    useful = (text for text in texts if text and not text.startswith(UNINFORMATIVE))
    return one_line(next(useful, ""), MESSAGE_CHARS)


def _failure(result: ResultLine) -> EndingKind | None:
    """The kind of error a session ended with. None where the program does not say."""
    return (
        SUBTYPES.get(result.subtype)
        or REASONS.get(result.terminal_reason or "")
        or (EndingKind.REFUSED if result.stop_reason == "refusal" else None)
        or of_sentence(result.result)
        or of_status(result.api_error_status)
    )


def _main_model(used: Mapping[str, ModelTokens]) -> str:
    """The one that did most of the work: helpers run on others."""
    dearest = max(
        used, key=lambda name: (used[name].cost_usd, used[name].usage.output_tokens), default=""
    )
    return one_line(dearest, NAME_CHARS)


def _total_usage(used: Iterable[ModelTokens]) -> agent.TokenUsage | None:
    """Of all models together. The line's own `usage` is 0 after some failures, this is not."""
    models = [one.usage for one in used]
    return agent.sum_of_usage(models) if models else None


def of_message(code: str | None, sentence: str) -> EndingKind | None:
    """The kind of failure in a message that the program writes itself."""
    return of_sentence(sentence) or CODES.get(code or "")


def of_sentence(sentence: str) -> EndingKind | None:
    return next((kind for kind, starts in SENTENCES.items() if sentence.startswith(starts)), None)
