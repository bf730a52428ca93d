"""Pi: how it is started, what its lines mean, who pays."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.adapters.agents.pi.agent import Pi
from ralph.core.agent_events import (
    AgentEvent,
    AgentRetry,
    AgentStarted,
    ModelRequest,
    SessionResultEvent,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup, SessionTerms
from ralph.testing.agent_contract import AgentContract, a_brief


class TestPi(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return Pi(AgentSetup())


def pi() -> Pi:
    return Pi(AgentSetup())


def events(*lines: dict[str, object]) -> list[AgentEvent]:
    return list(pi().read(b"\n".join(json.dumps(line).encode() for line in lines)))


def argv(**terms: object) -> tuple[str, ...]:
    return pi().command(replace(a_brief(), terms=SessionTerms(**terms))).argv  # type: ignore[arg-type]


def following(word: str, argv: tuple[str, ...]) -> str:
    return argv[argv.index(word) + 1]


def test_the_prompt_goes_to_stdin_and_the_rules_are_a_file() -> None:
    brief = replace(a_brief("do it"), rules="be kind")
    assert pi().command(brief).stdin == b"be kind\n\ndo it"
    launch = pi().command(replace(brief, rules_path="/tmp/rules.md"))
    assert launch.stdin == b"do it"
    assert following("--append-system-prompt", launch.argv) == "/tmp/rules.md"


def test_nothing_that_the_checkout_holds_is_run() -> None:
    assert {"--no-approve", "--no-extensions"} <= set(argv(sandboxed=True))


def test_it_starts_without_other_connections_than_to_the_model() -> None:
    assert pi().command(a_brief()).env == {"PI_OFFLINE": "1"}


def test_an_extension_of_ralphs_asks_the_policy() -> None:
    assert "--extension" not in argv()
    terms = SessionTerms(hooks=("/bin/ralph", "hook"))
    launch = pi().command(replace(a_brief(), terms=terms))
    assert Path(following("--extension", launch.argv)).is_file()
    assert json.loads(launch.env["RALPH_HOOK"]) == ["/bin/ralph", "hook"]


def test_model_and_tools_are_passed_on_only_where_they_are_chosen() -> None:
    assert {"--model", "--exclude-tools"}.isdisjoint(argv())
    chosen = argv(model="anthropic/claude-sonnet-5", read_only=True)
    assert following("--model", chosen) == "anthropic/claude-sonnet-5"
    assert following("--exclude-tools", chosen) == "edit,write"


def test_with_a_person_the_prompt_is_an_argument() -> None:
    brief = replace(a_brief("do it"), rules="be kind")
    assert pi().interactive_command(brief).argv == ("pi", "--", "be kind\n\ndo it")
    with_file = pi().interactive_command(replace(brief, rules_path="/r")).argv
    assert with_file == ("pi", "--append-system-prompt", "/r", "--", "do it")


USED = {"input": 100, "cacheRead": 1000, "cacheWrite": 200, "output": 20, "cost": {"total": 0.5}}


def said(text: str, stop: str = "stop", **more: object) -> dict[str, object]:
    content = [{"type": "text", "text": text}] if text else []
    return {"role": "assistant", "content": content, "stopReason": stop, "model": "m", **more}


def test_a_session_from_start_to_end() -> None:
    call = {"toolCallId": "c", "toolName": "bash", "args": {"command": "git status"}}
    thought = {"type": "thinking", "thinking": "hm"}
    final = said("done", usage=USED, content=[thought, {"type": "text", "text": "done"}])
    retry = {"attempt": 1, "delayMs": 2000, "errorMessage": "429 no"}
    assert events(
        {"type": "session", "version": 3},
        {"type": "message_end", "message": {"role": "user", "content": "the prompt"}},
        {"type": "tool_execution_start", **call},
        {"type": "tool_execution_end", "toolCallId": "c", "result": {"content": [{"text": "ok"}]}},
        {"type": "agent_end", "messages": [said("", "error")], "willRetry": True},
        {"type": "auto_retry_start", **retry},
        {"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "delta": "do"}},
        {"type": "message_end", "message": final},
        {"type": "turn_end", "message": final},
        {"type": "agent_end", "messages": [final], "willRetry": False},
        {"type": "agent_settled"},
    ) == [
        AgentStarted(),
        ToolUse(name="bash", summary="git status", call="c"),
        ToolResult(call="c", text="ok"),
        AgentRetry(message="429 no", attempt=1, delay_s=2.0),
        Text(text="do", partial=True),
        Thinking(text="hm"),
        Text(text="done"),
        ModelRequest(input_tokens=1300, cached_tokens=1000, output_tokens=20, cost_usd=0.5),
        SessionResultEvent(text="done", model="m"),
    ]


def test_a_cost_of_nothing_is_unknown() -> None:
    free = {**USED, "cost": {"total": 0}}
    _, request = events({"type": "message_end", "message": said("x", usage=free)})
    assert isinstance(request, ModelRequest)
    assert request.cost_usd is None


def test_the_costs_of_its_requests_add_up() -> None:
    digest = StreamSummary()
    request: dict[str, object] = {"type": "message_end", "message": said("x", usage=USED)}
    for event in events(*[request] * 3):
        digest.add(event)
    digest.add(SessionResultEvent(text="x"))
    ending = pi().ending(digest, ProcessExit(code=0))
    assert (ending.cost_usd, ending.input_tokens) == (1.5, 3900)


@pytest.mark.parametrize(
    ("message", "failure"),
    [
        ('429 {"error":{"message":"Rate limit"}}', EndingKind.RATE_LIMITED),
        ('401 {"error":{"message":"no"}}', EndingKind.AUTH_EXPIRED),
        ("Connection error.", EndingKind.NO_NETWORK),
        ("terminated", EndingKind.OVERLOADED),
        ("Anthropic stream ended without a stop reason", EndingKind.OVERLOADED),
        ("who knows", None),
    ],
)
def test_a_failure_is_classified_by_its_words_and_its_status(
    message: str, failure: EndingKind | None
) -> None:
    last = said("", "error", errorMessage=message)
    (result,) = events(
        {"type": "message_end", "message": last}, {"type": "agent_end", "messages": [last]}
    )
    assert isinstance(result, SessionResultEvent)
    assert (result.failure, result.error) == (failure, True)


@pytest.mark.parametrize(
    ("stop", "ended"),
    [
        ("length", EndingKind.NO_RESULT),
        ("aborted", EndingKind.KILLED),
        ("odd", EndingKind.AGENT_ERROR),
    ],
)
def test_only_a_message_that_stops_by_itself_is_a_success(stop: str, ended: EndingKind) -> None:
    """It exits with 0 whatever happens."""
    digest = StreamSummary()
    for event in events({"type": "agent_end", "messages": [said("so far", stop)]}):
        digest.add(event)
    assert pi().ending(digest, ProcessExit(code=0)).ended is ended


@pytest.mark.parametrize(
    ("env", "files", "name", "logged_in"),
    [
        ({}, {"auth.json": b'{"anthropic": {"type": "oauth"}}'}, "a login of pi (anthropic)", True),
        ({}, {"models.json": b'{"providers": {"mine": {}}}'}, "models.json (mine)", True),
        ({"OPENAI_API_KEY": "k"}, {"auth.json": b"{}"}, "an API key (OPENAI_API_KEY)", True),
        ({}, {"auth.json": b"\xff", "models.json": b"[]"}, "no account", False),
    ],
)
def test_who_pays(
    env: dict[str, str],
    files: dict[str, bytes],
    name: str,
    logged_in: bool | None,  # noqa: FBT001
) -> None:
    account = pi().account(env, files)
    assert name in account.name
    assert account.logged_in is logged_in
