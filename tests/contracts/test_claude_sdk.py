"""Claude on its Agent SDK: the same lines as without, the same terms, and what is missing."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeSDKError, Message
from claude_agent_sdk._internal.message_parser import parse_message
from msgspec.structs import replace

from ralph.adapters.agents.claude.agent import Claude
from ralph.adapters.agents.claude_sdk.agent import ClaudeSdk
from ralph.core.agent_events import UnknownLine
from ralph.core.policy.decision import Phase
from ralph.inside.sdk_session import encode_line, line_of
from ralph.ports.agent import Agent, AgentSetup, SessionTerms
from ralph.testing.agent_contract import AgentContract, a_brief
from ralph.wiring.agents import missing
from tests.contracts.recorded_output import SESSIONS, Recorded

SDK = ClaudeSdk(AgentSetup())


class TestClaudeSdk(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return SDK


def through_the_sdk(line: bytes) -> bytes:
    """A line of the program as it comes out behind the library."""
    try:
        message: Message | None = parse_message(json.loads(line))
    except (ValueError, ClaudeSDKError):
        return b""
    text = None if message is None else line_of(message)
    return b"" if text is None else encode_line(text)


@pytest.mark.parametrize("session", [one for one in SESSIONS if one.agent == "claude"], ids=str)
def test_every_recorded_session_is_understood_as_without_it(session: Recorded) -> None:
    lines = [line for line in session.output.splitlines(keepends=True) if line.startswith(b"{")]
    # What the library does not know, nobody hears of.
    kept = [(line, through_the_sdk(line)) for line in lines]
    direct = [one for line, text in kept if text for one in Claude(AgentSetup()).read(line)]
    behind = [one for _, text in kept for one in SDK.read(text)]
    assert behind == direct
    assert not [one for one in behind if isinstance(one, UnknownLine)]
    lost = {json.loads(line)["type"] for line, text in kept if not text}
    assert not lost & {"assistant", "user", "result", "stream_event", "rate_limit_event"}


def job(**terms: Any) -> dict[str, Any]:
    brief = replace(a_brief(), rules="Be kind.", rules_path="/r.md", terms=SessionTerms(**terms))
    answer: dict[str, Any] = json.loads(SDK.command(brief).stdin)
    return answer


def test_the_terms_are_passed_on() -> None:
    given = job(model="opus", budget_usd=1.5, max_turns=7, read_only=True, sandboxed=True)
    assert given["options"] == {
        "model": "opus",
        "max_turns": 7,
        "max_budget_usd": 1.5,
        "tools": None,
        "disallowed_tools": ["Edit", "Write", "NotebookEdit"],
        "permission_mode": "bypassPermissions",
    }
    assert (given["prompt"], given["rules_path"]) == ("do it", "/r.md")
    assert (given["hooks"], given["tools"]) == (False, False)


def test_without_a_sandbox_it_gets_a_list_of_tools() -> None:
    options = job(tools=("ralph", "mcp"))["options"]
    assert options["permission_mode"] == "dontAsk"
    assert {"Bash", "Edit", "mcp__ralph"} <= set(options["allowed_tools"])
    assert job(phase=Phase.VALIDATION, hooks=("ralph",))["options"]["tools"] == [
        *("Bash", "Glob", "Grep", "Read", "Task", "WebFetch")
    ]


def test_its_program_can_be_named(tmp_path: Path) -> None:
    assert ClaudeSdk(AgentSetup(command="claude-2")).traits.program == "claude-2"
    inside = ClaudeSdk(AgentSetup(command="bin/claude", directory=str(tmp_path)))
    assert inside.traits.program == str(tmp_path / "bin/claude")
    assert inside.interactive_command(a_brief()).argv[0] == inside.traits.program
    assert SDK.traits.package == "claude_agent_sdk"


def test_what_of_it_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing(ClaudeSdk(AgentSetup(command="/nowhere/claude"))) == "/nowhere/claude"
    monkeypatch.setattr("ralph.wiring.agents.find_spec", lambda _: None)
    assert missing(ClaudeSdk(AgentSetup(command=sys.executable))) == "claude_agent_sdk"
