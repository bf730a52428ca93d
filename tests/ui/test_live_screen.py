import fcntl
import io
import os
import re
from collections.abc import Callable

import pytest
from event_lists import (
    RUN,
    START,
    FrozenClock,
    Scene,
    Teller,
    a_board,
    a_good_task,
    a_hard_task,
    a_limit,
    play,
    show,
    the_start,
    the_story,
)
from vt import Terminal

from ralph.core import agent_events as agent
from ralph.core import events
from ralph.core.ids import TaskId, WorkerId
from ralph.ui.agent_activity import KEPT_ACTIONS, KEPT_CHARS
from ralph.ui.live_frame import fold_text
from ralph.ui.live_screen import LiveScreen
from ralph.ui.run_view import RunView
from ralph.ui.terminal import Size

TASK = TaskId("t-4f2a01")


class Screen:
    """The live view on a terminal that is looked at."""

    def __init__(self, columns: int = 80, lines: int = 24, **options: bool) -> None:
        self.stream = io.StringIO()
        self.clock = FrozenClock()
        self.run_view = a_board()
        self.terminal = Terminal(columns, lines)
        self.size = Size(columns, lines)
        self.sink = LiveScreen(
            self.stream, self.clock, self.run_view, size=lambda: self.size, **options
        )

    def play(self, *parts: Callable[[Teller], None]) -> "Screen":
        teller = Teller()
        teller.at = self.clock.at
        for part in parts:
            part(teller)
        return self.show(teller.scenes)

    def show(self, scenes: list[Scene]) -> "Screen":
        for scene in scenes:
            show(scene, self.sink, self.clock)
            self.look()
        return self

    def wait(self, seconds: float) -> "Screen":
        self.clock.at += seconds
        self.sink.tick()
        self.look()
        return self

    def look(self) -> str:
        self.terminal.feed(self.stream.getvalue()[self._seen :])
        self._seen = len(self.stream.getvalue())
        return self.terminal.text()  # type: ignore[no-any-return]

    _seen = 0


def test_the_view_while_an_agent_works() -> None:
    screen = Screen().play(the_start, lambda teller: a_part(teller, a_good_task, 10))

    assert (
        screen.look()
        == """\
· feature search  gates lint, types, test · paid by a Claude subscription (max)
! ANTHROPIC_API_KEY is not passed to the agent

Ralph · feature search · claude · opus-5 · bubblewrap                       17s
━━━━━━━━━━━━━━━───────────────────────────────────────  2 of 7 done · 1 warning

⠧ t-4f2a01 Read the search index from disk                                   5s
  │ Where is the index kept? Probably beside the database.
  │ Read  src/index.py
  │ I will write a reader that maps the file into memory.
  │
  │
  gates  lint ·  types ·  test ·
○ Show the hits
○ Write the manual page
  and 2 more

log  .ralph/runs/run-7c31-iter-1.log
Ctrl-C asks, twice ends the run · elsewhere: ralph pause, ralph status"""
    )


def a_part(teller: Teller, part: Callable[[Teller], None], scenes: int) -> None:
    """The first scenes of a part."""
    before = len(teller.scenes)
    part(teller)
    del teller.scenes[before + scenes :]


def test_the_view_at_the_end_is_what_stays_and_the_account() -> None:
    screen = Screen(columns=100).show(the_story())
    screen.sink.close()
    shown = screen.look()

    assert shown.endswith("""\
✓ t-77aa10 Fix ␛[31mred␛[0m and ␇bell�2J �gnp                        attempt 2 · 14s · cost unknown

complete, with failed tasks
  in all: 2 done · 1 failed · this run: 5 attempts · 2 commits · 3m 27s · $0.91 and 2 sessions
    of unknown cost
  paid by a Claude subscription (max) and an OpenAI API key
  ✗ t-9b1c22 Rank results by recency and by how often they were opened (attempt 2, 33s, $0.70):
    gate test fails (exit 1)
  ! 3 tool calls were not permitted: WebFetch, Bash (2); `ralph logs` shows them
  logs  .ralph/runs
  more  ralph report
  next  ralph logs t-9b1c22
        ralph task retry t-9b1c22 && ralph run
""")
    assert "Ctrl-C" not in shown
    assert shown.count("Read the search index from disk") == 1
    assert screen.terminal.cursor_shown


@pytest.mark.parametrize("lines", [3, 6, 10, 24, 60])
@pytest.mark.parametrize("columns", [12, 40, 80, 200])
def test_every_window_is_filled_and_none_is_overfilled(columns: int, lines: int) -> None:
    screen = Screen(columns, lines).play(the_start, a_good_task, a_hard_task, a_limit)
    assert screen.terminal.widest < columns
    assert screen.look().count("of 7 done") <= 1
    screen.play(lambda teller: teller.claims(TASK, "漢字 " * 80))
    assert screen.terminal.widest < columns
    frame = screen.look().split("Ralph ·")[-1]
    assert frame.count("\n") < lines


def test_a_title_full_of_escapes_does_nothing_to_the_terminal() -> None:
    # The terminal of these tests refuses every control that the view itself has no use for.
    screen = Screen().show(the_story())
    shown = screen.look()

    assert "Fix ␛[31mred␛[0m and ␇bell�2J �gnp" in shown
    assert "\x1b[31mred" not in screen.stream.getvalue()
    assert "\x1b[2J" not in screen.stream.getvalue()


def test_it_is_drawn_at_most_eight_times_a_second() -> None:
    screen = Screen().play(the_start)
    before = screen.stream.getvalue().count("\x1b[?2026h")
    for number in range(1000):
        screen.clock.at += 0.001
        screen.sink.agent_event(TASK, agent.Text(text=str(number)))
        screen.sink.tick()

    assert 7 <= screen.stream.getvalue().count("\x1b[?2026h") - before <= 8


def test_ctrl_c_is_answered_at_once_and_says_what_the_next_one_does() -> None:
    screen = Screen().play(the_start, lambda teller: a_part(teller, a_good_task, 10))
    screen.wait(1)
    assert "again" not in screen.look()
    screen.run_view.interrupted = lambda: "SIGINT"
    screen.wait(0.001)
    assert screen.look().endswith("\nstopping · Ctrl-C again ends the run at once")
    screen.run_view.interrupted = lambda: None
    screen.wait(0.001)
    assert "Ctrl-C asks, twice ends the run" in screen.look()


def test_between_sessions_ctrl_c_ends_the_run() -> None:
    assert "\nCtrl-C ends the run · in another" in Screen().play(the_start).look()


def test_a_flood_costs_neither_memory_nor_output() -> None:
    screen = Screen().play(the_start)
    screen.play(lambda teller: teller.claims(TASK, "flooded"))
    word, piece = agent.Text(text="word " * 20), agent.Text(text="word ", partial=True)
    for number in range(100_000):
        screen.clock.at = START + 30 + number / 20_000
        screen.sink.agent_event(TASK, word)
        screen.sink.agent_event(TASK, piece)

    actions = screen.run_view.activity.actions
    assert len(actions) <= KEPT_ACTIONS
    assert sum(len(action.text) for action in actions) <= KEPT_ACTIONS * KEPT_CHARS
    assert len(screen.stream.getvalue()) < 1_000_000


def test_a_flood_of_lines_that_stay_keeps_the_newest() -> None:
    screen = Screen().play(the_start)
    for number in range(5000):
        event = events.Warned(message=f"warning {number}")
        screen.sink.event(
            events.RecordedEvent(seq=number, time="2026-07-30T12:00:20Z", run_id=RUN, event=event)
        )
    shown = screen.wait(1).look()

    assert "! warning 4999" in shown
    assert shown.count("! warning") <= 501


def test_folding_keeps_a_command_apart_from_what_is_said_about_it() -> None:
    line = "  next  ralph run --workers 2   goes on where this ended"
    rows = ["  next  ralph run --workers 2   goes on", "where this ended"]
    assert fold_text(line, 40) == rows
    assert fold_text("  a/long/path", 8) == ["  a/long", "/path"]


def test_another_width_is_drawn_afresh_and_no_line_is_lost() -> None:
    screen = Screen(100, 30).play(the_start, a_good_task)
    screen.size = Size(50, 30)
    screen.wait(1)
    screen.size = Size(90, 30)
    shown = screen.wait(1).look()

    assert shown.count("Ralph · feature search") == 1
    assert shown.count("! ANTHROPIC_API_KEY") == 1
    assert shown.count("✓ t-4f2a01 Read the search index") == 1


def test_waiting_shows_how_long_and_why(utc: None) -> None:
    screen = Screen()

    def waits(teller: Teller) -> None:
        until = "2026-07-30T13:30:00Z"
        teller.event(events.RunWaiting(run_id=RUN, reason="usage limit of claude", until=until))

    screen.play(the_start, waits).wait(48)
    shown = screen.look()
    assert "! waiting (goes on at 13:30, in 1h 29m): usage limit of claude\n" in shown
    assert (
        """\
◷ waiting: goes on at 13:30, in 1:29:00
  │ usage limit of claude
  │ Ctrl-C and `ralph stop` lose nothing; `ralph resume` goes on at once
"""
        in shown
    )
    assert "\n  gates " not in shown
    assert "◷ waiting: goes on at 13:30, in 1:28:59\n" in screen.wait(1).look()
    assert "◷ waiting: goes on at 13:30, in 0:01\n" in screen.wait(5338).look()
    assert "◷ waiting: goes on now\n" in screen.wait(10).look()
    screen.play(lambda teller: teller.claims(TASK, "goes on"))
    assert "◷" not in screen.wait(1).look()


def test_a_short_wait_is_counted_down_and_leaves_no_line(utc: None) -> None:
    screen = Screen()

    def waits(teller: Teller) -> None:
        until = "2026-07-30T12:00:17Z"
        teller.event(events.RunWaiting(run_id=RUN, reason="overloaded", until=until))

    screen.play(the_start, waits).wait(1)
    assert "◷ waiting: goes on at 12:00, in 0:04\n" in screen.look()
    screen.play(lambda teller: teller.claims(TASK, "goes on"))
    assert "waiting:" not in screen.wait(1).look()


def test_a_small_window_has_the_reason_beside_the_countdown(utc: None) -> None:
    screen = Screen(80, 5)

    def waits(teller: Teller) -> None:
        until = "2026-08-01T09:30:00Z"
        teller.event(events.RunWaiting(run_id=RUN, reason="out of quota", until=until))

    screen.play(the_start, waits)
    shown = screen.wait(1).look()
    assert "◷ waiting: goes on at Sat 09:30, in 1d 21:29:47: out of quota" in shown


def test_pausing_shows_the_reason_and_what_was_asked_for() -> None:
    screen = Screen().play(the_start)
    screen.play(lambda teller: teller.event(events.ControlSent(word="pause")))
    assert "pause asked for · Ctrl-C" in screen.wait(1).look()
    screen.play(lambda teller: teller.event(events.RunPaused(run_id=RUN, reason="by a person")))

    assert "‖ paused: by a person" in screen.wait(1).look()
    assert "pause asked for · Ctrl-C" not in screen.look()


def test_an_error_takes_at_most_five_lines() -> None:
    screen = Screen(100, 60).play(the_start)
    screen.play(lambda teller: teller.claims(TASK, "one"))
    trace = "\n".join(f"line {number}" for number in range(50))
    screen.sink.agent_event(TASK, agent.ToolResult(text=trace, error=True))

    shown = screen.wait(1).look()
    rows = [row.split("│ ")[1] for row in shown.splitlines() if "│ " in row]
    assert rows == ["✗ line 0", "  … 46 more lines", "  line 47", "  line 48", "  line 49"]
    assert "\x1b[31m  line 49" in screen.stream.getvalue()


def test_the_colours_of_a_tools_output_are_left_out_and_the_rest_of_it_is_harmless() -> None:
    screen = Screen().play(the_start)
    screen.play(lambda teller: teller.claims(TASK, "one"))
    text = "\x1b[1;31mE\x1b[0m no\x1b\x1b[31m[2J\x1b]0;title\x07"
    screen.sink.agent_event(TASK, agent.ToolResult(text=text, error=True))
    screen.wait(1)

    assert rows_of(screen)[0] == "✗ E no␛[2J␛]0;title␇"


def rows_of(screen: Screen) -> list[str]:
    """What the agent does, as it is shown."""
    return [row.split("│ ")[1] for row in screen.look().splitlines() if "│ " in row]


def test_what_the_agent_does_is_shown_as_it_does_it() -> None:
    screen = Screen(80, 40).play(the_start)
    screen.play(lambda teller: teller.claims(TASK, "one"))

    def say(event: agent.AgentEvent) -> list[str]:
        screen.sink.agent_event(TASK, event)
        screen.wait(1)
        return rows_of(screen)

    assert say(agent.Thinking(text="Where", partial=True)) == ["Where"]
    assert say(agent.Thinking(text=" is it?", partial=True)) == ["Where is it?"]
    assert say(agent.Thinking(text="Where is it?")) == ["Where is it?"]
    assert say(agent.Text(text="I look.")) == ["Where is it?", "I look."]
    assert say(agent.ToolUse(name="Bash", summary="make", call="1"))[-1] == "Bash  make …"
    screen.wait(70)
    assert rows_of(screen)[-1] == "Bash  make … 1m 11s"
    assert say(agent.ToolResult(call="1", text="fine"))[-1] == "Bash  make"
    assert say(agent.ToolDenied(name="Bash", summary="rm x"))[-1] == "not permitted  Bash rm x"
    assert say(agent.AgentProblem(message="API Error: 529"))[-1] == "✗ API Error: 529"
    assert say(agent.AgentRetry(message="529", attempt=3))[-1] == "! tries again (try 3): 529"
    assert len(rows_of(screen)) == 6
    drawn = screen.stream.getvalue()
    assert "\x1b[2;3mWhere is it?" in drawn
    assert "\x1b[0m I look." in drawn
    assert "\x1b[36mBash\x1b[0m\x1b[2m  make" in drawn
    assert "\x1b[1;31mnot permitted" in drawn
    assert "\x1b[31m✗ API Error: 529" in drawn
    assert "\x1b[33m! tries again" in drawn


def test_a_long_silence_is_told_unless_a_tool_is_at_work() -> None:
    screen = Screen().play(the_start)
    screen.play(
        lambda teller: teller.claims(TASK, "one"), lambda teller: teller.session(TASK, "one")
    )
    assert "quiet" not in screen.wait(30).look()
    assert "quiet for 1m 40s · 1m 40s" in screen.wait(70).look()
    screen.sink.agent_event(TASK, agent.ToolUse(name="Bash", summary="make", call="1"))
    assert "quiet" not in screen.wait(100).look()


def test_cost_nobody_reports_is_unknown_and_never_nothing() -> None:
    screen = Screen().play(the_start, a_limit)
    screen.wait(1)
    header = next(line for line in screen.look().splitlines() if line.startswith("Ralph"))

    assert header.endswith("cost unknown")
    assert "$0" not in screen.look()


def test_a_gate_that_was_red_before_the_work_says_so() -> None:
    screen = Screen().play(the_start)
    taken = events.BaselineTaken(run_id=RUN, red=("test",), green=("lint", "types"))
    screen.play(lambda teller: teller.event(taken))

    assert "test · (red before)" in screen.wait(1).look()


def test_the_log_is_a_link_to_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    screen = Screen().play(the_start, lambda teller: a_part(teller, a_good_task, 3))
    screen.wait(1)
    links = re.findall(r"\x1b\]8;([^;]*);(file://[^\x1b]+)\x1b", screen.stream.getvalue())

    # No id: one that changed with every frame would flicker under the mouse.
    assert set(links) == {
        ("", f"file://{os.uname().nodename}/home/ann/demo/.ralph/runs"),
        ("", f"file://{os.uname().nodename}/home/ann/demo/.ralph/runs/run-7c31-iter-1.log"),
    }


def test_the_logs_of_a_run_that_is_over_are_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    screen = Screen()
    screen.run_view.logs = "/home/ann/demo/.ralph/runs"
    screen.show(the_story())
    end = screen.stream.getvalue().split("complete, with failed tasks")[1]

    url = f"file://{os.uname().nodename}/home/ann/demo/.ralph/runs"
    assert f"\x1b]8;;{url}\x1b\\\x1b[2mlogs  /home/ann/demo/.ralph/runs" in end


def test_a_terminal_that_would_show_the_address_gets_no_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "linux")
    screen = Screen().play(the_start).wait(1)

    assert "log  .ralph/runs" in screen.look()
    assert "\x1b]8" not in screen.stream.getvalue()


@pytest.mark.parametrize("by", ["option", "environment"])
def test_colours_can_be_switched_off(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = re.compile(r"\x1b\[[0-9;]*3[0-7]")
    assert coloured.search(Screen().show(the_story()).stream.getvalue())
    if by == "environment":
        monkeypatch.setenv("NO_COLOR", "1")
        plain = Screen()
    else:
        plain = Screen(color=False)

    assert not coloured.search(plain.show(the_story()).stream.getvalue())


def test_closing_in_the_middle_takes_the_region_away_and_shows_the_cursor() -> None:
    screen = Screen().play(the_start, a_good_task)
    assert not screen.terminal.cursor_shown
    screen.sink.close()

    starts = [line[:10] for line in screen.look().splitlines()]
    assert starts == ["· feature ", "! ANTHROPI", "✓ t-4f2a01"]
    assert screen.terminal.cursor_shown


def test_a_terminal_that_goes_away_stops_nothing() -> None:
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w", encoding="utf-8")
    os.close(reading)
    clock = FrozenClock()
    live = LiveScreen(stream, clock, a_board())

    play(the_story(), live, clock)
    live.close()

    stream.close()


def test_a_terminal_that_is_held_holds_no_loop_and_loses_no_line() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    full = b"\0" * 65536
    while os.get_blocking(writing) is False:
        try:
            os.write(writing, full)
        except BlockingIOError:
            break
    os.set_blocking(writing, True)
    clock = FrozenClock()
    with os.fdopen(writing, "w", encoding="utf-8") as stream, os.fdopen(reading, "rb") as out:
        live = LiveScreen(stream, clock, RunView())
        teller = Teller()
        the_start(teller)
        a_good_task(teller)
        play(teller.scenes, live, clock)  # would never return if it waited for the reader

        fcntl.fcntl(reading, fcntl.F_SETFL, os.O_NONBLOCK)
        out.read()
        clock.at += 1
        live.tick()
        assert "✓".encode() in out.read()


@pytest.mark.parametrize(("sandbox", "shown"), [("off", "sandbox off"), ("landlock", "landlock")])
def test_the_header_says_which_sandbox_stands(sandbox: str, shown: str) -> None:
    def start(teller: Teller) -> None:
        started = events.RunStarted(
            run_id=RUN,
            worker=WorkerId("agent-1"),
            target="all tasks",
            agent="claude",
            checkout="/x",
            sandbox=sandbox,
        )
        teller.event(started)

    screen = Screen().play(start).wait(1)
    header = next(line for line in screen.look().splitlines() if line.startswith("Ralph"))
    assert f" · {shown}" in header
