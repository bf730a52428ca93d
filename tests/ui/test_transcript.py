"""A session read afterwards: every kind of event has its line, and pieces are told once."""

from typing import get_args

import pytest
from stories import START

from ralph.core import agent_events as agent
from ralph.core.agent_events import AgentEvent, LimitStatus
from ralph.ui.transcript import ERROR, MORE, TROUBLE, Transcript, transcript

WHOLE: tuple[AgentEvent, ...] = (
    agent.Started(model="opus-5"),
    agent.Thinking(text="Where is", partial=True),
    agent.Thinking(text="Where is it?\nHere, perhaps."),
    agent.ToolUse(name="Read", summary="src/index.py", call="1"),
    agent.ToolResult(call="1", text="def load():\n    ..."),
    agent.ToolUse(name="Bash", summary="pytest -q", call="2"),
    agent.ToolResult(
        call="2", text="exit 1\r\n" + "".join(f"\tE {n}\n" for n in range(9)), error=True
    ),
    agent.Denied(name="WebFetch", summary="https://example.com"),
    agent.Text(text="I so", partial=True),
    agent.Trouble(message="API Error: 529"),
    agent.Retry(message="overloaded", attempt=1, delay_s=0.5),
    agent.Text(text="I sort", partial=True),
    agent.Text(text=" twice.", partial=True),
    agent.Text(text="I sort twice.\n\n    a = b\x1b[2J\n"),
    agent.Usage(input_tokens=5),
    agent.Request(input_tokens=5),
    agent.Limit(status=LimitStatus.ALLOWED),
    agent.Limit(status=LimitStatus.WARNING, window="five_hour", used=0.9, resets_at=START),
    agent.Unknown(line='{"type": "new\x07"}'),
    agent.Result(text="I sort twice.\n\n    a = b\x1b[2J", turns=3, cost_usd=0.5),
)


def test_every_kind_of_event_is_told(utc: None) -> None:
    assert {type(event) for event in WHOLE} == set(get_args(AgentEvent))
    lines = transcript(WHOLE)
    assert (
        "\n".join(line.marked for line in lines)
        == """\
- started with opus-5
~ Where is it?
~ Here, perhaps.
> Read  src/index.py
    def load():
> Bash  pytest -q
  ✗ exit 1
    … 6 more lines
        E 6
        E 7
        E 8
! not permitted: WebFetch  https://example.com
! API Error: 529
! tries again (try 1, in 0.5s): overloaded
  I sort twice.

      a = b␛[2J
! 90% of the five hour allowance is used; it resets at 2026-07-30 12:00
    {"type": "new␇"}
- ended: 3 turns, $0.50"""
    )
    assert {line.tone.code for line in lines if line.tone in (ERROR, MORE)} == {"31"}


def test_what_was_begun_and_never_finished_is_told_at_the_end() -> None:
    told = Transcript()
    assert told.take(agent.Text(text="I was about", partial=True)) == []
    assert told.take(agent.Text(text=" to", partial=True)) == []
    assert [line.marked for line in told.end()] == ["  I was about to …"]
    assert told.end() == []


def test_a_result_that_says_something_new_is_told() -> None:
    lines = transcript([agent.Text(text="Working."), agent.Result(text="All done.")])
    assert [line.marked for line in lines] == ["  Working.", "  All done.", "- ended"]


def test_a_result_that_is_an_error_says_why() -> None:
    lines = transcript([agent.Result(error=True, detail="Credit balance is too low")])
    assert (lines[0].tone, lines[0].text) == (TROUBLE, "Credit balance is too low")
    assert transcript([agent.Result(error=True)])[0].text == "an error"


def test_what_the_program_said_just_before_is_not_said_again() -> None:
    limited = "You've hit your limit"
    lines = transcript([agent.Trouble(message=limited), agent.Result(error=True, detail=limited)])
    assert [line.marked for line in lines] == ["! You've hit your limit", "- ended"]


def test_a_result_without_words_adds_none() -> None:
    told = [agent.Text(text="Done."), agent.Result()]
    assert [line.marked for line in transcript(told)] == ["  Done.", "- ended"]
    failed = [agent.Trouble(message="402"), agent.Result(error=True)]
    assert [line.marked for line in transcript(failed)] == ["! 402", "- ended"]


@pytest.mark.parametrize("kind", [agent.Text, agent.Thinking])
def test_a_flood_of_pieces_is_not_kept(kind: type[agent.Text]) -> None:
    told = Transcript()
    for _ in range(1000):
        told.take(kind(text="x" * 10_000, partial=True))
    assert sum(len(line.text) for line in told.end()) < 200_000


def test_lines_are_bounded_whatever_an_agent_says() -> None:
    long = "y" * 3_000_000
    lines = transcript(
        [
            agent.ToolUse(name=long, summary=long),
            agent.ToolResult(text=long),
            agent.ToolResult(text=long, error=True),
            agent.Denied(name=long, summary=long),
            agent.Trouble(message=long),
            agent.Retry(message=long),
            agent.Unknown(line=long),
        ]
    )
    assert max(len(line.marked) for line in lines) < 2200
