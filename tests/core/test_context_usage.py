"""How full a context is, and when it is time to hand over."""

import pytest

from ralph.core.agent_events import ModelRequest, Text, ToolResult
from ralph.core.session_output import (
    CHARS_PER_TOKEN,
    MAX_TOOL_OUTPUT_CHARS,
    OVERHEAD,
    ContextUsage,
    StreamSummary,
    context_usage,
    is_context_full,
    is_handoff_due,
)
from ralph.core.settings import ContextSection


def test_what_its_requests_report_counts() -> None:
    digest = StreamSummary()
    for event in (
        ModelRequest(input_tokens=1000),
        ModelRequest(output_tokens=50),
        ModelRequest(input_tokens=70_000, is_main=False),
        ModelRequest(input_tokens=3000),
    ):
        digest.add(event)
    found = context_usage(digest, 500, 10_000)
    assert (found.used, found.opened, found.share) == (3000, 1000, 0.3)


def test_without_reports_it_is_estimated() -> None:
    digest = StreamSummary()
    digest.add(Text(text="x" * 400))
    digest.add(ToolResult(text="y" * 400, cut=3600))
    found = context_usage(digest, 500, 10_000)
    assert found.opened == 500 + OVERHEAD
    assert found.used == found.opened + 1100
    assert found.from_tools == 1000


def test_of_a_very_long_answer_only_so_much_is_in_it() -> None:
    digest = StreamSummary()
    digest.add(ToolResult(text="y" * 400, cut=5_000_000))
    assert (
        context_usage(digest, 500, 200_000).from_tools == MAX_TOOL_OUTPUT_CHARS // CHARS_PER_TOKEN
    )


@pytest.mark.parametrize(
    ("used", "opened", "due"),
    [
        (119_999, 20_000, False),
        (120_000, 20_000, True),
        (150_000, 1, True),
        (125_000, 120_000, False),  # it began so: little would come of a fresh one
        (144_000, 120_000, True),
        (250_000, 200_000, False),  # a brief that fills all of it
    ],
)
def test_it_is_due_at_a_share_and_after_some_work(used: int, opened: int, *, due: bool) -> None:
    assert is_handoff_due(ContextUsage(used=used, opened=opened, capacity=200_000), 0.6) is due


def test_never_without_a_capacity_or_a_share() -> None:
    assert not is_handoff_due(ContextUsage(used=10, capacity=0), 0.6)
    assert not is_handoff_due(ContextUsage(used=10, capacity=10), 0.0)
    assert not is_context_full(ContextUsage(used=10, capacity=0))
    assert is_context_full(ContextUsage(used=8, capacity=10))


def test_a_model_may_hold_more() -> None:
    room = ContextSection(capacity_tokens=200, windows={"big": 1000})
    assert (room.capacity_of("big"), room.capacity_of("", "big"), room.capacity_of("small")) == (
        1000,
        1000,
        200,
    )
