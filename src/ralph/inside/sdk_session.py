"""A session on the Claude Agent SDK: Ralph's tools and hooks live in its process.

Runs as `python -m ralph.inside.sdk_session` with its job as JSON on stdin, and prints what the
agent's program says, line by line. Every call of a tool and of a hook goes to the running loop.
"""

import json
import os
import shutil
import sys
from typing import Any, Final

import anyio
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKError,
    HookCallback,
    HookMatcher,
    McpSdkServerConfig,
    query,
)

from ralph.inside.knock import Shut, ask
from ralph.inside.mcp_server import ralphs_server
from ralph.inside.sdk_lines import encoded, line_of
from ralph.ports.agent import LONGEST_LINE
from ralph.ports.calls import HOOK

FAILED: Final = 1
INTERRUPTED: Final = 130
BEFORE: Final = "PreToolUse"
HOOKS: Final = {
    BEFORE: "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "PostToolUseFailure": "post-tool-use",
    "Stop": "stop",
}
"""What the SDK calls them, and what Ralph does."""


def main() -> int:
    """Until the agent has said its last word."""
    try:
        anyio.run(_run, json.load(sys.stdin.buffer))
    except ClaudeSDKError as error:
        sys.stderr.write(f"{error}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


async def _run(job: dict[str, Any]) -> None:
    async for message in query(prompt=job["prompt"], options=_options(job)):
        line = line_of(message)
        if line is not None:
            sys.stdout.buffer.write(encoded(line))
            sys.stdout.buffer.flush()


def _options(job: dict[str, Any]) -> ClaudeAgentOptions:
    program = os.environ.get("RALPH_AGENT_PROGRAM", "")
    switches: dict[str, str | None] = {"no-session-persistence": None}
    if job["rules_path"]:
        switches["append-system-prompt-file"] = job["rules_path"]
    return ClaudeAgentOptions(
        # By its path: the SDK looks for no name.
        cli_path=shutil.which(program) or program or None,
        cwd=os.getcwd(),
        system_prompt={"type": "preset", "preset": "claude_code"},
        include_partial_messages=True,
        max_buffer_size=LONGEST_LINE,
        strict_mcp_config=True,
        mcp_servers={"ralph": _server()} if job["tools"] else {},
        hooks={event: [HookMatcher(hooks=[_hook(event)])] for event in HOOKS}  # type: ignore[misc]
        if job["hooks"]
        else None,
        extra_args=switches,
        **{key: value for key, value in job["options"].items() if value is not None},
    )


def _server() -> McpSdkServerConfig:
    return McpSdkServerConfig(type="sdk", name="ralph", instance=ralphs_server())


def _hook(event: str) -> HookCallback:
    """Ask the loop. If it cannot be asked before a tool is used, the tool is not used."""

    async def asked(payload: Any, call: str | None, context: Any) -> Any:
        del call, context
        try:
            answer = await anyio.to_thread.run_sync(
                ask, HOOK, {"name": HOOKS[event], "payload": dict(payload)}
            )
        except Shut as shut:
            answer = {"error": "Shut", "message": str(shut)}
        if not answer.get("error"):
            return answer.get("value") or {}
        why = str(answer.get("message"))
        sys.stderr.write(f"ralph: {why}\n")
        return _denied(why) if event == BEFORE else {}

    return asked


def _denied(why: str) -> dict[str, Any]:
    said = {
        "hookEventName": BEFORE,
        "permissionDecision": "deny",
        "permissionDecisionReason": why,
    }
    return {"hookSpecificOutput": said}


if __name__ == "__main__":
    sys.exit(main())
