"""The messages of the Claude Agent SDK as the lines of the program that it leads."""

import json
from dataclasses import asdict
from typing import Any, Final

from claude_agent_sdk import (
    AssistantMessage,
    ContentBlock,
    Message,
    RateLimitEvent,
    ResultMessage,
    ServerToolResultBlock,
    ServerToolUseBlock,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

BLOCKS: Final = {
    TextBlock: "text",
    ThinkingBlock: "thinking",
    ToolUseBlock: "tool_use",
    ToolResultBlock: "tool_result",
    ServerToolUseBlock: "server_tool_use",
    ServerToolResultBlock: "advisor_tool_result",
}


def encoded(line: dict[str, Any]) -> bytes:
    """As the program writes it."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    # A model can say half a character.
    return text.encode("utf-8", "replace") + b"\n"


def line_of(message: Message) -> dict[str, Any] | None:
    """As whoever reads the program's own stream expects it; None: of no interest."""
    match message:
        case StreamEvent():
            return {
                "type": "stream_event",
                "event": message.event,
                "parent_tool_use_id": message.parent_tool_use_id,
            }
        case SystemMessage():
            return message.data
        case AssistantMessage():
            said = {"model": message.model, "content": _blocks(message.content)}
            return {
                "type": "assistant",
                "message": said,
                "error": message.error,
                "parent_tool_use_id": message.parent_tool_use_id,
            }
        case UserMessage():
            return {"type": "user", "message": {"content": _blocks(message.content)}}
        case RateLimitEvent():
            return {"type": "rate_limit_event", "rate_limit_info": message.rate_limit_info.raw}
        case ResultMessage():
            told = {key: value for key, value in asdict(message).items() if value is not None}
            return {"type": "result", **told, "modelUsage": told.pop("model_usage", {})}
        case _:
            return None


def _blocks(content: str | list[ContentBlock]) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    return [{"type": BLOCKS[type(one)], **asdict(one)} for one in content]
