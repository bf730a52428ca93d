"""An agent's events in words: bounded, safe, and with moments on the person's own clock."""

import os

import pytest
from event_lists import START

from ralph.core import agent_events as agent
from ralph.core.agent_events import LimitStatus
from ralph.core.session_ending import EndingKind
from ralph.ui.agent_activity import (
    action_of,
    limit_text,
    result_facts,
    retry_text,
)
from ralph.ui.formatting import denials, excerpt, format_countdown, format_time
from ralph.ui.terminal import file_url, knows_links, linked

DAY = 86400.0


def text_of(event: agent.AgentEvent) -> str:
    action = action_of(event)
    assert action is not None
    return action.text


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (
            agent.UsageLimit(
                status=LimitStatus.WARNING, window="five_hour", used=0.954, resets_at=START + 7500
            ),
            "95% of the five hour allowance is used; it resets at 14:05",
        ),
        (
            agent.UsageLimit(
                status=LimitStatus.WARNING, window="seven_day", resets_at=START + 2 * DAY
            ),
            "the seven day allowance is nearly used up; it resets at Sat 12:00",
        ),
        (
            agent.UsageLimit(status=LimitStatus.REJECTED, resets_at=START + 30 * DAY),
            "the allowance is used up; it resets at 2026-08-29 12:00",
        ),
        (agent.UsageLimit(status=LimitStatus.REJECTED), "the allowance is used up"),
        (
            agent.UsageLimit(status=LimitStatus.REJECTED, window="\x1b[2J", resets_at=1e300),
            "the ␛[2J allowance is used up",
        ),
        (
            agent.UsageLimit(status=LimitStatus.WARNING, used=1e200, resets_at=-1e18),
            "the allowance is nearly used up",
        ),
    ],
)
def test_limits_say_which_how_much_and_until_when(
    utc: None, limit: agent.UsageLimit, words: str
) -> None:
    assert limit_text(limit, START) == words


@pytest.mark.parametrize(
    ("retry", "words"),
    [
        (agent.AgentRetry(), "tries again"),
        (
            agent.AgentRetry(message="over\nloaded", attempt=2, delay_s=4.0),
            "tries again (try 2, in 4.0s): over loaded",
        ),
        (agent.AgentRetry(attempt=-1, delay_s=1e99), "tries again"),
    ],
)
def test_retries_say_which_when_and_why(retry: agent.AgentRetry, words: str) -> None:
    assert retry_text(retry) == words


def test_trouble_without_words_is_named_by_its_kind() -> None:
    assert text_of(agent.AgentProblem(message="401 no")) == "401 no"
    assert text_of(agent.AgentProblem(failure=EndingKind.AUTH_EXPIRED)) == "auth expired"
    assert text_of(agent.AgentProblem()) == "something failed"


def test_a_denial_names_the_tool_and_what_it_wanted() -> None:
    assert text_of(agent.ToolDenied(name="Bash", summary="rm -rf\n\x1b]8")) == "Bash  rm -rf ␛]8"
    assert text_of(agent.ToolDenied(name="Bash")) == "Bash"
    assert denials({"Bash": 2, "Write": 1}) == "Bash (2), Write"
    assert denials({str(number): 1 for number in range(9)}) == "0, 1, 2, 3, 4 and 4 more"


def test_a_result_tells_only_what_it_knows() -> None:
    usage = agent.TokenUsage(input_tokens=12_000, cached_tokens=9_000, output_tokens=340)
    whole = agent.SessionResultEvent(turns=12, duration_s=95, cost_usd=0.21, usage=usage)
    assert list(result_facts(whole)) == [
        "12 turns",
        "1m 35s",
        "$0.21",
        "12,000 tokens in (9,000 cached), 340 out",
    ]
    assert (
        list(result_facts(agent.SessionResultEvent(duration_s=-5, usage=agent.TokenUsage()))) == []
    )


@pytest.mark.parametrize(
    ("left", "shown"),
    [
        (0, "0:00"),
        (-5, "0:00"),
        (59.9, "0:59"),
        (1390, "23:10"),
        (3600, "1:00:00"),
        (2 * DAY + 61, "2d 0:01:01"),
    ],
)
def test_a_countdown_has_the_seconds(left: float, shown: str) -> None:
    assert format_countdown(left) == shown


def test_a_moment_that_is_none_is_not_shown(utc: None) -> None:
    assert (
        format_time(None)
        == format_time(float("nan"))
        == format_time(float("inf"))
        == format_time(1e15)
        == ""
    )
    assert format_time(START) == "2026-07-30 12:00"
    assert format_time(START, START + 60) == "12:00"


def test_a_long_list_keeps_its_first_line_and_its_last_ones() -> None:
    lines = [str(number) for number in range(10)]
    assert excerpt(lines, 10) == lines
    assert excerpt(lines, 5) == ["0", "… 6 more lines", "7", "8", "9"]
    assert excerpt(lines, 3) == ["0", "… 8 more lines", "9"]
    assert excerpt(lines, 2) == ["0", "1"]


def test_a_link_can_carry_any_name_and_none_can_break_out_of_it() -> None:
    host = os.uname().nodename
    assert file_url("/a b/ü;%") == f"file://{host}/a%20b/%C3%BC%3B%25"
    evil = linked("shown", "/x\x1b\\\x07\n\udcff/\u202e")
    assert evil == f"\x1b]8;;file://{host}/x%1B%5C%07%0A%FF/%E2%80%AE\x1b\\shown\x1b]8;;\x1b\\"
    assert knows_links({"TERM": "xterm-256color"})
    assert not any(knows_links(env) for env in ({}, {"TERM": "dumb"}, {"TERM": "linux"}))
