"""What the lines of Codex mean, in the language of all agents."""

import re
import shlex
from collections.abc import Iterator
from typing import Final

from ralph.adapters.agents.codex import shapes
from ralph.adapters.agents.codex.failures import of_message
from ralph.adapters.agents.plausible import count
from ralph.adapters.agents.summary import WIDTH, summary
from ralph.core.agent_events import (
    AgentEvent,
    Denied,
    Result,
    Retry,
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
MESSAGE_CHARS: Final = 600
"""Offers of more come before the time of a reset."""
WRAPPED_CHARS: Final = 2000
"""Longer ones are shown with their wrapping where it is intricate: taking it off would cost more
than it is worth."""
QUOTES: Final = ("'", '"')

RETRY: Final = re.compile(r"Reconnecting\.\.\.(?: (\d{1,6})/\d+)?", re.ASCII)
SHELL: Final = re.compile(r"\S*sh -l?c ")


def read(block: bytes) -> Iterator[AgentEvent]:
    """The events of some lines."""
    for line in shapes.LINES.read(block):
        match line:
            case shapes.ItemStarted():
                yield from _begun(line.item)
            case shapes.ItemCompleted():
                yield from _done(line.item)
            case shapes.ItemUpdated():
                yield from _planned(line.item)
            case shapes.ThreadStarted():
                yield Started()
            case shapes.TurnCompleted():
                yield Result(usage=_usage(line.usage))
            case shapes.TurnFailed():
                said = line.error.message
                yield Result(
                    error=True, detail=one_line(said, MESSAGE_CHARS), failure=of_message(said)
                )
            case shapes.Failed():
                yield _failed(line.message)
            case shapes.TurnStarted():
                pass
            case Unknown():
                yield line


def _begun(item: shapes.Item) -> Iterator[AgentEvent]:
    if item.type == "todo_list":
        yield from _planned(item)
    elif name := _name(item):
        yield ToolUse(name=name, summary=_summary(item), call=item.id)


def _done(item: shapes.Item) -> Iterator[AgentEvent]:
    match item.type:
        case "agent_message":
            yield Text(text=item.text)
        case "reasoning" | "plan":
            yield Thinking(text=item.text)
        case "todo_list":
            # As it was left: it is told at the end of the turn, behind the last message, and
            # nothing has been done there.
            pass
        case "error":
            # Only a warning, such as that it does not know a model: shown, and nothing follows
            # from it. What ends a session comes on a line of its own.
            yield Thinking(text=item.message[:MESSAGE_CHARS])
        case _ if name := _name(item):
            if item.status == "declined":
                yield Denied(name=name, summary=_summary(item))
            told = _answer(item)
            yield ToolResult(
                call=item.id,
                # The end of it: that is where programs say what is wrong.
                text=told[-RESULT_CHARS:],
                cut=max(0, len(told) - RESULT_CHARS),
                error=_went_wrong(item),
            )
        case _:
            yield Unknown(line=one_line(f"item {item.type}", MESSAGE_CHARS))


def _planned(item: shapes.Item) -> Iterator[AgentEvent]:
    """A list of things to do stays open for the whole session, and is no tool that runs."""
    if item.type == "todo_list":
        done = sum(step.completed for step in item.items)
        following = next((step.text for step in item.items if not step.completed), "")
        told = f"{done}/{len(item.items)} {following}"
        yield ToolUse(name="todo_list", summary=one_line(told, WIDTH), call=item.id)
        yield ToolResult(call=item.id)


def _name(item: shapes.Item) -> str:
    match item.type:
        case "command_execution":
            return "shell"
        case "file_change":
            return "patch"
        case "mcp_tool_call":
            return f"{item.server}.{item.tool}"
        case "collab_tool_call":
            return item.tool or item.type
        case "web_search" | "image_generation" | "view_image":
            return item.type
        case _:
            return ""


def _summary(item: shapes.Item) -> str:
    match item.type:
        case "command_execution":
            return one_line(_command(item.command), WIDTH)
        case "file_change":
            files = (f"{change.kind} {change.path}" for change in item.changes[:20])
            return one_line(", ".join(files), WIDTH)
        case "mcp_tool_call":
            return summary(item.arguments)
        case _:
            return one_line(item.query or item.prompt or "", WIDTH)


def _command(command: str) -> str:
    """Without the shell around it."""
    found = SHELL.match(command)
    if found is None:
        return command
    script = command[found.end() :]
    quote, inner = script[:1], script[1:-1]
    if quote in QUOTES and script[-1:] == quote and not {quote, "\\"} & set(inner):
        return inner
    if len(script) > WRAPPED_CHARS:
        return command
    try:
        words = shlex.split(script)
    except ValueError:
        return command
    return words[0] if len(words) == 1 else command


def _answer(item: shapes.Item) -> str:
    if item.error is not None and item.error.message:
        return item.error.message
    if item.result is not None:
        return "\n".join(part.text for part in item.result.content)
    return item.aggregated_output


def _went_wrong(item: shapes.Item) -> bool:
    return item.status in ("failed", "declined") or item.exit_code not in (0, None)


def _failed(message: str) -> AgentEvent:
    told = one_line(message, MESSAGE_CHARS)
    if found := RETRY.match(message):
        return Retry(message=told, attempt=int(found[1] or 0))
    return Trouble(message=told, failure=of_message(message))


def _usage(used: shapes.Used | None) -> Usage | None:
    if used is None:
        return None
    return Usage(
        input_tokens=count(used.read) or 0,
        cached_tokens=count(used.cached) or 0,
        output_tokens=count(used.written) or 0,
    )
