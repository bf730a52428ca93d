"""How sessions end, what that costs, and what is remembered of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.agent_events import (
    AgentEvent,
    AgentProblem,
    AgentRetry,
    AgentStarted,
    LimitStatus,
    ModelRequest,
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
from ralph.core.session_ending import (
    CONSEQUENCES,
    Consequence,
    EndingKind,
    SessionEnding,
)
from ralph.core.session_output import (
    FINAL_MESSAGE_BYTES,
    MOST_DENIALS,
    MOST_OPEN_CALLS,
    StreamSummary,
    classify_ending,
)

FREE = {
    Consequence.WAIT,
    Consequence.BACK_OFF,
    Consequence.PAUSE,
    Consequence.END_RUN,
    Consequence.NOTHING,
}


def test_every_ending_has_a_cost() -> None:
    assert set(CONSEQUENCES) == set(EndingKind)


@pytest.mark.parametrize("ended", list(EndingKind))
def test_an_ending_knows_its_cost(ended: EndingKind) -> None:
    assert SessionEnding(ended=ended).consequence is CONSEQUENCES[ended]


def test_only_a_finished_session_is_judged() -> None:
    assert [ended for ended, cost in CONSEQUENCES.items() if cost is Consequence.JUDGE] == [
        EndingKind.FINISHED
    ]


@pytest.mark.parametrize(
    "ended",
    [
        EndingKind.USAGE_LIMIT,
        EndingKind.RATE_LIMITED,
        EndingKind.OVERLOADED,
        EndingKind.AUTH_EXPIRED,
        EndingKind.BILLING,
        EndingKind.NOT_INSTALLED,
        EndingKind.CANNOT_RUN_AS_ROOT,
        EndingKind.INTERRUPTED,
        EndingKind.LOST,
    ],
)
def test_what_is_not_the_tasks_fault_costs_it_nothing(ended: EndingKind) -> None:
    assert CONSEQUENCES[ended] in FREE


def test_everything_else_is_a_strike() -> None:
    rest = [
        cost for ended, cost in CONSEQUENCES.items() if cost not in FREE and ended != "finished"
    ]
    assert set(rest) == {Consequence.STRIKE}


def digest_of(*events: object) -> StreamSummary:
    digest = StreamSummary()
    for event in events:
        digest.add(event)  # type: ignore[arg-type]
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
    trouble = AgentProblem(message="no", failure=EndingKind.OVERLOADED)
    assert digest_of(event, trouble).trouble == trouble
    assert digest_of(trouble, event).trouble is None
    assert digest_of(trouble, Text(text="o", partial=True)).trouble == trouble


def test_all_that_a_session_says_in_the_end_belongs_together() -> None:
    digest = digest_of(
        SessionResultEvent(text="wait", turns=2, cost_usd=0.1),
        SessionResultEvent(text="done", turns=1),
    )
    assert digest.result == SessionResultEvent(text="wait\n\ndone", turns=3)
    assert digest_of(
        SessionResultEvent(text="done"), SessionResultEvent(text="done")
    ).result == SessionResultEvent(text="done")


def test_a_second_word_neither_makes_good_nor_spoils_the_first() -> None:
    good, bad = (
        SessionResultEvent(text="good"),
        SessionResultEvent(error=True, failure=EndingKind.KILLED),
    )
    assert digest_of(good, bad).result == good
    assert digest_of(bad, good).result == bad


def test_many_last_words_do_not_fill_the_memory() -> None:
    digest = digest_of(*(SessionResultEvent(text=f"{number}" * 10_000) for number in range(100)))
    assert digest.result is not None
    assert len(digest.result.text) == FINAL_MESSAGE_BYTES
    assert digest.result.text.endswith("99")


def test_the_last_word_about_the_allowance_counts() -> None:
    warned, rejected = (
        UsageLimit(status=LimitStatus.WARNING),
        UsageLimit(status=LimitStatus.REJECTED),
    )
    assert digest_of(warned, rejected).limit == rejected


def test_what_says_nothing_about_the_end_changes_nothing() -> None:
    chatter = (
        Thinking(text="hm"),
        Text(text="…", partial=True),
        AgentRetry(),
        UnknownLine(line="?"),
    )
    assert digest_of(*chatter) == StreamSummary(size=2)


def test_the_model_and_the_last_count_of_tokens_are_remembered() -> None:
    digest = digest_of(
        AgentStarted(model="x"), TokenUsage(output_tokens=9), TokenUsage(output_tokens=12)
    )
    assert (digest.model, digest.usage) == ("x", TokenUsage(output_tokens=12))


def test_requests_are_summed_up_while_the_session_works() -> None:
    digest = digest_of(
        ModelRequest(input_tokens=1000, cached_tokens=900),
        ModelRequest(output_tokens=50),
        ModelRequest(input_tokens=400, is_main=False),
        ModelRequest(input_tokens=1100, cached_tokens=1050),
        ModelRequest(output_tokens=10),
    )
    assert digest.used == TokenUsage(input_tokens=2500, cached_tokens=1950, output_tokens=60)
    assert digest.context == 1110, "a sub-agent has a context of its own"
    assert digest.tokens == 2560


def test_what_its_requests_have_cost_counts_where_the_result_does_not_say() -> None:
    digest = StreamSummary()
    for cost in (None, 0.5, 0.25):
        digest.add(ModelRequest(input_tokens=10, cost_usd=cost))
    assert classify_ending(digest, ProcessExit(code=-9)).cost_usd == 0.75
    digest.add(SessionResultEvent(text="done"))
    assert classify_ending(digest, ProcessExit(code=0)).cost_usd == 0.75
    digest.result = SessionResultEvent(text="done", cost_usd=0.0)
    assert classify_ending(digest, ProcessExit(code=0)).cost_usd == 0.0


def test_without_reports_tokens_are_guessed_from_what_went_to_and_fro() -> None:
    digest = digest_of(Text(text="x" * 40), ToolResult(text="y" * 40, cut=400))
    assert (digest.used, digest.tokens) == (TokenUsage(), 120)


def test_a_session_that_was_cut_short_is_counted_by_its_requests() -> None:
    digest = digest_of(ModelRequest(input_tokens=1000), ModelRequest(output_tokens=5))
    ending = classify_ending(digest, ProcessExit(code=-9, stop=EndingKind.BUDGET_LIMIT))
    assert (ending.input_tokens, ending.output_tokens) == (1000, 5)
    said = digest_of(
        *[ModelRequest(input_tokens=7)], SessionResultEvent(usage=TokenUsage(input_tokens=9))
    )
    assert classify_ending(said, ProcessExit(code=0)).input_tokens == 9, "the result knows better"


def test_denials_are_remembered_and_bounded() -> None:
    digest = digest_of(*(ToolDenied(name="Bash") for _ in range(MOST_DENIALS * 2)))
    assert digest.denied == ["Bash"] * MOST_DENIALS


OVERLOADED = AgentProblem(message="529", failure=EndingKind.OVERLOADED)
USED_UP = UsageLimit(status=LimitStatus.REJECTED, resets_at=99.0)


@pytest.mark.parametrize(
    ("said", "exit_", "ended"),
    [
        ([SessionResultEvent(text="done")], ProcessExit(code=1), EndingKind.FINISHED),
        ([OVERLOADED, SessionResultEvent(text="done")], ProcessExit(code=0), EndingKind.FINISHED),
        (
            [SessionResultEvent(text="done")],
            ProcessExit(code=0, stop=EndingKind.INTERRUPTED),
            EndingKind.INTERRUPTED,
        ),
        (
            [SessionResultEvent(text="done")],
            ProcessExit(code=0, stop=EndingKind.FINISHED),
            EndingKind.FINISHED,
        ),
        ([SessionResultEvent(error=True)], ProcessExit(code=0), EndingKind.AGENT_ERROR),
        (
            [SessionResultEvent(error=True, failure=EndingKind.REFUSED)],
            ProcessExit(code=0),
            EndingKind.REFUSED,
        ),
        ([OVERLOADED, SessionResultEvent(error=True)], ProcessExit(code=0), EndingKind.OVERLOADED),
        ([OVERLOADED], ProcessExit(code=0), EndingKind.OVERLOADED),
        ([USED_UP, SessionResultEvent(error=True)], ProcessExit(code=1), EndingKind.USAGE_LIMIT),
        ([USED_UP, SessionResultEvent(text="done")], ProcessExit(code=0), EndingKind.FINISHED),
        ([UsageLimit(status=LimitStatus.WARNING)], ProcessExit(code=0), EndingKind.NO_RESULT),
        ([Text(text="usage limit reached")], ProcessExit(code=1), EndingKind.NO_RESULT),
        ([], ProcessExit(code=143), EndingKind.KILLED),
        ([], ProcessExit(code=127), EndingKind.NOT_INSTALLED),
        ([], ProcessExit(error="no such file"), EndingKind.NOT_INSTALLED),
    ],
)
def test_first_what_we_did_then_what_it_said_then_how_it_went(
    said: list[AgentEvent], exit_: ProcessExit, ended: EndingKind
) -> None:
    assert classify_ending(digest_of(*said), exit_).ended is ended


def test_what_stderr_says_counts_only_where_the_agent_says_nothing() -> None:
    root = EndingKind.CANNOT_RUN_AS_ROOT
    assert classify_ending(StreamSummary(), ProcessExit(code=1), root).ended is root
    assert (
        classify_ending(digest_of(SessionResultEvent(text="done")), ProcessExit(code=1), root).ended
        is EndingKind.FINISHED
    )
    assert (
        classify_ending(digest_of(OVERLOADED), ProcessExit(code=1), root).ended
        is EndingKind.OVERLOADED
    )


@pytest.mark.parametrize(
    ("said", "code", "ended"),
    [
        ((SessionResultEvent(error=True, detail="it gave up"),), 1, EndingKind.AGENT_ERROR),
        ((Text(text="I begin"),), -9, EndingKind.KILLED),
        ((ToolUse(name="Bash"),), 1, EndingKind.NO_RESULT),
        ((ToolUse(name="Bash"),), 127, EndingKind.NO_RESULT),
    ],
)
def test_what_others_write_to_stderr_once_it_has_begun_ends_no_run(
    said: tuple[AgentEvent, ...], code: int, ended: EndingKind
) -> None:
    exit_ = ProcessExit(code=code, stderr="a hook says: error: unknown option")
    assert classify_ending(digest_of(*said), exit_, EndingKind.NOT_INSTALLED).ended is ended


def test_only_a_finished_session_has_a_final_message() -> None:
    claim = "<task-done>t-1</task-done>"
    assert (
        classify_ending(digest_of(SessionResultEvent(text=claim)), ProcessExit(code=0)).message
        == claim
    )
    assert (
        classify_ending(
            digest_of(SessionResultEvent(text=claim, error=True)), ProcessExit(code=0)
        ).message
        == ""
    )


def test_a_limit_says_when_it_ends() -> None:
    assert classify_ending(digest_of(USED_UP), ProcessExit(code=1)).resets_at == 99.0
    problem = AgentProblem(failure=EndingKind.RATE_LIMITED, resets_at=7.0)
    assert classify_ending(digest_of(problem), ProcessExit(code=1)).resets_at == 7.0
