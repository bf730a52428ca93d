"""Whatever an agent says, in whatever order: screens stay up, stay small, and stay harmless."""

import io

from event_lists import FrozenClock, Teller, a_board, show, the_start
from hypothesis import given, settings
from hypothesis import strategies as st
from vt import Terminal

from ralph.core import agent_events as agent
from ralph.core.ids import TaskId
from ralph.core.session_ending import EndingKind
from ralph.ui.live_screen import LiveScreen
from ralph.ui.plain_screen import PlainScreen
from ralph.ui.terminal import Size
from ralph.ui.transcript import transcript_lines

TASK = TaskId("t-000001")
NASTY = ["\x1b[2J", "\x1b]8;;http://x\x07", "\x9b31m", "\x00", "\r\n", "\t", "\u202e", "\u2028"]
words = st.text(max_size=60) | st.lists(
    st.sampled_from([*NASTY, "漢", "e\u0301", "👩\u200d🚀", "a", " ", "\n", "\ud800"]), max_size=40
).map("".join)
numbers = st.none() | st.floats() | st.integers(-(10**30), 10**30).map(float)
counts = st.integers(-5, 10**18)
said = st.one_of(
    st.builds(agent.AgentStarted, model=words),
    st.builds(agent.Text, text=words, partial=st.booleans()),
    st.builds(agent.Thinking, text=words, partial=st.booleans()),
    st.builds(agent.ToolUse, name=words, summary=words, call=st.sampled_from(["", "1", "2"])),
    st.builds(
        agent.ToolResult, call=st.sampled_from(["", "1", "2"]), text=words, error=st.booleans()
    ),
    st.builds(agent.ToolDenied, name=words, summary=words),
    st.builds(agent.TokenUsage, input_tokens=counts),
    st.builds(agent.AgentRetry, message=words, attempt=counts, delay_s=numbers),
    st.builds(agent.AgentProblem, message=words, failure=st.sampled_from([None, *EndingKind])),
    st.builds(
        agent.UsageLimit,
        status=st.sampled_from(agent.LimitStatus),
        resets_at=numbers,
        window=words,
        used=numbers,
    ),
    st.builds(
        agent.SessionResultEvent,
        text=words,
        error=st.booleans(),
        detail=words,
        cost_usd=st.none() | st.floats(0, 1e9),
        turns=st.none() | counts,
        duration_s=numbers,
        usage=st.none() | st.builds(agent.TokenUsage, input_tokens=counts, cached_tokens=counts),
    ),
    st.builds(agent.UnknownLine, line=words),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(said, max_size=30), st.integers(12, 130), st.integers(3, 40))
def test_no_screen_minds_what_an_agent_says(
    events: list[agent.AgentEvent], columns: int, lines: int
) -> None:
    clock = FrozenClock()
    glass, drawn, printed = Terminal(columns, lines), io.StringIO(), io.StringIO()
    live = LiveScreen(drawn, clock, a_board(), size=lambda: Size(columns, lines))
    plain = PlainScreen(printed, clock, a_board())
    teller = Teller()
    the_start(teller)
    teller.claims(TASK, "one")
    for scene in teller.scenes:
        show(scene, live, clock)
    for event in events:
        clock.at += 1
        live.agent_event(TASK, event)
        plain.agent_event(TASK, event)
    live.close()

    glass.feed(drawn.getvalue())  # it refuses what the view itself has no use for
    assert glass.widest < columns
    assert all(char.isprintable() or char == "\n" for char in printed.getvalue())
    for line in transcript_lines(events):
        assert line.marked.isprintable()
