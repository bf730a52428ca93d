"""The status block: whatever is written into it, not one byte beside it is another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.task import TaskStatus
from ralph.documents.code_task_file import (
    CodeTaskStatus,
    StatusBlock,
    code_task_status,
    read_status,
    with_status_block,
    without_status_block,
)
from ralph.documents.text_encoding import decode_text

DONE = StatusBlock(status=CodeTaskStatus.COMPLETED, by="teammate-1", at="2026-02-10T14:30:00Z")

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.sampled_from(
    [
        "# Task: Parse", "## Status: PENDING", "## Blocked-By: none", "---", "Status: x",
        "Blocked-By: task-01", "text: with a colon", "", "  indented", "```", "## Description",
        "caf\u00e9 \u2028 \x0c", "- a list", "Completed-By: me", "...",
    ]
)  # fmt: skip
STAMPS = st.builds(
    StatusBlock,
    status=st.sampled_from([*CodeTaskStatus]),
    by=st.sampled_from(["", "teammate-1"]),
    at=st.sampled_from(["", "2026-02-10T14:30:00Z"]),
    reason=st.sampled_from(["", "red: no\nway", "---"]),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Files as people and editors leave them."""
    end = draw(ENDS)
    body = end.join(draw(st.lists(LINES, max_size=8)))
    top = draw(st.sampled_from(["", f"---{end}Status: PENDING{end}Labels: a, b{end}---{end}"]))
    return top + body + draw(st.sampled_from(["", end]))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("---\nStatus: IN_REVIEW\n---\n# A", CodeTaskStatus.IN_REVIEW),
        ("---\r\nstatus : in progress\r\n---\r\n", CodeTaskStatus.IN_PROGRESS),
        ("# Task: A\n\n## Status: PENDING\n", CodeTaskStatus.PENDING),
        ("# Task: A\n**Status:** Done\n", CodeTaskStatus.COMPLETED),
        ("---\nStatus: BLOCKED\n---\n## Status: PENDING\n", CodeTaskStatus.BLOCKED),
        ("---\nStatus: soon\n---\n", "soon"),
        ("---\nLast seen by: me\nStatus: COMPLETED\n---\n", CodeTaskStatus.COMPLETED),
        ("# A\n\n## Description\n\n## Status: COMPLETED\n", None),
        ("---\n\nA rule above this text\n\n---\nStatus: COMPLETED\n", None),
        ("---\nStatus: COMPLETED\n", None),
        ("", None),
    ],
)
def test_the_status_is_read(text: str, word: object) -> None:
    assert read_status(text) == word


def test_a_block_is_put_above_a_text_without_one() -> None:
    assert with_status_block("# A\r\n\r\nb", DONE) == (
        "---\r\nStatus: COMPLETED\r\nCompleted-By: teammate-1\r\n"
        "Completed-At: 2026-02-10T14:30:00Z\r\n---\r\n# A\r\n\r\nb"
    )


def test_what_else_stands_in_the_block_stays() -> None:
    text = "---\nStatus: IN_PROGRESS\nStarted-By: x\nBlocked-By:\n  - a\nOwner: me\n---\n# A\n"
    assert with_status_block(text, DONE) == (
        "---\nStatus: COMPLETED\nCompleted-By: teammate-1\nCompleted-At: 2026-02-10T14:30:00Z\n"
        "Blocked-By:\n  - a\nOwner: me\n---\n# A\n"
    )


def test_what_is_blocked_says_why_in_one_line() -> None:
    said = with_status_block(
        "x", StatusBlock(status=CodeTaskStatus.BLOCKED, reason="gate test\nfails")
    )
    assert said == "---\nStatus: BLOCKED\nBlocked-Reason: gate test fails\n---\nx"


def test_every_status_of_the_graph_has_a_word() -> None:
    assert [code_task_status(status) for status in TaskStatus] == [
        CodeTaskStatus.PENDING,
        CodeTaskStatus.IN_PROGRESS,
        CodeTaskStatus.COMPLETED,
        CodeTaskStatus.BLOCKED,
        CodeTaskStatus.BLOCKED,
    ]
    assert code_task_status(TaskStatus.IN_PROGRESS, in_review=True) is CodeTaskStatus.IN_REVIEW


@given(texts(), STAMPS)
def test_whatever_is_written_is_read_and_nothing_else_has_changed(
    text: str, stamp: StatusBlock
) -> None:
    after = with_status_block(text, stamp)
    assert read_status(after) is stamp.status
    assert without_status_block(after) == without_status_block(text)


@given(texts(), STAMPS, STAMPS)
def test_only_the_last_stamp_is_left(text: str, first: StatusBlock, second: StatusBlock) -> None:
    assert with_status_block(with_status_block(text, first), second) == with_status_block(
        text, second
    )
    assert with_status_block(with_status_block(text, first), first) == with_status_block(
        text, first
    )


@given(texts(), STAMPS)
def test_a_text_without_a_block_is_all_there_behind_it(text: str, stamp: StatusBlock) -> None:
    if without_status_block(text) == text and not text.startswith("---"):
        assert with_status_block(text, stamp).endswith(text)
        assert without_status_block(with_status_block(text, stamp)) == text


@given(st.binary(max_size=80), STAMPS)
def test_bytes_that_are_no_text_stay_as_they_are(data: bytes, stamp: StatusBlock) -> None:
    encoded = decode_text(data)
    if encoded.text.startswith("---"):
        return
    after = encoded.bytes_of(with_status_block(encoded.text, stamp))
    assert after.startswith(encoded.mark)
    assert after.endswith(data.removeprefix(encoded.mark))
