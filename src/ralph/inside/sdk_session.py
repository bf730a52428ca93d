"""A session on the Claude Agent SDK: Ralph's tools and hooks live in its process.

Runs as `python -m ralph.inside.sdk_session` with its job as JSON on stdin, and prints what the
agent's program says, line by line. Every call of a tool and of a hook goes to the running loop.
"""

import json
import os
import shutil
import sys
from dataclasses import asdict
from typing import Any, Final

import anyio
import claude_agent_sdk as sdk

from ralph.inside.mcp_server import ask_run, ralphs_server
from ralph.inside.session_calls import HOOK_METHOD
from ralph.ports.agent import HOOK_NAMES, LONGEST_LINE

FAILED: Final = 1
INTERRUPTED: Final = 130
BEFORE: Final = "PreToolUse"
BLOCKS: Final = {
    sdk.TextBlock: "text",
    sdk.ThinkingBlock: "thinking",
    sdk.ToolUseBlock: "tool_use",
    sdk.ToolResultBlock: "tool_result",
    sdk.ServerToolUseBlock: "server_tool_use",
    sdk.ServerToolResultBlock: "advisor_tool_result",
}
HOOKS: Final = (BEFORE, "PostToolUse", "PostToolUseFailure", "Stop")


def main() -> int:
    try:
        anyio.run(_run, json.load(sys.stdin.buffer))
    except sdk.ClaudeSDKError as error:
        sys.stderr.write(f"{error}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


async def _run(job: dict[str, Any]) -> None:
    async for message in sdk.query(prompt=job["prompt"], options=_options(job)):
        line = line_of(message)
        if line is not None:
            sys.stdout.buffer.write(encode_line(line))
            sys.stdout.buffer.flush()


def _options(job: dict[str, Any]) -> sdk.ClaudeAgentOptions:
    program = os.environ.get("RALPH_AGENT_PROGRAM", "")
    switches: dict[str, str | None] = {"no-session-persistence": None}
    if job["rules_path"]:
        switches["append-system-prompt-file"] = job["rules_path"]
    server = sdk.McpSdkServerConfig(type="sdk", name="ralph", instance=ralphs_server())
    return sdk.ClaudeAgentOptions(
        # The SDK takes a path and looks for no name.
        cli_path=shutil.which(program) or program or None,
        cwd=os.getcwd(),
        system_prompt={"type": "preset", "preset": "claude_code"},
        include_partial_messages=True,
        max_buffer_size=LONGEST_LINE,
        strict_mcp_config=True,
        mcp_servers={"ralph": server} if job["tools"] else {},
        hooks={event: [sdk.HookMatcher(hooks=[_hook(event)])] for event in HOOKS}
        if job["hooks"]
        else None,
        extra_args=switches,
        **{key: value for key, value in job["options"].items() if value is not None},
    )


def _hook(event: str) -> sdk.HookCallback:
    """Ask the run. If it does not answer before a tool is used, the tool is not used."""

    async def asked(payload: Any, call: str | None, context: Any) -> Any:
        del call, context
        args = {"name": HOOK_NAMES[event], "payload": dict(payload)}
        answer = await ask_run(HOOK_METHOD, args)
        if not answer.get("error"):
            return answer.get("value") or {}
        why = str(answer.get("message"))
        sys.stderr.write(f"ralph: {why}\n")
        return _denied(why) if event == BEFORE else {}

    return asked


def _denied(why: str) -> dict[str, Any]:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": why}
    return {"hookSpecificOutput": {"hookEventName": BEFORE, **decision}}


def encode_line(line: dict[str, Any]) -> bytes:
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    # A model can write half a character.
    return text.encode("utf-8", "replace") + b"\n"


def line_of(message: sdk.Message) -> dict[str, Any] | None:
    """A message as the program would print it; None for messages that are not read."""
    match message:
        case sdk.StreamEvent():
            return {
                "type": "stream_event",
                "event": message.event,
                "parent_tool_use_id": message.parent_tool_use_id,
            }
        case sdk.SystemMessage():
            return message.data
        case sdk.AssistantMessage():
            said = {"model": message.model, "content": _blocks(message.content)}
            return {
                "type": "assistant",
                "message": said,
                "error": message.error,
                "parent_tool_use_id": message.parent_tool_use_id,
            }
        case sdk.UserMessage():
            return {"type": "user", "message": {"content": _blocks(message.content)}}
        case sdk.RateLimitEvent():
            return {"type": "rate_limit_event", "rate_limit_info": message.rate_limit_info.raw}
        case sdk.ResultMessage():
            fields = {key: value for key, value in asdict(message).items() if value is not None}
            return {"type": "result", **fields, "modelUsage": fields.pop("model_usage", {})}
        case _:
            return None


def _blocks(content: str | list[sdk.ContentBlock]) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    return [{"type": BLOCKS[type(one)], **asdict(one)} for one in content]


if __name__ == "__main__":
    sys.exit(main())
