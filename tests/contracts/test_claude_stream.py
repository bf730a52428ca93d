"""Claude Code: what its lines mean, and how its sessions end."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.adapters.agents.claude.agent import Claude
from ralph.core.agent_events import (
    AgentEvent,
    AgentProblem,
    AgentRetry,
    AgentStarted,
    LimitStatus,
    SessionResultEvent,
    Text,
    Thinking,
    TokenUsage,
    ToolDenied,
    ToolResult,
    ToolUse,
    UnknownLine,
    UsageLimit,
)
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import AgentSetup

CLAUDE = Claude(AgentSetup())
NOON = 1_794_744_000.0
"""Of November 15th, 2026, UTC."""
SUCCESS = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}
FAILURE = {"type": "result", "subtype": "success", "is_error": True}


def read(*lines: Any) -> list[AgentEvent]:
    block = b"\n".join(json.dumps(line).encode() for line in lines)
    return list(CLAUDE.read(block))


def ending(*lines: Any, code: int = 1, stderr: str = "") -> SessionEnding:
    digest = StreamSummary()
    for event in read(*lines):
        digest.add(event)
    return CLAUDE.ending(digest, ProcessExit(code=code, stderr=stderr, ended_at=NOON))


def said(*blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"model": "m", "content": list(blocks)}, **fields}


def test_what_it_says_thinks_and_does() -> None:
    assert read(
        {"type": "system", "subtype": "init", "model": "opus", "tools": ["Bash", "Read"]},
        said({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}),
        said({"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls -l"}}),
        {
            "type": "user",
            "message": {
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True},
                    {"type": "tool_result", "tool_use_id": "c2", "content": [{"text": "yes"}]},
                    {"type": "text", "text": "a prompt"},
                ]
            },
        },
    ) == [
        AgentStarted(model="opus", tools=("Bash", "Read")),
        Thinking(text="hm"),
        Text(text="I look."),
        ToolUse(name="Bash", summary="ls -l", call="c1"),
        ToolResult(call="c1", text="no", error=True),
        ToolResult(call="c2", text="yes"),
    ]


def test_pieces_are_partial_and_those_of_sub_agents_left_out() -> None:
    def piece(delta: dict[str, str], parent: str | None = None) -> dict[str, Any]:
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        return {"type": "stream_event", "event": event, "parent_tool_use_id": parent}

    assert read(
        piece({"type": "text_delta", "text": "Do"}),
        piece({"type": "thinking_delta", "thinking": "hm"}),
        piece({"type": "input_json_delta", "partial_json": "{"}),
        piece({"type": "text_delta", "text": "inner"}, parent="c1"),
        {"type": "stream_event", "event": {"type": "message_stop"}},
    ) == [Text(text="Do", partial=True), Thinking(text="hm", partial=True)]


def test_a_sub_agents_words_are_thoughts() -> None:
    done = {"type": "text", "text": "<task-done>t-abc123</task-done>"}
    assert read(said(done, parent_tool_use_id="c1")) == [Thinking(text=done["text"])]


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ({"command": "git  commit\n-m x"}, "git commit -m x"),
        ({"content": "x" * 5000, "file_path": "/a/b.py"}, "/a/b.py"),
        ({"pattern": "TODO", "path": "src"}, "TODO"),
        ({"url": "http://localhost", "prompt": "what?"}, "http://localhost"),
        ({"description": "look", "prompt": "a long one"}, "look"),
        ({"text": "hey"}, '{"text": "hey"}'),
        ({"command": ["ls"]}, '{"command": ["ls"]}'),
        ({}, ""),
    ],
)
def test_a_call_is_told_in_one_line(given_: dict[str, Any], told: str) -> None:
    (event,) = read(said({"type": "tool_use", "id": "c", "name": "T", "input": given_}))
    assert event == ToolUse(name="T", summary=told, call="c")


def test_a_long_call_and_a_long_result_are_cut() -> None:
    call, result = read(
        said({"type": "tool_use", "id": "c", "name": "T", "input": {"command": "x" * 10_000}}),
        {
            "type": "user",
            "message": {
                "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x" * 99_999}]
            },
        },
    )
    assert isinstance(call, ToolUse)
    assert len(call.summary) == 300
    assert isinstance(result, ToolResult)
    assert len(result.text) == 2000


def test_no_name_is_endless() -> None:
    endless = "x" * 1_000_000
    call, result, denied, last = read(
        said({"type": "tool_use", "id": endless, "name": endless, "input": {}}),
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": endless}]},
        },
        {
            **SUCCESS,
            "result": endless + "done",
            "modelUsage": {endless: {}},
            "permission_denials": [{"tool_name": endless}],
        },
    )
    assert isinstance(call, ToolUse)
    assert isinstance(result, ToolResult)
    assert call.call == result.call
    assert isinstance(denied, ToolDenied)
    assert isinstance(last, SessionResultEvent)
    assert max(map(len, (call.call, call.name, denied.name, last.model))) == 100


def test_results_of_tools_at_the_provider_close_their_calls() -> None:
    digest = StreamSummary()
    for event in read(
        said({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}),
        said({"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "x"}]}),
    ):
        digest.add(event)
    assert (digest.tool_uses, digest.open_calls) == (1, set())


def test_retries_and_other_models() -> None:
    assert read(
        {
            "type": "system",
            "subtype": "api_retry",
            "attempt": 2,
            "retry_delay_ms": 1500,
            "error_status": 529,
            "error": "overloaded",
        },
        {"type": "system", "subtype": "api_retry", "attempt": 1, "error": "unknown"},
        {"type": "system", "subtype": "model_fallback", "content": "Switched to Haiku"},
    ) == [
        AgentRetry(message="overloaded 529", attempt=2, delay_s=1.5),
        AgentRetry(message="no connection", attempt=1),
        AgentRetry(message="Switched to Haiku"),
    ]


def test_what_the_program_says_in_the_models_place_is_trouble() -> None:
    text = {"type": "text", "text": "Not logged in · Please run /login"}
    assert read(
        said(text, error="authentication_failed"),
        said(text, error="authentication_failed", parent_tool_use_id="c1"),
        {"type": "assistant", "message": {"model": "<synthetic>", "content": [text]}, "error": 5},
    ) == [
        AgentProblem(message=text["text"], failure=EndingKind.AUTH_EXPIRED),
        AgentProblem(message=text["text"]),
        AgentProblem(message=text["text"], failure=EndingKind.AUTH_EXPIRED),
    ]


def limit(**told: Any) -> AgentEvent:
    (event,) = read({"type": "rate_limit_event", "rate_limit_info": told})
    return event


def test_what_the_provider_says_about_the_allowance() -> None:
    assert limit(
        status="allowed_warning", resetsAt=1794731226, rateLimitType="five_hour", utilization=0.95
    ) == UsageLimit(
        status=LimitStatus.WARNING, resets_at=1794731226.0, window="five_hour", used=0.95
    )
    assert limit(status="rejected") == UsageLimit(status=LimitStatus.REJECTED)
    assert limit(status="rejected", resetsAt=-1, isUsingOverage=False) == UsageLimit(
        status=LimitStatus.REJECTED
    )


def test_who_pays_for_more_is_warned_and_not_stopped() -> None:
    assert limit(status="rejected", isUsingOverage=True) == UsageLimit(status=LimitStatus.WARNING)


def test_a_status_that_nobody_knows_is_unknown() -> None:
    assert isinstance(limit(status="maybe"), UnknownLine)


def test_the_result_sums_up_all_models_and_names_the_dearest() -> None:
    used = {
        "inputTokens": 10,
        "outputTokens": 3,
        "cacheReadInputTokens": 100,
        "cacheCreationInputTokens": 20,
    }
    assert read(
        {
            **SUCCESS,
            "total_cost_usd": 0.5,
            "num_turns": 3,
            "duration_ms": 1500,
            "usage": {"input_tokens": 0},
            "modelUsage": {"haiku": {**used, "costUSD": 0.1}, "opus": {**used, "costUSD": 0.4}},
            "permission_denials": [{"tool_name": "Write", "tool_input": {"file_path": "/a"}}],
        }
    ) == [
        ToolDenied(name="Write", summary="/a"),
        SessionResultEvent(
            text="done",
            model="opus",
            cost_usd=0.5,
            turns=3,
            duration_s=1.5,
            usage=TokenUsage(input_tokens=260, cached_tokens=200, output_tokens=6),
        ),
    ]


def test_numbers_that_make_no_sense_are_unknown() -> None:
    (event,) = read({**SUCCESS, "total_cost_usd": -1, "num_turns": 2**60, "duration_ms": "long"})
    assert event == SessionResultEvent(text="done")


def test_what_is_known_and_of_no_use_is_left_out_and_what_is_new_is_kept() -> None:
    assert read(
        {"type": "system", "subtype": "status"},
        {"type": "system", "subtype": "hook_started"},
        {"type": "system", "subtype": "dancing"},
        {"type": "tool_progress"},
    ) == [UnknownLine(line="system dancing"), UnknownLine(line='{"type": "tool_progress"}')]


# How its sessions end


@pytest.mark.parametrize(
    "line",
    [
        {**SUCCESS, "is_error": True},
        {**SUCCESS, "is_error": None},
        {**SUCCESS, "is_error": "false"},
        {**SUCCESS, "is_error": 0},
        {key: value for key, value in SUCCESS.items() if key != "is_error"},
        {**SUCCESS, "subtype": "error_during_execution"},
        {**SUCCESS, "subtype": None},
        {key: value for key, value in SUCCESS.items() if key != "subtype"},
    ],
)
def test_only_what_says_so_in_so_many_words_is_a_success(line: dict[str, Any]) -> None:
    assert ending(SUCCESS, code=1).ended is EndingKind.FINISHED
    found = ending(line, code=0)
    assert (found.ended, found.message) == (EndingKind.AGENT_ERROR, "")


@pytest.mark.parametrize(
    ("told", "ended"),
    [
        ({"subtype": "error_max_turns"}, EndingKind.TURN_LIMIT),
        ({"subtype": "error_max_budget_usd"}, EndingKind.BUDGET_LIMIT),
        ({"terminal_reason": "budget_exhausted"}, EndingKind.BUDGET_LIMIT),
        ({"terminal_reason": "blocking_limit"}, EndingKind.PROMPT_TOO_LONG),
        ({"terminal_reason": "aborted_streaming"}, EndingKind.KILLED),
        ({"stop_reason": "refusal", "result": "You've hit your limit"}, EndingKind.REFUSED),
        ({"result": "You've hit your limit · resets 3pm (UTC)"}, EndingKind.USAGE_LIMIT),
        ({"result": "You've hit your org's monthly spend limit"}, EndingKind.BILLING),
        ({"api_error_status": 400, "result": "Credit balance is too low"}, EndingKind.BILLING),
        ({"api_error_status": 401, "result": "API Error"}, EndingKind.AUTH_EXPIRED),
        ({"api_error_status": 402}, EndingKind.BILLING),
        ({"api_error_status": 413}, EndingKind.PROMPT_TOO_LONG),
        ({"api_error_status": 429}, EndingKind.RATE_LIMITED),
        (
            {
                "api_error_status": 429,
                "result": "API Error: Server is temporarily limiting requests"
                " (not your usage limit) · slow down",
            },
            EndingKind.RATE_LIMITED,
        ),
        ({"api_error_status": 503}, EndingKind.OVERLOADED),
        ({"result": "API Error: Connection error."}, EndingKind.NO_NETWORK),
        ({"result": "API Error: Unable to connect to API (ENOTFOUND)"}, EndingKind.NO_NETWORK),
        ({"result": "API Error: Unable to connect to API: SSL error (x)"}, EndingKind.OVERLOADED),
        ({"api_error_status": 404}, EndingKind.UNKNOWN_MODEL),
        (
            {"result": "I think that you've hit your limit, and are not logged in"},
            EndingKind.AGENT_ERROR,
        ),
    ],
)
def test_a_failure_is_what_the_program_says_it_is(told: dict[str, Any], ended: EndingKind) -> None:
    assert ending({**FAILURE, **told}).ended is ended


def test_a_failure_without_a_name_is_that_of_the_message_before_it() -> None:
    trouble = said({"type": "text", "text": "API Error"}, error="server_error")
    assert ending(trouble, FAILURE).ended is EndingKind.OVERLOADED
    assert (
        ending(trouble, said({"type": "text", "text": "on"}), FAILURE).ended
        is EndingKind.AGENT_ERROR
    )


def test_the_reset_is_read_from_the_event_and_else_from_the_words() -> None:
    failure = {**FAILURE, "result": "You've hit your limit · resets 3pm (UTC)"}
    rejected = {"status": "rejected", "resetsAt": NOON + 99}
    event = {"type": "rate_limit_event", "rate_limit_info": rejected}
    assert ending(event, failure).resets_at == NOON + 99
    assert ending(failure).resets_at == NOON + 3 * 3600
    assert ending({**FAILURE, "result": "You've hit your limit"}).resets_at is None


def test_a_limit_before_the_result_could_be_told_still_counts() -> None:
    words = {"type": "text", "text": "You've hit your limit · resets 3pm (UTC)"}
    found = ending(said(words, error="rate_limit"), code=143)
    assert (found.ended, found.resets_at) == (EndingKind.USAGE_LIMIT, NOON + 3 * 3600)


def test_an_allowance_that_only_money_brings_back_is_not_waited_for() -> None:
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}
    failure = {**FAILURE, "result": "Your org is out of usage · add funds to continue"}
    assert ending(event, failure).ended is EndingKind.BILLING


@given(
    words=st.sampled_from(
        [
            "You've hit your limit · resets 3pm (UTC)",
            "Not logged in · Please run /login",
            "API Error: 529 Overloaded",
            "Credit balance is too low",
        ]
    )
)
def test_what_the_model_writes_never_counts(words: str) -> None:
    text = said({"type": "text", "text": words})
    assert ending(text, {**SUCCESS, "result": words}).ended is EndingKind.FINISHED
    assert ending(text, code=0).ended is EndingKind.NO_RESULT
    assert ending(text, {**FAILURE, "subtype": "error_max_turns"}).ended is EndingKind.TURN_LIMIT
    assert ending(text, FAILURE).ended is EndingKind.AGENT_ERROR


@pytest.mark.parametrize(
    ("stderr", "ended"),
    [
        (
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security"
            " reasons\n",
            EndingKind.CANNOT_RUN_AS_ROOT,
        ),
        ("error: unknown option '--no-session-persistence'\n", EndingKind.NOT_INSTALLED),
        ("something else\n", EndingKind.NO_RESULT),
    ],
)
def test_what_stops_it_before_it_begins(stderr: str, ended: EndingKind) -> None:
    found = ending(stderr=stderr)
    assert found.ended is ended
    assert stderr.strip() in found.detail


def test_a_session_that_waited_for_its_sub_agents_speaks_twice() -> None:
    found = ending({**SUCCESS, "result": "I wait."}, {**SUCCESS, "result": "It is done."}, code=0)
    assert (found.ended, found.message) == (EndingKind.FINISHED, "I wait.\n\nIt is done.")
