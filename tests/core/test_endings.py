"""How sessions end, what that costs, and what is remembered of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.agent_events import (
    Limit,
    LimitStatus,
    Result,
    Started,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Unknown,
    Usage,
)
from ralph.core.ending import (
    COSTS,
    FINAL_MESSAGE_BYTES,
    MOST_OPEN_CALLS,
    Cost,
    Digest,
    Ended,
    Ending,
    Exit,
    Stop,
    stopped_by_us,
)

FREE = {Cost.WAIT, Cost.BACK_OFF, Cost.PAUSE, Cost.END_RUN, Cost.NOTHING}


def test_every_ending_has_a_cost() -> None:
    assert set(COSTS) == set(Ended)


@pytest.mark.parametrize("ended", list(Ended))
def test_an_ending_knows_its_cost(ended: Ended) -> None:
    assert Ending(ended=ended).cost is COSTS[ended]


def test_only_a_finished_session_is_judged() -> None:
    assert [ended for ended, cost in COSTS.items() if cost is Cost.JUDGE] == [Ended.FINISHED]


@pytest.mark.parametrize(
    "ended",
    [
        Ended.USAGE_LIMIT,
        Ended.RATE_LIMITED,
        Ended.OVERLOADED,
        Ended.AUTH_EXPIRED,
        Ended.BILLING,
        Ended.NOT_INSTALLED,
        Ended.CANNOT_RUN_AS_ROOT,
        Ended.INTERRUPTED,
        Ended.LOST,
    ],
)
def test_what_is_not_the_tasks_fault_costs_it_nothing(ended: Ended) -> None:
    assert COSTS[ended] in FREE


def test_everything_else_is_a_strike() -> None:
    rest = [cost for ended, cost in COSTS.items() if cost not in FREE and ended != "finished"]
    assert set(rest) == {Cost.STRIKE}


@pytest.mark.parametrize(
    ("stop", "ended"),
    [
        (Stop.HARD, Ended.TIMED_OUT),
        (Stop.IDLE, Ended.IDLE),
        (Stop.INTERRUPTED, Ended.INTERRUPTED),
        (Stop.AFTER_RESULT, None),
        (None, None),
    ],
)
def test_who_stopped_it_decides_before_what_it_said(stop: Stop | None, ended: Ended | None) -> None:
    assert stopped_by_us(Exit(code=0, stop=stop)) is ended


def digest_of(*events: object) -> Digest:
    digest = Digest()
    for event in events:
        digest.take(event)  # type: ignore[arg-type]
    return digest


def test_the_tail_is_what_was_said_last() -> None:
    digest = digest_of(Text(text="one "), Text(text="half", partial=True), Text(text="two"))
    assert digest.tail == "one two"


@given(st.lists(st.integers(0, FINAL_MESSAGE_BYTES * 2), max_size=6))
def test_the_tail_is_bounded_and_ends_as_the_stream_does(sizes: list[int]) -> None:
    texts = [str(n % 10) * size for n, size in enumerate(sizes)]
    digest = digest_of(*(Text(text=text) for text in texts))
    assert digest.tail == "".join(texts)[-FINAL_MESSAGE_BYTES:]


def test_calls_are_open_until_they_are_answered() -> None:
    digest = digest_of(
        ToolUse(name="Bash", call="1"),
        ToolUse(name="Read", call="2"),
        ToolResult(call="1", error=True),
        ToolResult(call="never asked"),
    )
    assert digest.open_calls == {"2"}
    assert (digest.tool_uses, digest.tool_errors) == (2, 1)


def test_calls_that_are_never_answered_do_not_fill_the_memory() -> None:
    many = MOST_OPEN_CALLS * 3
    digest = digest_of(*(ToolUse(name="Bash", call=str(n)) for n in range(many)))
    assert len(digest.open_calls) == MOST_OPEN_CALLS
    assert digest.tool_uses == many


def test_the_first_result_is_the_sessions() -> None:
    digest = digest_of(Result(text="mine"), Result(text="a child's"))
    assert digest.result == Result(text="mine")


def test_the_last_word_about_the_allowance_counts() -> None:
    warned, rejected = Limit(status=LimitStatus.WARNING), Limit(status=LimitStatus.REJECTED)
    assert digest_of(warned, rejected).limit == rejected


def test_what_says_nothing_about_the_end_changes_nothing() -> None:
    chatter = (Started(model="x"), Thinking(text="hm"), Usage(output_tokens=9), Unknown(line="?"))
    assert digest_of(*chatter) == Digest()
