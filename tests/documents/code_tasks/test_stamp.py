"""The status block: whatever is written into it, not one byte beside it is another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.task import Status
from ralph.documents.code_tasks.stamp import Stamp, Word, read_word, stamped, unstamped, word_of
from ralph.documents.encoded import decode

DONE = Stamp(word=Word.COMPLETED, by="teammate-1", at="2026-02-10T14:30:00Z")

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.sampled_from(
    [
        "# Task: Parse", "## Status: PENDING", "## Blocked-By: none", "---", "Status: x",
        "Blocked-By: task-01", "text: with a colon", "", "  indented", "```", "## Description",
        "caf\u00e9 \u2028 \x0c", "- a list", "Completed-By: me", "...",
    ]
)  # fmt: skip
STAMPS = st.builds(
    Stamp,
    word=st.sampled_from([*Word]),
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
        ("---\nStatus: IN_REVIEW\n---\n# A", Word.IN_REVIEW),
        ("---\r\nstatus : in progress\r\n---\r\n", Word.IN_PROGRESS),
        ("# Task: A\n\n## Status: PENDING\n", Word.PENDING),
        ("# Task: A\n**Status:** Done\n", Word.COMPLETED),
        ("---\nStatus: BLOCKED\n---\n## Status: PENDING\n", Word.BLOCKED),
        ("---\nStatus: soon\n---\n", "soon"),
        ("---\nLast seen by: me\nStatus: COMPLETED\n---\n", Word.COMPLETED),
        ("# A\n\n## Description\n\n## Status: COMPLETED\n", None),
        ("---\n\nA rule above this text\n\n---\nStatus: COMPLETED\n", None),
        ("---\nStatus: COMPLETED\n", None),
        ("", None),
    ],
)
def test_the_status_is_read(text: str, word: object) -> None:
    assert read_word(text) == word


def test_a_block_is_put_above_a_text_without_one() -> None:
    assert stamped("# A\r\n\r\nb", DONE) == (
        "---\r\nStatus: COMPLETED\r\nCompleted-By: teammate-1\r\n"
        "Completed-At: 2026-02-10T14:30:00Z\r\n---\r\n# A\r\n\r\nb"
    )


def test_what_else_stands_in_the_block_stays() -> None:
    text = "---\nStatus: IN_PROGRESS\nStarted-By: x\nBlocked-By:\n  - a\nOwner: me\n---\n# A\n"
    assert stamped(text, DONE) == (
        "---\nStatus: COMPLETED\nCompleted-By: teammate-1\nCompleted-At: 2026-02-10T14:30:00Z\n"
        "Blocked-By:\n  - a\nOwner: me\n---\n# A\n"
    )


def test_what_is_blocked_says_why_in_one_line() -> None:
    said = stamped("x", Stamp(word=Word.BLOCKED, reason="gate test\nfails"))
    assert said == "---\nStatus: BLOCKED\nBlocked-Reason: gate test fails\n---\nx"


def test_every_status_of_the_graph_has_a_word() -> None:
    assert [word_of(status) for status in Status] == [
        Word.PENDING,
        Word.IN_PROGRESS,
        Word.COMPLETED,
        Word.BLOCKED,
        Word.BLOCKED,
    ]
    assert word_of(Status.IN_PROGRESS, in_review=True) is Word.IN_REVIEW


@given(texts(), STAMPS)
def test_whatever_is_written_is_read_and_nothing_else_has_changed(text: str, stamp: Stamp) -> None:
    after = stamped(text, stamp)
    assert read_word(after) is stamp.word
    assert unstamped(after) == unstamped(text)


@given(texts(), STAMPS, STAMPS)
def test_only_the_last_stamp_is_left(text: str, first: Stamp, second: Stamp) -> None:
    assert stamped(stamped(text, first), second) == stamped(text, second)
    assert stamped(stamped(text, first), first) == stamped(text, first)


@given(texts(), STAMPS)
def test_a_text_without_a_block_is_all_there_behind_it(text: str, stamp: Stamp) -> None:
    if unstamped(text) == text and not text.startswith("---"):
        assert stamped(text, stamp).endswith(text)
        assert unstamped(stamped(text, stamp)) == text


@given(st.binary(max_size=80), STAMPS)
def test_bytes_that_are_no_text_stay_as_they_are(data: bytes, stamp: Stamp) -> None:
    encoded = decode(data)
    if encoded.text.startswith("---"):
        return
    after = encoded.bytes_of(stamped(encoded.text, stamp))
    assert after.startswith(encoded.mark)
    assert after.endswith(data.removeprefix(encoded.mark))
