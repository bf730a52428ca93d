"""What a session's ticks mean, and what becomes of them."""

import pytest

from ralph.documents.prd import Prd, read_prd, with_boxes
from ralph.documents.prd_changes import Ticks, boxes_after, boxes_between, damage, ticks

TEXT = """\
# A product

### [ ] US-001: One
- [ ] a
- [ ] b

### [ ] US-002: Two
- [ ] c

### [x] US-003: Three
- [x] d
"""
BEFORE = read_prd(TEXT)


def said(text: str) -> Ticks:
    return ticks(BEFORE, read_prd(text), "US-001")


def left(text: str, *done: str) -> str:
    now = read_prd(text)
    return with_boxes(text, boxes_after(now, BEFORE, frozenset(done), "US-001"))


def ticked(*words: str) -> str:
    text = TEXT
    for word in words:
        text = text.replace(f"[ ] {word}", f"[x] {word}")
    return text


def test_no_ticks_claim_nothing() -> None:
    assert said(TEXT) == Ticks()


def test_a_ticked_heading_is_a_claim() -> None:
    assert said(ticked("US-001")) == Ticks(claimed=True)


def test_all_criteria_ticked_are_a_claim() -> None:
    assert said(ticked("a", "b")) == Ticks(claimed=True)


def test_some_criteria_ticked_are_none() -> None:
    assert said(ticked("a")) == Ticks(partial=("a",))


def test_the_last_criterion_completes_a_claim() -> None:
    before = read_prd(ticked("a"))
    assert ticks(before, read_prd(ticked("a", "b")), "US-001").claimed


def test_criteria_that_were_ticked_before_claim_nothing() -> None:
    before = read_prd(ticked("a", "b"))
    assert ticks(before, before, "US-001") == Ticks()


def test_leaving_a_criterion_out_does_not_meet_it() -> None:
    text = ticked("a").replace("- [ ] b\n", "")
    assert said(text) == Ticks(partial=("a",))


def test_ticks_in_other_stories_are_not_the_sessions_to_make() -> None:
    assert said(ticked("US-002")) == Ticks(foreign=("US-002",))
    assert said(ticked("c")) == Ticks(foreign=("US-002",))
    assert said(TEXT.replace("[x] US-003", "[ ] US-003")) == Ticks(foreign=("US-003",))
    added = TEXT + "\n### [x] US-004: Four\n"
    assert said(added) == Ticks(foreign=("US-004",))


def test_an_accepted_story_is_ticked_whole() -> None:
    assert left(TEXT, "US-001", "US-003") == ticked("US-001", "a", "b")


def test_a_rejected_claim_is_cleared() -> None:
    assert left(ticked("US-001", "a"), "US-003") == TEXT
    assert left(ticked("a", "b"), "US-003") == TEXT


def test_partial_ticks_stay() -> None:
    assert left(ticked("a"), "US-003") == ticked("a")


def test_a_rejected_claim_keeps_what_was_ticked_before() -> None:
    before = read_prd(ticked("a"))
    now = read_prd(ticked("a", "b"))
    after = with_boxes(now.text, boxes_after(now, before, frozenset({"US-003"}), "US-001"))
    assert after == ticked("a")


def test_what_a_session_did_to_other_stories_is_taken_back() -> None:
    assert left(ticked("US-002", "c"), "US-003") == TEXT
    cleared = TEXT.replace("[x] US-003", "[ ] US-003").replace("[x] d", "[ ] d")
    assert left(cleared, "US-003") == TEXT
    assert left(TEXT + "\n### [x] US-004: Four\n- [x] e\n", "US-003") == (
        TEXT + "\n### [ ] US-004: Four\n- [ ] e\n"
    )


def between(text: str, *done: str) -> str:
    now = read_prd(text)
    return with_boxes(text, boxes_between(now, BEFORE, frozenset(done)))


def test_between_sessions_the_headings_follow_the_store_and_criteria_stay() -> None:
    text = ticked("US-002", "a", "b")
    assert between(text, "US-001", "US-003") == ticked("US-001", "a", "b")
    assert between(ticked("a", "b"), "US-003") == ticked("a", "b")


def test_a_story_that_is_open_again_is_cleared_whole() -> None:
    opened = TEXT.replace("[x] d", "[ ] d").replace("[x] US-003", "[ ] US-003")
    assert between(TEXT) == opened
    assert between(TEXT.replace("[x] US-003", "[ ] US-003")) == opened


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (None, "is gone"),
        ("", "is empty"),
        (" \n", "is empty"),
        ("sorry", "is broken: line 1: there are no stories"),
        (TEXT + TEXT, "is broken: line 14: there is a story US-001 on line 3 already"),
        (TEXT.replace("US-001", "US-004"), "has lost the story US-001, which was being built"),
        ("```\n" + TEXT, "is broken: line 1: there are no stories"),
        ("### [x] US-001: Done\n", "was rewritten without US-002, US-003"),
        ("### [x] US-001: One\n- [x] a\n- [x] b\n", "was rewritten without US-002, US-003"),
    ],
)
def test_a_broken_document_is_told_from_an_edited_one(now: str | None, why: str) -> None:
    found: Prd | None = None if now is None else read_prd(now)
    assert damage(BEFORE, found, "US-001").startswith(why)


@pytest.mark.parametrize(
    "now",
    [
        TEXT,
        ticked("US-001", "a", "b", "US-002"),
        TEXT[: TEXT.index("### [x] US-003")],
        TEXT.replace("### [ ] US-002: Two\n- [ ] c\n\n", ""),
        TEXT + "\n### [ ] US-004: Four\n",
        TEXT.replace("Two", "Second").replace("# A product", "# Another"),
        TEXT.replace("\n", "\r\n"),
    ],
)
def test_what_a_person_may_have_done_meanwhile_is_no_damage(now: str) -> None:
    assert damage(BEFORE, read_prd(now), "US-001") == ""
