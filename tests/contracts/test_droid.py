"""Droid: how it is started, what its lines mean, who pays."""

import json

import pytest
from msgspec.structs import replace

from ralph.adapters.agents.droid.agent import Droid
from ralph.core.agent_events import (
    AgentEvent,
    AgentProblem,
    AgentStarted,
    SessionResultEvent,
    Text,
    Thinking,
    TokenUsage,
    ToolDenied,
    ToolResult,
    ToolUse,
)
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup, SessionTerms
from ralph.testing.agent_contract import AgentContract, a_brief

UNASKED = "--skip-permissions-unsafe"


class TestDroid(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return Droid(AgentSetup())


def droid() -> Droid:
    return Droid(AgentSetup())


def events(*lines: dict[str, object]) -> list[AgentEvent]:
    return list(droid().read(b"\n".join(json.dumps(line).encode() for line in lines)))


def argv(**terms: object) -> tuple[str, ...]:
    return droid().command(replace(a_brief(), terms=SessionTerms(**terms))).argv  # type: ignore[arg-type]


def following(word: str, argv: tuple[str, ...]) -> str:
    return argv[argv.index(word) + 1]


def test_the_prompt_goes_to_stdin_and_the_rules_are_a_file() -> None:
    brief = replace(a_brief("do it"), rules="be kind")
    assert droid().command(brief).stdin == b"be kind\n\ndo it"
    launch = droid().command(replace(brief, rules_path="/tmp/rules.md"))
    assert launch.stdin == b"do it"
    assert following("--append-system-prompt-file", launch.argv) == "/tmp/rules.md"


def test_only_in_a_sandbox_it_needs_no_permission() -> None:
    assert UNASKED in argv(sandboxed=True)
    assert "--auto" not in argv(sandboxed=True)
    assert UNASKED not in argv()
    assert following("--auto", argv()) == "medium"


def test_model_and_tools_are_passed_on_only_where_they_are_chosen() -> None:
    assert {"-m", "--remove-tools"}.isdisjoint(argv())
    chosen = argv(model="custom:x", read_only=True)
    assert following("-m", chosen) == "custom:x"
    assert "Edit" in following("--remove-tools", chosen).split(",")


def test_ralphs_own_tools_are_served_from_a_folder_of_the_sessions_own() -> None:
    assert droid().command(a_brief()).config == {}
    terms = SessionTerms(tools=("/bin/ralph", "mcp"))
    config = droid().command(replace(a_brief(), terms=terms)).config
    server = {"type": "stdio", "command": "/bin/ralph", "args": ["mcp"]}
    assert config == {"mcp.json": {"mcpServers": {"ralph": server}}}


def test_with_a_person_its_tools_are_minded_by_settings_of_their_own() -> None:
    brief = replace(
        a_brief("do it"), path="/runs/talk.prompt.md", terms=SessionTerms(hooks=("ralph",))
    )
    launch = droid().interactive_command(brief)
    assert following("--settings", launch.argv) == "/runs/talk.settings.json"
    assert list(launch.config) == ["talk.settings.json"]
    assert set(launch.config["talk.settings.json"]["hooks"]) == {"PreToolUse"}  # type: ignore[call-overload]


def test_with_a_person_the_prompt_is_an_argument() -> None:
    brief = replace(a_brief("do it"), rules="be kind")
    assert droid().interactive_command(brief).argv == ("droid", "be kind\n\ndo it")
    assert droid().interactive_command(replace(brief, rules_path="/r")).argv == (
        *("droid", "--append-system-prompt-file", "/r"),
        "do it",
    )


def test_a_session_from_start_to_end() -> None:
    assert events(
        {"type": "system", "subtype": "init", "tools": ["Read"], "model": "m"},
        {"type": "message", "role": "user", "text": "the prompt"},
        {"type": "reasoning", "text": "hm"},
        {"type": "message", "role": "assistant", "text": "well"},
        {
            "type": "tool_call",
            "id": "c1",
            "toolName": "Execute",
            "parameters": {"riskLevel": "low", "command": "git status"},
        },
        {"type": "tool_result", "id": "c1", "isError": False, "value": "clean"},
        {
            "type": "completion",
            "finalText": "done",
            "numTurns": 2,
            "durationMs": 1500,
            "usage": {
                "input_tokens": 1,
                "cache_read_input_tokens": 20,
                "cache_creation_input_tokens": 300,
                "output_tokens": 4000,
            },
        },
    ) == [
        AgentStarted(model="m", tools=("Read",)),
        Thinking(text="hm"),
        Text(text="well"),
        ToolUse(name="Execute", summary="git status", call="c1"),
        ToolResult(call="c1", text="clean"),
        SessionResultEvent(
            text="done",
            turns=2,
            duration_s=1.5,
            usage=TokenUsage(input_tokens=321, cached_tokens=20, output_tokens=4000),
        ),
    ]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"file_path": "/a/b.py", "content": "x"}, "/a/b.py"),
        ({"directory_path": "/a"}, "/a"),
        ({"pattern": "TODO", "path": "/a"}, "TODO"),
        ({"patterns": ["*.py", "*.md"], "folder": "/a"}, "*.py *.md"),
        ({"anything": 1}, '{"anything": 1}'),
        ({}, ""),
    ],
)
def test_a_call_is_summed_up_by_what_tells_most(given: dict[str, object], shown: str) -> None:
    (use,) = events({"type": "tool_call", "id": "c", "toolName": "T", "parameters": given})
    assert use == ToolUse(name="T", summary=shown, call="c")


def test_a_tool_that_fails_says_why() -> None:
    error = {"type": "tool_error", "message": "Error: no such file"}
    assert events({"type": "tool_result", "id": "c", "isError": True, "error": error}) == [
        ToolResult(call="c", text="Error: no such file", error=True)
    ]


@pytest.mark.parametrize(
    "message",
    [
        "Error: Exec ended early: insufficient permission to proceed. Re-run with --auto high.",
        "Error: Exec ended early: MCP tool db___drop requires higher autonomy to proceed.",
        "Error: Tool Create is not permitted in this exec session.",
    ],
)
def test_what_is_not_permitted_is_denied_and_closed(message: str) -> None:
    error = {"message": message}
    line = {"type": "tool_result", "id": "c", "toolId": "Execute", "isError": True, "error": error}
    assert events(line) == [
        ToolDenied(name="Execute", summary=message),
        ToolResult(call="c", text=message, error=True),
    ]


def test_a_request_that_failed_is_trouble_with_its_kind() -> None:
    message = '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    assert events({"type": "error", "source": "agent_loop", "message": message}) == [
        AgentProblem(message=message, failure=EndingKind.OVERLOADED)
    ]


def concluded(*lines: dict[str, object], code: int = 1) -> tuple[EndingKind, str]:
    digest = StreamSummary()
    for event in events(*lines):
        digest.add(event)
    ending = droid().ending(digest, ProcessExit(code=code))
    return ending.ended, ending.detail


def spoken(text: str) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "text": text}


def failed(source: str, message: str) -> dict[str, object]:
    return {"type": "error", "source": source, "message": message}


@pytest.mark.parametrize(
    "words",
    [
        "Error: Authentication failed. I could not log in to the test server.",
        "402 Payment Required: the shop's checkout works now",
        "Usage limit reached, try again at 7:44 AM.",
    ],
)
def test_the_models_words_are_not_the_programs_even_if_it_repeats_them(words: str) -> None:
    bad = failed("agent_loop", "400 something else")
    assert concluded(spoken(words), failed("cli", words))[0] is EndingKind.AGENT_ERROR
    assert concluded(spoken(words), bad, failed("cli", words)) == (
        EndingKind.AGENT_ERROR,
        "400 something else",
    )


def test_giving_up_without_a_reason_is_said() -> None:
    assert concluded(failed("cli", "Exec failed")) == (
        EndingKind.AGENT_ERROR,
        "it gave up without a reason",
    )


def test_without_a_login_nothing_is_said_and_that_is_the_reason() -> None:
    words = "Error: Authentication failed. Please log in using /login"
    assert concluded(failed("cli", words)) == (EndingKind.AUTH_EXPIRED, words)


def test_a_limit_in_days_of_the_provider_is_waited_for() -> None:
    message = "Your organization has reached its monthly compute usage limit."
    assert concluded(failed("agent_loop", message), failed("cli", "Exec failed"))[0] is (
        EndingKind.USAGE_LIMIT
    )


def test_a_program_of_another_age_is_not_installed() -> None:
    stderr = "error: unknown option '--append-system-prompt-file'\n"
    assert (
        droid().ending(StreamSummary(), ProcessExit(code=1, stderr=stderr)).ended
        is EndingKind.NOT_INSTALLED
    )


def test_a_factory_account_pays_or_the_keys_of_ones_own_models() -> None:
    own = {"settings.json": b'{"customModels": [{"model": "m"}]}'}
    old = {"config.json": b'{"custom_models": [{"model": "m"}]}'}
    assert droid().account({"FACTORY_API_KEY": "k"}, own).name == (
        "a Factory account (FACTORY_API_KEY)"
    )
    assert droid().account({}, {"auth.v2.file": b"x", **own}).name == "a Factory account"
    assert {droid().account({}, files).name for files in (own, old)} == {
        "the keys of your own models (settings.json)"
    }


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"customModels": 5}', b"\xff"])
def test_without_any_of_them_nobody_is_logged_in(data: bytes) -> None:
    assert droid().account({}, {"settings.json": data}).logged_in is False


def test_a_session_gets_nothing_of_the_configuration_that_runs_commands() -> None:
    home = Droid.traits.home
    assert home is not None
    taken = {key for excerpt in home.excerpts for key in excerpt.keys}
    assert taken.isdisjoint({"hooks", "enabledPlugins", "extraKnownMarketplaces", "sandbox"})
