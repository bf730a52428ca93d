import io
import os
from pathlib import Path

import pytest
from event_lists import START, FrozenClock, Teller, a_board, play, the_story

from ralph.core import agent_events as agent
from ralph.core import events, session_events
from ralph.core.ids import RunId, SessionId, TaskId
from ralph.core.memory import MemoryKind
from ralph.core.run import RunOutcome
from ralph.core.session_events import SessionHandedOver, WrapUpAsked
from ralph.core.times import to_iso
from ralph.ui.plain_screen import PER_SECOND, PlainScreen

TASK = TaskId("t-000001")
WHOLE = (Path(__file__).parent / "the_story.txt").read_text(encoding="utf-8")


def a_plain(stream: io.StringIO) -> tuple[PlainScreen, FrozenClock]:
    clock = FrozenClock()
    return PlainScreen(stream, clock, a_board()), clock


def test_the_whole_story_in_plain_lines(utc: None) -> None:
    stream = io.StringIO()
    plain, clock = a_plain(stream)
    play(the_story(), plain, clock)
    plain.close()

    assert stream.getvalue() == WHOLE


def test_nothing_that_moves_a_cursor_reaches_a_log() -> None:
    assert all(char.isprintable() or char == "\n" for char in WHOLE)


def test_of_many_tool_uses_in_a_second_a_few_are_shown_and_the_rest_is_counted(utc: None) -> None:
    stream = io.StringIO()
    plain, clock = a_plain(stream)
    for number in range(1000):
        plain.agent_event(TASK, agent.ToolUse(name="Read", summary=f"file-{number}"))
    plain.tick()
    assert len(stream.getvalue().splitlines()) == PER_SECOND

    clock.at += 1
    plain.tick()
    assert stream.getvalue().endswith("12:00:01 … and 995 more, in the log\n")
    plain.agent_event(TASK, agent.ToolUse(name="Read", summary="after"))
    plain.close()
    assert stream.getvalue().endswith("12:00:01 t-000001   Read: after\n")


def test_what_was_left_out_is_owned_up_to_at_the_end() -> None:
    stream = io.StringIO()
    plain, _ = a_plain(stream)
    for _ in range(7):
        plain.agent_event(TASK, agent.ToolUse(name="Read"))
    plain.close()

    assert stream.getvalue().endswith("… and 2 more, in the log\n")


def test_a_flood_of_text_is_not_shown_and_not_kept() -> None:
    stream = io.StringIO()
    plain, clock = a_plain(stream)
    word, piece = agent.Text(text="word"), agent.Text(text="word", partial=True)
    for number in range(500_000):
        clock.at = START + number / 10_000
        plain.agent_event(TASK, word)
        plain.agent_event(TASK, piece)

    assert stream.getvalue() == ""


def test_a_title_of_a_megabyte_makes_one_short_line() -> None:
    stream = io.StringIO()
    plain, clock = a_plain(stream)
    teller = Teller()
    teller.session(TASK, "long " * 200_000)
    teller.says(TASK, agent.ToolUse(name="Bash", summary="x\ny" * 500_000))
    teller.event(events.Warned(message="w" * 1_000_000))
    play(teller.scenes, plain, clock)

    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) < 1100


def test_a_warning_is_shown_with_the_command_at_its_end() -> None:
    stream = io.StringIO()
    plain, clock = a_plain(stream)
    teller = Teller()
    names = ", ".join(f"some/file-{number}.txt" for number in range(20))
    teller.event(events.Warned(message=f"changed: {names}; `git restore` brings yours back"))
    play(teller.scenes, plain, clock)
    assert stream.getvalue().endswith("`git restore` brings yours back\n")


def test_a_reader_that_goes_away_stops_nothing() -> None:
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w", encoding="utf-8")
    os.close(reading)
    clock = FrozenClock()
    plain = PlainScreen(stream, clock, a_board())

    play(the_story(), plain, clock)
    plain.close()

    # The descriptor leads nowhere now, so that the flush at Python's exit cannot fail either.
    stream.close()


def test_a_stream_that_is_closed_stops_nothing() -> None:
    stream = io.StringIO()
    plain, clock = a_plain(stream)
    stream.close()

    play(the_story(), plain, clock)
    plain.close()


def test_a_terminal_without_unicode_gets_question_marks_and_no_crash() -> None:
    raw = io.BytesIO()
    clock = FrozenClock()
    plain = PlainScreen(io.TextIOWrapper(raw, encoding="latin-1"), clock, a_board())

    play(the_story(), plain, clock)

    assert b"? t-4f2a01 Read the search index from disk (20s, $0.21)" in raw.getvalue()


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            events.BaselineTaken(run_id="r", red=("test",), green=()),  # type: ignore[arg-type]
            "red before the work: gates that fail: test",
        ),
        (events.ControlSent(word="pause"), "pause asked for"),
        (
            WrapUpAsked(
                session_id=SessionId("x"), task_id=TASK, reason="it is full", used=2, capacity=3
            ),
            "t-000001 asked to wrap up: it is full",
        ),
        (
            SessionHandedOver(
                session_id=SessionId("x"),
                task_id=TASK,
                number=1,
                reason="it is full",
                ended="finished",
                used=2,
                capacity=3,
                duration_s=60.0,
                cost_usd=0.25,
            ),
            "t-000001 handed over to a fresh session (1m 00s, $0.25): it is full",
        ),
        (
            events.GateEnded(task_id=TASK, name="test", passed=False, code=None, duration_s=600),
            "t-000001 gate test failed (out of time, 10m 00s)",
        ),
        (
            events.SessionEnded(
                session_id="s",  # type: ignore[arg-type]
                task_id=TASK,
                ended="timed_out",
                duration_s=2700,
                swept=2,
            ),
            "t-000001 session ended: timed out "
            "(45m 00s, cost unknown, 2 processes left behind and ended)",
        ),
        (
            events.SessionEnded(
                session_id="s",  # type: ignore[arg-type]
                task_id=TASK,
                ended="finished",
                duration_s=60,
                cost_usd=0.12,
                estimated=True,
            ),
            "t-000001 session finished (1m 00s, ~$0.12)",
        ),
        (
            events.ModelOverridden(
                task_id=TASK, model="opus", planned="sonnet", strategy="cost-optimized"
            ),
            "t-000001 model opus: the last session asked for it, instead of sonnet",
        ),
        (
            session_events.VerificationStarted(
                session_id="s",  # type: ignore[arg-type]
                task_id=TASK,
                number=1,
                agent="codex",
                model="opus",
                account="a subscription",
                log="log",
            ),
            "t-000001 verification (codex opus, a subscription)",
        ),
        (
            session_events.VerificationEnded(
                session_id="s",  # type: ignore[arg-type]
                task_id=TASK,
                number=1,
                passed=True,
                ended="finished",
                duration_s=60,
            ),
            "t-000001 verification passed (1m 00s, cost unknown)",
        ),
        (
            session_events.VerificationEnded(
                session_id="s",  # type: ignore[arg-type]
                task_id=TASK,
                number=1,
                passed=False,
                reason="no tests",
                ended="finished",
                duration_s=60,
            ),
            "t-000001 verification failed (1m 00s, cost unknown): no tests",
        ),
        (
            session_events.VerificationEnded(
                session_id="s",  # type: ignore[arg-type]
                task_id=TASK,
                number=1,
                passed=None,
                reason="exit code 1",
                ended="no_result",
                duration_s=60,
            ),
            "t-000001 verification came to nothing: no result (1m 00s, cost unknown): exit code 1",
        ),
    ],
)
def test_single_events_in_words(utc: None, event: events.Event, line: str) -> None:
    stream = io.StringIO()
    plain, clock = a_plain(stream)
    teller = Teller()
    teller.event(event, after=0.0)
    play(teller.scenes, plain, clock)

    assert stream.getvalue() == f"12:00:00 {line}\n"


def test_a_run_without_a_readable_time_is_still_told() -> None:
    stream = io.StringIO()
    plain, _ = a_plain(stream)
    ended = events.RunEnded(run_id="r", outcome=RunOutcome.PAUSED, exit_code=6)  # type: ignore[arg-type]
    plain.event(
        events.RecordedEvent(seq=1, time="", run_id=None, event=events.Warned(message="so"))
    )
    plain.event(events.RecordedEvent(seq=2, time="", run_id=None, event=ended))

    assert stream.getvalue().startswith("--:--:-- warning: so\n\npaused\n")


def test_an_end_that_was_announced_as_trouble_is_told_once(utc: None) -> None:
    stream = io.StringIO()
    plain, _ = a_plain(stream)
    plain.agent_event(TASK, agent.AgentProblem(message="API Error: 401"))
    plain.agent_event(TASK, agent.SessionResultEvent(error=True, detail="API Error: 401"))
    plain.agent_event(TASK, agent.SessionResultEvent(error=True, detail="API Error: 500"))

    assert stream.getvalue().splitlines() == [
        "12:00:00 t-000001   trouble: API Error: 401",
        "12:00:00 t-000001   ends with an error: API Error: 500",
    ]


def test_what_a_person_must_not_miss_gets_through_a_flood_of_tools() -> None:
    stream = io.StringIO()
    plain, _ = a_plain(stream)
    for _ in range(100):
        plain.agent_event(TASK, agent.ToolUse(name="Read"))
    plain.agent_event(TASK, agent.ToolDenied(name="Bash", summary="rm x"))
    plain.agent_event(TASK, agent.UsageLimit(status=agent.LimitStatus.WARNING, used=0.8))
    shown = stream.getvalue()

    assert "not permitted: Bash rm x\n" in shown
    assert "80% of the allowance is used\n" in shown
    for _ in range(1000):
        plain.agent_event(TASK, agent.ToolDenied(name="Bash", summary="rm x"))
    assert len(stream.getvalue().splitlines()) <= 21


def test_the_last_words_of_an_agent_whose_result_does_not_repeat_them(utc: None) -> None:
    stream = io.StringIO()
    plain, _ = a_plain(stream)
    plain.agent_event(TASK, agent.Text(text="all is well"))
    plain.agent_event(TASK, agent.SessionResultEvent())
    assert stream.getvalue().endswith("t-000001   says: all is well\n")


def test_what_a_session_learned_is_told_but_not_its_notes(utc: None) -> None:
    stream = io.StringIO()
    plain, clock = a_plain(stream)
    teller = Teller()
    for kind, title in ((MemoryKind.KNOWLEDGE, "The pool is small"), (MemoryKind.JOURNAL, "x")):
        event = events.MemoryKept(memory_id=1, task_id=TASK, kind=kind, title=title)
        teller.event(event, after=0.0)
    teller.event(
        events.MemoryForgotten(memory_id=1, task_id=TASK, title="The pool is small"), after=0.0
    )
    play(teller.scenes, plain, clock)
    plain.close()
    assert stream.getvalue().splitlines() == [
        "12:00:00 t-000001 learned: The pool is small",
        "12:00:00 t-000001 forgotten: The pool is small",
    ]


def test_a_cooldown_is_counted_down_minute_by_minute(utc: None) -> None:
    stream = io.StringIO()
    plain, clock = a_plain(stream)
    opened = events.BreakerOpened(
        run_id=RunId("run-1"),
        slot="teammate-1",
        reason="3 failures in a row",
        recovery="back-off",
        until=to_iso(clock.at + 150.0),
    )
    plain.event(
        events.RecordedEvent(seq=1, time=to_iso(clock.at), run_id=RunId("run-1"), event=opened)
    )
    first = stream.getvalue()
    assert "goes on at 12:02:30, in 2m 30s" in first
    for _ in range(151):
        plain.tick()
        clock.at += 1
    said = stream.getvalue().removeprefix(first).splitlines()
    assert [line.partition(": ")[2] for line in said] == [
        "goes on in 2m 00s: the breaker is open: 3 failures in a row",
        "goes on in 1m 00s: the breaker is open: 3 failures in a row",
    ]
