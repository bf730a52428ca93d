"""What the lines of Droid mean, in the language of all agents."""

from collections.abc import Iterator
from typing import Final

from ralph.adapters.agents.droid import failures, shapes
from ralph.adapters.agents.plausible import amount, count
from ralph.adapters.agents.summary import summary
from ralph.core.agent_events import (
    AgentEvent,
    Denied,
    Result,
    Started,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Trouble,
    Unknown,
    Usage,
)
from ralph.core.safe_text import one_line

RESULT_CHARS: Final = 2000
MESSAGE_CHARS: Final = 300
LOOP: Final = "agent_loop"


def read(block: bytes) -> Iterator[AgentEvent]:
    """The events of some lines."""
    for line in shapes.LINES.read(block):
        match line:
            case shapes.ToolResult():
                yield from _answer(line)
            case shapes.ToolCall():
                yield ToolUse(name=line.name, summary=summary(line.given), call=line.id)
            case shapes.Message():
                # The prompt comes back, too, and is no word of the agent.
                if line.role == "assistant":
                    yield Text(text=line.text)
            case shapes.Reasoning():
                yield Thinking(text=line.text)
            case shapes.System():
                yield Started(model=line.model, tools=tuple(line.tools))
            case shapes.Failed():
                yield _failed(line)
            case shapes.Completion():
                yield _completed(line)
            case Unknown():
                yield line


def _answer(line: shapes.ToolResult) -> Iterator[AgentEvent]:
    told = line.error.message if line.is_error else line.value
    if line.is_error and failures.NOT_PERMITTED.match(told):
        yield Denied(name=line.name, summary=one_line(told, MESSAGE_CHARS))
    # The end of it: that is where programs say what is wrong.
    cut = max(0, len(told) - RESULT_CHARS)
    yield ToolResult(call=line.id, text=told[-RESULT_CHARS:], cut=cut, error=line.is_error)


def _failed(line: shapes.Failed) -> AgentEvent:
    told = one_line(line.message, MESSAGE_CHARS)
    if line.source == LOOP:
        return Trouble(message=told, failure=failures.of_request(line.message))
    # Its last line. What it says there may be what the model said last, so nothing follows from
    # it but for the few sentences that are known.
    failure = failures.of_last_words(line.message)
    is_known = failure is not None or failures.NOT_PERMITTED.match(line.message) is not None
    return Result(error=True, detail=told if is_known else "", failure=failure)


def _completed(line: shapes.Completion) -> Result:
    return Result(
        text=line.text,
        turns=count(line.turns),
        duration_s=amount(None if line.duration_ms is None else line.duration_ms / 1000),
        usage=_usage(line.usage),
    )


def _usage(used: shapes.Used | None) -> Usage | None:
    if used is None:
        return None
    cached = count(used.from_cache) or 0
    return Usage(
        input_tokens=(count(used.read) or 0) + (count(used.into_cache) or 0) + cached,
        cached_tokens=cached,
        output_tokens=count(used.written) or 0,
    )
