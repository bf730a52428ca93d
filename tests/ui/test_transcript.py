"""A session read afterwards: every kind of event has its line, and pieces are told once."""

from pathlib import Path
from typing import get_args

import pytest
from event_lists import START
from msgspec.json import encode

from ralph.core import agent_events as agent
from ralph.core.agent_events import AgentEvent, LimitStatus
from ralph.ui.agent_activity import ActivityKind
from ralph.ui.session_stream import read_page
from ralph.ui.transcript import MORE, STYLES, Transcript, transcript_lines

WHOLE: tuple[AgentEvent, ...] = (
    agent.AgentStarted(model="opus-5"),
    agent.Thinking(text="Where is", partial=True),
    agent.Thinking(text="Where is it?\nHere, perhaps."),
    agent.ToolUse(name="Read", summary="src/index.py", call="1"),
    agent.ToolResult(call="1", text="def load():\n    ..."),
    agent.ToolUse(name="Bash", summary="pytest -q", call="2"),
    agent.ToolResult(
        call="2", text="exit 1\r\n" + "".join(f"\tE {n}\n" for n in range(9)), error=True
    ),
    agent.ToolDenied(name="WebFetch", summary="https://example.com"),
    agent.Text(text="I so", partial=True),
    agent.AgentProblem(message="API Error: 529"),
    agent.AgentRetry(message="overloaded", attempt=1, delay_s=0.5),
    agent.Text(text="I sort", partial=True),
    agent.Text(text=" twice.", partial=True),
    agent.Text(text="I sort twice.\n\n    a = b\x1b[2J\n"),
    agent.TokenUsage(input_tokens=5),
    agent.ModelRequest(input_tokens=5),
    agent.UsageLimit(status=LimitStatus.ALLOWED),
    agent.UsageLimit(status=LimitStatus.WARNING, window="five_hour", used=0.9, resets_at=START),
    agent.UnknownLine(line='{"type": "new\x07"}'),
    agent.SessionResultEvent(text="I sort twice.\n\n    a = b\x1b[2J", turns=3, cost_usd=0.5),
)


def test_every_kind_of_event_is_told(utc: None) -> None:
    assert {type(event) for event in WHOLE} == set(get_args(AgentEvent))
    lines = transcript_lines(WHOLE)
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
    assert {
        line.tone.code for line in lines if line.tone in (STYLES[ActivityKind.ERROR], MORE)
    } == {"31"}


def test_what_was_begun_and_never_finished_is_told_at_the_end() -> None:
    transcript = Transcript()
    assert transcript.add(agent.Text(text="I was about", partial=True)) == []
    assert transcript.add(agent.Text(text=" to", partial=True)) == []
    assert [line.marked for line in transcript.end()] == ["  I was about to …"]
    assert transcript.end() == []


def test_a_result_that_says_something_new_is_told() -> None:
    lines = transcript_lines(
        [agent.Text(text="Working."), agent.SessionResultEvent(text="All done.")]
    )
    assert [line.marked for line in lines] == ["  Working.", "  All done.", "- ended"]


def test_a_result_that_is_an_error_says_why() -> None:
    lines = transcript_lines(
        [agent.SessionResultEvent(error=True, detail="Credit balance is too low")]
    )
    assert (lines[0].tone, lines[0].text) == (
        STYLES[ActivityKind.PROBLEM],
        "Credit balance is too low",
    )
    assert transcript_lines([agent.SessionResultEvent(error=True)])[0].text == "an error"


def test_what_the_program_said_just_before_is_not_said_again() -> None:
    limited = "You've hit your limit"
    lines = transcript_lines(
        [agent.AgentProblem(message=limited), agent.SessionResultEvent(error=True, detail=limited)]
    )
    assert [line.marked for line in lines] == ["! You've hit your limit", "- ended"]


def test_a_result_without_words_adds_none() -> None:
    said_events = [agent.Text(text="Done."), agent.SessionResultEvent()]
    assert [line.marked for line in transcript_lines(said_events)] == ["  Done.", "- ended"]  # type: ignore[arg-type]
    failed = [agent.AgentProblem(message="402"), agent.SessionResultEvent(error=True)]
    assert [line.marked for line in transcript_lines(failed)] == ["! 402", "- ended"]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [agent.Text, agent.Thinking])
def test_a_flood_of_pieces_is_not_kept(kind: type[agent.Text]) -> None:
    transcript = Transcript()
    for _ in range(1000):
        transcript.add(kind(text="x" * 10_000, partial=True))
    assert sum(len(line.text) for line in transcript.end()) < 200_000


def test_lines_are_bounded_whatever_an_agent_says() -> None:
    long = "y" * 3_000_000
    lines = transcript_lines(
        [
            agent.ToolUse(name=long, summary=long),
            agent.ToolResult(text=long),
            agent.ToolResult(text=long, error=True),
            agent.ToolDenied(name=long, summary=long),
            agent.AgentProblem(message=long),
            agent.AgentRetry(message=long),
            agent.UnknownLine(line=long),
        ]
    )
    assert max(len(line.marked) for line in lines) < 2200


def test_a_long_stream_is_read_in_pages_of_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = [encode(agent.Text(text=f"line {number}")) + b"\n" for number in range(10)]
    path.write_bytes(b"".join(lines) + b'{"event": "te')
    seen: list[AgentEvent] = []
    at = pages = 0
    while True:
        page = read_page(str(path), at, most=120)
        seen += page.events
        at, pages = page.next, pages + 1
        if page.is_last:
            break
    assert [one.text for one in seen if isinstance(one, agent.Text)] == [
        f"line {number}" for number in range(10)
    ]
    assert pages > 2
    assert at == sum(map(len, lines)), "a line that is being written is read later"
    assert read_page(str(tmp_path / "none"), 7).next == 7
