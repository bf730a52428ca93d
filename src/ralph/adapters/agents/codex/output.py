"""Turn the output of `codex exec --json` into agent events."""

import re
import shlex
from collections.abc import Iterator
from typing import Final

from msgspec import Raw

from ralph.adapters.agents import json_lines
from ralph.adapters.agents.request_failures import of_answer
from ralph.core import agent_events as agent
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind

MESSAGE_CHARS: Final = 600
"""Offers of more come before the time of a reset."""
WRAPPED_CHARS: Final = 2000
"""Longer commands are shown with the shell around them: only their beginning is shown anyway."""

HOOK_TRUST: Final = "`--dangerously-bypass-hook-trust` is enabled"
RETRY: Final = re.compile(r"Reconnecting\.\.\.(?: (\d{1,6})/\d+)?", re.ASCII)
SHELL: Final = re.compile(r"\S*sh -l?c ")
STATUS: Final = re.compile(r"^(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b")


class Change(json_lines.JsonPart, frozen=True):
    path: str = ""
    kind: str = ""


class PlanStep(json_lines.JsonPart, frozen=True):
    text: str = ""
    completed: bool = False


class ServerToolResult(json_lines.JsonPart, frozen=True):
    content: tuple[json_lines.TextPart, ...] = ()


class Item(json_lines.JsonPart, frozen=True):
    """Something said or done; `type` says which of the fields are there."""

    id: str = ""
    type: str = ""
    status: str = ""
    text: str = ""
    message: str = ""
    command: str = ""
    aggregated_output: str = ""
    exit_code: int | None = None
    changes: tuple[Change, ...] = ()
    server: str = ""
    tool: str = ""
    arguments: Raw = Raw(b"{}")
    prompt: str | None = None
    query: str = ""
    result: ServerToolResult | None = None
    error: json_lines.MessagePart | None = None
    items: tuple[PlanStep, ...] = ()


class ThreadStarted(json_lines.JsonPart, frozen=True, tag="thread.started"):
    """The session is up."""


class TurnStarted(json_lines.JsonPart, frozen=True, tag="turn.started"):
    """The prompt is on its way."""


class ItemStarted(json_lines.JsonPart, frozen=True, tag="item.started"):
    """A tool is called."""

    item: Item = Item()


class ItemUpdated(json_lines.JsonPart, frozen=True, tag="item.updated"):
    """A list of things to do has changed."""

    item: Item = Item()


class ItemCompleted(json_lines.JsonPart, frozen=True, tag="item.completed"):
    """Something is said, or a tool has answered."""

    item: Item = Item()


class ThreadTokens(json_lines.JsonPart, frozen=True):
    """Tokens of the whole thread. What was read includes what came from a cache."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0


class TurnCompleted(json_lines.JsonPart, frozen=True, tag="turn.completed"):
    """The end, if all is well."""

    usage: ThreadTokens | None = None


class TurnFailed(json_lines.JsonPart, frozen=True, tag="turn.failed"):
    """The end otherwise."""

    error: json_lines.MessagePart = json_lines.MessagePart()


class RequestFailed(json_lines.JsonPart, frozen=True, tag="error"):
    """A request failed; it may try again."""

    message: str = ""


Line = (
    ItemCompleted
    | ItemStarted
    | ItemUpdated
    | ThreadStarted
    | TurnStarted
    | TurnCompleted
    | TurnFailed
    | RequestFailed
)
LINES: Final[json_lines.JsonLineReader[Line]] = json_lines.JsonLineReader(Line)


def read_output(block: bytes) -> Iterator[agent.AgentEvent]:
    for line in LINES.read(block):
        match line:
            case ItemStarted():
                yield from _begun(line.item)
            case ItemCompleted():
                yield from _done(line.item)
            case ItemUpdated():
                yield from _planned(line.item)
            case ThreadStarted():
                yield agent.AgentStarted()
            case TurnCompleted():
                yield agent.SessionResultEvent(usage=_usage(line.usage))
            case TurnFailed():
                said = line.error.message
                yield agent.SessionResultEvent(
                    error=True,
                    detail=one_line(said, MESSAGE_CHARS),
                    failure=failure_of_message(said),
                )
            case RequestFailed():
                yield _failed(line.message)
            case TurnStarted():
                pass
            case agent.UnknownLine():
                yield line


def _begun(item: Item) -> Iterator[agent.AgentEvent]:
    if item.type == "todo_list":
        yield from _planned(item)
    elif name := _name(item):
        yield agent.ToolUse(name=name, summary=_summary(item), call=item.id)


def _done(item: Item) -> Iterator[agent.AgentEvent]:
    match item.type:
        case "agent_message":
            yield agent.Text(text=item.text)
        case "reasoning" | "plan":
            yield agent.Thinking(text=item.text)
        case "todo_list":
            # Repeated at the end of the turn, after the last message, when nothing was done.
            pass
        case "error" if item.message.startswith(HOOK_TRUST):
            # Twice in each session. The flag is Ralph's, and the hook is its own.
            pass
        case "error":
            # Only a warning, such as that it does not know a model: shown, and nothing follows
            # from it. What ends a session comes on a line of its own.
            yield agent.Thinking(text=item.message[:MESSAGE_CHARS])
        case _ if name := _name(item):
            if item.status == "declined":
                yield agent.ToolDenied(name=name, summary=_summary(item))
            failed = item.status in ("failed", "declined") or item.exit_code not in (0, None)
            yield json_lines.tool_result(item.id, _answer(item), error=failed)
        case _:
            yield agent.UnknownLine(line=one_line(f"item {item.type}", MESSAGE_CHARS))


def _planned(item: Item) -> Iterator[agent.AgentEvent]:
    """A list of things to do stays open for the whole session; no tool runs meanwhile."""
    if item.type == "todo_list":
        done = sum(step.completed for step in item.items)
        following = next((step.text for step in item.items if not step.completed), "")
        state = f"{done}/{len(item.items)} {following}"
        yield agent.ToolUse(
            name="todo_list", summary=one_line(state, json_lines.SUMMARY_CHARS), call=item.id
        )
        yield agent.ToolResult(call=item.id)


def _name(item: Item) -> str:
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


def _summary(item: Item) -> str:
    match item.type:
        case "command_execution":
            return one_line(_command(item.command), json_lines.SUMMARY_CHARS)
        case "file_change":
            files = (f"{change.kind} {change.path}" for change in item.changes[:20])
            return one_line(", ".join(files), json_lines.SUMMARY_CHARS)
        case "mcp_tool_call":
            return json_lines.tool_summary(item.arguments)
        case _:
            return one_line(item.query or item.prompt or "", json_lines.SUMMARY_CHARS)


def _command(command: str) -> str:
    """Without the shell around it."""
    found = SHELL.match(command)
    if found is None or len(command) > WRAPPED_CHARS:
        return command
    try:
        words = shlex.split(command[found.end() :])
    except ValueError:
        return command
    return words[0] if len(words) == 1 else command


def _answer(item: Item) -> str:
    if item.error is not None and item.error.message:
        return item.error.message
    if item.result is not None:
        return "\n".join(part.text for part in item.result.content)
    return item.aggregated_output


def _failed(message: str) -> agent.AgentEvent:
    shown = one_line(message, MESSAGE_CHARS)
    if found := RETRY.match(message):
        return agent.AgentRetry(message=shown, attempt=int(found[1] or 0))
    return agent.AgentProblem(message=shown, failure=failure_of_message(message))


def _usage(used: ThreadTokens | None) -> agent.TokenUsage | None:
    if used is None:
        return None
    return agent.TokenUsage(
        input_tokens=json_lines.tokens(used.input_tokens),
        cached_tokens=json_lines.tokens(used.cached_input_tokens),
        output_tokens=json_lines.tokens(used.output_tokens),
    )


def failure_of_message(message: str) -> EndingKind | None:
    """The kind of failure in a message about a request; the program has no codes."""
    found = STATUS.match(message)
    return of_answer(message.replace("\u2019", "'"), int(found[1]) if found else None)
