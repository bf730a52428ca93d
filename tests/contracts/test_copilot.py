"""GitHub Copilot CLI: how it is started, what its lines mean, who pays."""

import json

import pytest
from msgspec.structs import replace

from ralph.adapters.agents.copilot.agent import Copilot
from ralph.core.agent_events import (
    AgentEvent,
    AgentProblem,
    AgentRetry,
    AgentStarted,
    ModelRequest,
    SessionResultEvent,
    Text,
    Thinking,
    ToolDenied,
    ToolResult,
    ToolUse,
)
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup, SessionTerms
from ralph.testing.agent_contract import AgentContract, a_brief

UNASKED = "--allow-all"


class TestCopilot(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return Copilot(AgentSetup())


def copilot() -> Copilot:
    return Copilot(AgentSetup())


def events(*lines: dict[str, object]) -> list[AgentEvent]:
    return list(copilot().read(b"\n".join(json.dumps(line).encode() for line in lines)))


def argv(**terms: object) -> tuple[str, ...]:
    return copilot().command(replace(a_brief(), terms=SessionTerms(**terms))).argv  # type: ignore[arg-type]


def settings(**terms: object) -> dict[str, object]:
    brief = replace(a_brief(), terms=SessionTerms(**terms))  # type: ignore[arg-type]
    return dict(copilot().command(brief).config["settings.json"])


def test_the_prompt_goes_to_stdin_behind_the_rules() -> None:
    launch = copilot().command(replace(a_brief("do it"), rules="be kind"))
    assert launch.stdin == b"be kind\n\ndo it"
    assert "-p" not in launch.argv


def test_only_in_a_sandbox_it_needs_no_permission() -> None:
    assert UNASKED in argv(sandboxed=True)
    assert UNASKED not in argv()
    assert "--allow-tool=shell" in argv()


def test_a_checkout_is_never_trusted_whatever_the_user_has_set() -> None:
    """It would run hooks and servers that a session has put there."""
    assert copilot().command(a_brief()).env["COPILOT_ALLOW_ALL"] == "false"
    assert "--trust-folder" not in argv(sandboxed=True)


def test_it_does_not_name_itself_in_commits() -> None:
    assert settings() == {"includeCoAuthoredBy": False}


def test_hooks_are_in_the_settings_and_time_out_after_ralphs_own_patience() -> None:
    hooks = settings(hooks=("/bin/ralph", "hook"))["hooks"]
    assert isinstance(hooks, dict)
    assert set(hooks) == {"PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart"}
    assert hooks["PreToolUse"] == [
        {"hooks": [{"type": "command", "command": "/bin/ralph hook pre-tool-use", "timeout": 60}]}
    ]


def test_model_and_tools_are_passed_on_only_where_they_are_chosen() -> None:
    assert "--model" not in argv()
    chosen = argv(model="gpt-5.4", read_only=True)
    assert chosen[chosen.index("--model") + 1] == "gpt-5.4"
    assert "--excluded-tools=edit" in chosen


def test_ralphs_own_tools_get_the_way_to_the_run_but_not_on_the_command_line() -> None:
    (word,) = (one for one in argv(tools=("/bin/ralph", "mcp")) if "mcp-config" in one)
    server = json.loads(word.partition("=")[2])["mcpServers"]["ralph"]
    assert server["command"] == "/bin/ralph"
    assert server["env"] == {"RALPH_SOCKET": "${RALPH_SOCKET}", "RALPH_TOKEN": "${RALPH_TOKEN}"}
    assert "--allow-tool=ralph" in argv(tools=("ralph",))


def test_with_a_person_the_prompt_is_an_argument() -> None:
    brief = replace(a_brief("do it"), rules="be kind")
    assert copilot().interactive_command(brief).argv == ("copilot", "-i", "be kind\n\ndo it")


def test_a_session_from_start_to_end() -> None:
    call = {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "git status"}}
    done = {"toolCallId": "c1", "success": True, "result": {"content": "clean"}}
    used = {"inputTokens": 1300, "cacheReadTokens": 1000, "outputTokens": 20}
    assert events(
        {"type": "session.tools_updated", "data": {"model": "m"}},
        {"type": "user.message", "data": {"content": "the prompt"}},
        {"type": "assistant.reasoning", "data": {"content": "hm"}},
        {"type": "assistant.message_delta", "data": {"deltaContent": "we"}},
        {"type": "assistant.message", "data": {"content": "well", "toolRequests": []}},
        {"type": "tool.execution_start", "data": call},
        {"type": "tool.execution_complete", "data": {**done, "shellExecution": {"exitCode": 0}}},
        {"type": "assistant.turn_retry", "data": {"reason": "rate_limit"}},
        {"type": "result", "exitCode": 0, "usage": {"sessionDurationMs": 1500}},
        {"type": "session.usage_record", "data": {"usage": used}},
    ) == [
        AgentStarted(model="m"),
        Thinking(text="hm"),
        Text(text="we", partial=True),
        Text(text="well"),
        ToolUse(name="bash", summary="git status", call="c1"),
        ToolResult(call="c1", text="clean"),
        AgentRetry(message="rate_limit"),
        SessionResultEvent(duration_s=1.5),
        ModelRequest(input_tokens=1300, cached_tokens=1000, output_tokens=20),
    ]


def test_what_a_sub_agent_says_is_not_the_final_message() -> None:
    said = {"type": "assistant.message", "data": {"content": "<task-done>x</task-done>"}}
    assert events({**said, "agentId": "a1"}) == [Thinking(text="<task-done>x</task-done>")]


def test_a_command_that_fails_is_a_failed_tool() -> None:
    data = {"toolCallId": "c", "success": True, "result": {"content": "no"}}
    (one,) = events(
        {"type": "tool.execution_complete", "data": {**data, "shellExecution": {"exitCode": 3}}}
    )
    assert one == ToolResult(call="c", text="no", error=True)


@pytest.mark.parametrize(
    ("message", "denied"),
    [("Permission denied because …", True), ("Denied by preToolUse hook: no", False)],
)
def test_what_the_policy_denies_is_recorded_as_such(message: str, denied: bool) -> None:  # noqa: FBT001
    error = {"message": message, "code": "denied"}
    found = events({"type": "tool.execution_complete", "data": {"success": False, "error": error}})
    assert any(isinstance(one, ToolDenied) for one in found) is denied


@pytest.mark.parametrize(
    ("data", "failure"),
    [
        ({"errorType": "quota", "errorCode": "quota_exceeded"}, EndingKind.USAGE_LIMIT),
        ({"errorType": "quota", "errorCode": "billing_not_configured"}, EndingKind.BILLING),
        (
            {"errorType": "rate_limit", "errorCode": "user_weekly_rate_limited", "statusCode": 429},
            EndingKind.USAGE_LIMIT,
        ),
        ({"errorType": "rate_limit", "statusCode": 429}, EndingKind.RATE_LIMITED),
        ({"errorType": "authorization"}, EndingKind.AUTH_EXPIRED),
        ({"errorType": "context_limit"}, EndingKind.PROMPT_TOO_LONG),
        ({"errorType": "query", "message": "who knows"}, None),
    ],
)
def test_an_error_is_classified_by_its_code_its_words_and_its_type(
    data: dict[str, object], failure: EndingKind | None
) -> None:
    (problem,) = events({"type": "session.error", "data": {"message": "", **data}})
    assert isinstance(problem, AgentProblem)
    assert problem.failure is failure


def test_a_result_without_a_word_is_no_result() -> None:
    """After some signals that is all that it prints, and it exits with 0."""
    digest = StreamSummary(result=SessionResultEvent())
    assert copilot().ending(digest, ProcessExit(code=0)).ended is EndingKind.NO_RESULT


@pytest.mark.parametrize(
    ("stderr", "ended"),
    [
        ("Error: No authentication information found.\n\nYou can…", EndingKind.AUTH_EXPIRED),
        ('Error: Model "x" from --model flag is not available.', EndingKind.UNKNOWN_MODEL),
        ("error: unexpected argument '--no-remote' found", EndingKind.NOT_INSTALLED),
    ],
)
def test_what_it_says_before_it_starts(stderr: str, ended: EndingKind) -> None:
    exit_ = ProcessExit(code=1, stderr=stderr)
    assert copilot().ending(StreamSummary(), exit_).ended is ended


LOGIN = b'// This file is managed automatically.\n{"copilotTokens": {"x": "t"}}'


@pytest.mark.parametrize(
    ("env", "files", "name", "logged_in"),
    [
        ({"COPILOT_PROVIDER_BASE_URL": "u", "GH_TOKEN": "t"}, {}, "the provider of", True),
        ({"GH_TOKEN": "t"}, {"config.json": LOGIN}, "a GitHub account (GH_TOKEN)", True),
        ({}, {"config.json": LOGIN}, "a GitHub account", True),
        ({}, {"config.json": b'{"loggedInUsers": [{"login": "me"}]}'}, "keyring", None),
        ({}, {"config.json": b"\xff"}, "no account", False),
    ],
)
def test_who_pays(
    env: dict[str, str],
    files: dict[str, bytes],
    name: str,
    logged_in: bool | None,  # noqa: FBT001
) -> None:
    account = copilot().account(env, files)
    assert name in account.name
    assert account.logged_in is logged_in
