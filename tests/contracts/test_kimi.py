"""Kimi Code: how it is started, what its lines mean, who pays."""

import json

import pytest
from msgspec.structs import replace

from ralph.adapters.agents.kimi.agent import Kimi
from ralph.core.agent_events import (
    AgentEvent,
    AgentRetry,
    AgentStarted,
    ModelRequest,
    SessionResultEvent,
    Text,
    ToolResult,
    ToolUse,
)
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup, SessionTerms
from ralph.testing.agent_contract import AgentContract, a_brief


class TestKimi(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return Kimi(AgentSetup())


def kimi() -> Kimi:
    return Kimi(AgentSetup())


def events(*lines: dict[str, object]) -> list[AgentEvent]:
    return list(kimi().read(b"\n".join(json.dumps(line).encode() for line in lines)))


def argv(**terms: object) -> tuple[str, ...]:
    return kimi().command(replace(a_brief(), terms=SessionTerms(**terms))).argv  # type: ignore[arg-type]


def config(name: str, **terms: object) -> dict[str, object]:
    brief = replace(a_brief(), terms=SessionTerms(**terms))  # type: ignore[arg-type]
    return dict(kimi().command(brief).config[name])


def test_the_prompt_is_an_argument_and_a_long_one_is_in_its_file() -> None:
    """It reads neither stdin nor files by itself."""
    brief = replace(a_brief("do it"), rules="be kind")
    assert kimi().command(brief).argv[-2:] == ("-p", "be kind\n\ndo it")
    long = kimi().command(a_brief("x" * 200_000)).argv[-1]
    assert "/tmp/a brief.md" in long


def test_it_connects_to_nothing_but_the_model() -> None:
    env = kimi().command(a_brief()).env
    assert (env["KIMI_CODE_NO_AUTO_UPDATE"], env["KIMI_DISABLE_TELEMETRY"]) == ("1", "1")
    assert config("config.toml") == {"telemetry": False}


def test_hooks_and_limits_are_in_its_settings() -> None:
    settings = config("config.toml", hooks=("/bin/ralph", "hook"), max_turns=7)
    assert settings["loop_control"] == {"max_steps_per_turn": 7}
    hooks = settings["hooks"]
    assert isinstance(hooks, list)
    first, *others = hooks
    assert first == {
        "event": "PreToolUse",
        "command": "/bin/ralph hook pre-tool-use",
        "timeout": 60,
    }
    assert "Stop" not in {one["event"] for one in others}


def test_a_model_is_passed_on_only_where_it_is_chosen() -> None:
    assert "--model" not in argv()
    chosen = argv(model="k2")
    assert chosen[chosen.index("--model") + 1] == "k2"


def test_ralphs_own_tools_are_served_from_a_folder_of_the_sessions_own() -> None:
    assert "mcp.json" not in kimi().command(a_brief()).config
    server = {"command": "/bin/ralph", "args": ["mcp"]}
    found = config("mcp.json", tools=("/bin/ralph", "mcp"))
    assert found == {"mcpServers": {"ralph": server}}


def test_a_conversation_is_refused_since_its_screen_takes_no_first_message() -> None:
    assert kimi().interactive_command(a_brief("do it")).stdin == b"do it"


def test_a_session_from_start_to_end() -> None:
    function = {"name": "Bash", "arguments": '{"command": "git status"}'}
    call = {"type": "function", "id": "c", "function": function}
    used = {"inputOther": 300, "inputCacheRead": 1000, "inputCacheCreation": 0, "output": 20}
    retry = {"failed_attempt": 1, "delay_ms": 1000, "error_message": "429 no", "status_code": 429}
    assert events(
        {"role": "meta", "type": "system.version", "version": "2.1.0"},
        {"role": "meta", "type": "turn.step.retrying", **retry},
        {"role": "assistant", "content": "well", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "no\nCommand failed with exit code: 3."},
        {"role": "assistant", "content": "done"},
        {"role": "meta", "type": "session.resume_hint", "session_id": "s"},
        {"role": "meta", "type": "something new"},
        {"type": "usage.record", "agentId": "main", "usage": used},
    ) == [
        AgentStarted(),
        AgentRetry(message="429 no", attempt=1, delay_s=1.0),
        Text(text="well"),
        ToolUse(name="Bash", summary="git status", call="c"),
        ToolResult(call="c", text="no\nCommand failed with exit code: 3.", error=True),
        Text(text="done"),
        SessionResultEvent(),
        ModelRequest(input_tokens=1300, cached_tokens=1000, output_tokens=20),
    ]


def test_it_is_not_left_to_sleep_for_an_hour() -> None:
    """Ralph waits instead, and shows it."""
    said = {"error_message": "429 later", "status_code": 429, "delay_ms": 3_600_000}
    *_, result = events({"role": "meta", "type": "turn.step.retrying", **said})
    assert isinstance(result, SessionResultEvent)
    ending = kimi().ending(StreamSummary(result=result), ProcessExit(code=143, ended_at=1e9))
    assert (ending.ended, ending.resets_at) == (EndingKind.RATE_LIMITED, 1e9 + 3600)


PREFIX = "a tool wrote this\nerror: failed to run prompt: "


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ("provider.auth_error: 401 Incorrect API key provided.", EndingKind.AUTH_EXPIRED),
        ("provider.api_error: 500 Internal server error.", EndingKind.OVERLOADED),
        ("provider.api_error: Error: Expected property name", EndingKind.OVERLOADED),
        ("provider.api_error: 418 who knows", EndingKind.AGENT_ERROR),
        ("provider.connection_error: terminated", EndingKind.NO_NETWORK),
        ("context.overflow: Compaction failed.", EndingKind.PROMPT_TOO_LONG),
        ("loop.max_steps_exceeded: Turn exceeded maxSteps=3.", EndingKind.TURN_LIMIT),
        ('Model "x" is not configured in config.toml.', EndingKind.UNKNOWN_MODEL),
        ("no default model configured", EndingKind.UNKNOWN_MODEL),
        ("Not logged in. Run kimi login first.", EndingKind.AUTH_EXPIRED),
        ("who knows", EndingKind.AGENT_ERROR),
    ],
)
def test_its_last_words_on_stderr_say_why_it_gave_up(said: str, ended: EndingKind) -> None:
    digest = StreamSummary(tail="so far", tool_uses=1)
    stderr = f"{PREFIX}{said}\nSee log: /home/me/.kimi-code/logs/kimi-code.log\n"
    assert kimi().ending(digest, ProcessExit(code=1, stderr=stderr)).ended is ended
    # Not those of a tool, which come before.
    after = ProcessExit(code=1, stderr=f"{stderr}more\n")
    assert kimi().ending(digest, after).ended is EndingKind.NO_RESULT


def test_a_good_turn_without_a_word_is_no_result() -> None:
    digest = StreamSummary(result=SessionResultEvent())
    assert kimi().ending(digest, ProcessExit(code=0)).ended is EndingKind.NO_RESULT


@pytest.mark.parametrize(
    ("env", "files", "name", "logged_in"),
    [
        ({"KIMI_MODEL_API_KEY": "k"}, {}, "the owner of KIMI_MODEL_API_KEY", True),
        ({}, {"credentials/kimi-code.json": b'{"access_token": "x"}'}, "a Kimi account", True),
        ({}, {"config.toml": b"[providers.mine]\n"}, "config.toml (mine)", True),
        ({}, {"config.toml": b"= ="}, "unknown", None),
        ({}, {}, "no account", False),
    ],
)
def test_who_pays(
    env: dict[str, str],
    files: dict[str, bytes],
    name: str,
    logged_in: bool | None,  # noqa: FBT001
) -> None:
    account = kimi().account(env, files)
    assert name in account.name
    assert account.logged_in is logged_in
