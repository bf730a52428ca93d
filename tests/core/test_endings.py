"""How sessions end, what that costs, and what is remembered of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.agent_events import (
    AgentEvent,
    Denied,
    Limit,
    LimitStatus,
    Request,
    Result,
    Retry,
    Started,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Trouble,
    Unknown,
    Usage,
)
from ralph.core.ended import COSTS, Cost, Ended
from ralph.core.ending import (
    FINAL_MESSAGE_BYTES,
    MOST_DENIALS,
    MOST_OPEN_CALLS,
    Digest,
    Ending,
    Exit,
    Stop,
    conclude,
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


def test_a_call_without_a_name_is_not_waited_for() -> None:
    assert not digest_of(ToolUse(name="Bash")).open_calls


@pytest.mark.parametrize("event", [Text(text="on"), ToolUse(name="Bash", call="c")])
def test_an_agent_that_goes_on_has_got_over_its_trouble(event: AgentEvent) -> None:
    trouble = Trouble(message="no", failure=Ended.OVERLOADED)
    assert digest_of(event, trouble).trouble == trouble
    assert digest_of(trouble, event).trouble is None
    assert digest_of(trouble, Text(text="o", partial=True)).trouble == trouble


def test_all_that_a_session_says_in_the_end_belongs_together() -> None:
    digest = digest_of(Result(text="wait", turns=2, cost_usd=0.1), Result(text="done", turns=1))
    assert digest.result == Result(text="wait\n\ndone", turns=3)
    assert digest_of(Result(text="done"), Result(text="done")).result == Result(text="done")


def test_a_second_word_neither_makes_good_nor_spoils_the_first() -> None:
    good, bad = Result(text="good"), Result(error=True, failure=Ended.KILLED)
    assert digest_of(good, bad).result == good
    assert digest_of(bad, good).result == bad


def test_many_last_words_do_not_fill_the_memory() -> None:
    digest = digest_of(*(Result(text=f"{number}" * 10_000) for number in range(100)))
    assert digest.result is not None
    assert len(digest.result.text) == FINAL_MESSAGE_BYTES
    assert digest.result.text.endswith("99")


def test_the_last_word_about_the_allowance_counts() -> None:
    warned, rejected = Limit(status=LimitStatus.WARNING), Limit(status=LimitStatus.REJECTED)
    assert digest_of(warned, rejected).limit == rejected


def test_what_says_nothing_about_the_end_changes_nothing() -> None:
    chatter = (Thinking(text="hm"), Text(text="…", partial=True), Retry(), Unknown(line="?"))
    assert digest_of(*chatter) == Digest(size=2)


def test_the_model_and_the_last_count_of_tokens_are_remembered() -> None:
    digest = digest_of(Started(model="x"), Usage(output_tokens=9), Usage(output_tokens=12))
    assert (digest.model, digest.usage) == ("x", Usage(output_tokens=12))


def test_requests_are_summed_up_while_the_session_works() -> None:
    digest = digest_of(
        Request(input_tokens=1000, cached_tokens=900),
        Request(output_tokens=50),
        Request(input_tokens=400, is_main=False),
        Request(input_tokens=1100, cached_tokens=1050),
        Request(output_tokens=10),
    )
    assert digest.used == Usage(input_tokens=2500, cached_tokens=1950, output_tokens=60)
    assert digest.context == 1110, "a sub-agent has a context of its own"
    assert digest.tokens == 2560


def test_without_reports_tokens_are_guessed_from_what_went_to_and_fro() -> None:
    digest = digest_of(Text(text="x" * 40), ToolResult(text="y" * 40, cut=400))
    assert (digest.used, digest.tokens) == (Usage(), 120)


def test_a_session_that_was_cut_short_is_counted_by_its_requests() -> None:
    digest = digest_of(Request(input_tokens=1000), Request(output_tokens=5))
    ending = conclude(digest, Exit(code=-9, stop=Stop.BUDGET))
    assert (ending.input_tokens, ending.output_tokens) == (1000, 5)
    said = digest_of(*[Request(input_tokens=7)], Result(usage=Usage(input_tokens=9)))
    assert conclude(said, Exit(code=0)).input_tokens == 9, "the result knows better"


def test_denials_are_remembered_and_bounded() -> None:
    digest = digest_of(*(Denied(name="Bash") for _ in range(MOST_DENIALS * 2)))
    assert digest.denied == ["Bash"] * MOST_DENIALS


OVERLOADED = Trouble(message="529", failure=Ended.OVERLOADED)
USED_UP = Limit(status=LimitStatus.REJECTED, resets_at=99.0)


@pytest.mark.parametrize(
    ("said", "exit_", "ended"),
    [
        ([Result(text="done")], Exit(code=1), Ended.FINISHED),
        ([OVERLOADED, Result(text="done")], Exit(code=0), Ended.FINISHED),
        ([Result(text="done")], Exit(code=0, stop=Stop.INTERRUPTED), Ended.INTERRUPTED),
        ([Result(text="done")], Exit(code=0, stop=Stop.AFTER_RESULT), Ended.FINISHED),
        ([Result(error=True)], Exit(code=0), Ended.AGENT_ERROR),
        ([Result(error=True, failure=Ended.REFUSED)], Exit(code=0), Ended.REFUSED),
        ([OVERLOADED, Result(error=True)], Exit(code=0), Ended.OVERLOADED),
        ([OVERLOADED], Exit(code=0), Ended.OVERLOADED),
        ([USED_UP, Result(error=True)], Exit(code=1), Ended.USAGE_LIMIT),
        ([USED_UP, Result(text="done")], Exit(code=0), Ended.FINISHED),
        ([Limit(status=LimitStatus.WARNING)], Exit(code=0), Ended.NO_RESULT),
        ([Text(text="usage limit reached")], Exit(code=1), Ended.NO_RESULT),
        ([], Exit(code=143), Ended.KILLED),
        ([], Exit(code=127), Ended.NOT_INSTALLED),
        ([], Exit(error="no such file"), Ended.NOT_INSTALLED),
    ],
)
def test_first_what_we_did_then_what_it_said_then_how_it_went(
    said: list[AgentEvent], exit_: Exit, ended: Ended
) -> None:
    assert conclude(digest_of(*said), exit_).ended is ended


def test_what_stderr_says_counts_only_where_the_agent_says_nothing() -> None:
    root = Ended.CANNOT_RUN_AS_ROOT
    assert conclude(Digest(), Exit(code=1), root).ended is root
    assert conclude(digest_of(Result(text="done")), Exit(code=1), root).ended is Ended.FINISHED
    assert conclude(digest_of(OVERLOADED), Exit(code=1), root).ended is Ended.OVERLOADED


@pytest.mark.parametrize(
    ("said", "code", "ended"),
    [
        ((Result(error=True, detail="it gave up"),), 1, Ended.AGENT_ERROR),
        ((Text(text="I begin"),), -9, Ended.KILLED),
        ((ToolUse(name="Bash"),), 1, Ended.NO_RESULT),
        ((ToolUse(name="Bash"),), 127, Ended.NO_RESULT),
    ],
)
def test_what_others_write_to_stderr_once_it_has_begun_ends_no_run(
    said: tuple[AgentEvent, ...], code: int, ended: Ended
) -> None:
    exit_ = Exit(code=code, stderr="a hook says: error: unknown option")
    assert conclude(digest_of(*said), exit_, Ended.NOT_INSTALLED).ended is ended


def test_only_a_finished_session_has_a_final_message() -> None:
    claim = "<task-done>t-1</task-done>"
    assert conclude(digest_of(Result(text=claim)), Exit(code=0)).message == claim
    assert conclude(digest_of(Result(text=claim, error=True)), Exit(code=0)).message == ""


def test_a_limit_says_when_it_ends() -> None:
    assert conclude(digest_of(USED_UP), Exit(code=1)).resets_at == 99.0
    told = Trouble(failure=Ended.RATE_LIMITED, resets_at=7.0)
    assert conclude(digest_of(told), Exit(code=1)).resets_at == 7.0
