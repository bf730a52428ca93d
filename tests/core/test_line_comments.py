"""Which lines of a change answer a comment, as pure values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ralph.core.errors import UsageError
from ralph.core.ids import TaskId
from ralph.core.line_comments import (
    LONGEST_COMMENT,
    MOST_COMPARED,
    MOST_LINES,
    CommentDraft,
    FileTexts,
    answer_of,
    excerpt_of,
    read_lines,
)
from ralph.core.review_thread import (
    A_PERSON,
    CommentAnswer,
    DiffSide,
    Dismissal,
    Finding,
    FindingState,
    LineComment,
    LineRange,
    ReviewRound,
    ReviewThread,
    ReviewVerdict,
)
from ralph.core.verification_and_review import findings_to_fix_section, on_comments, read_review

TEXT = "a\nb\nc\nd\ne\n"


def a_comment(first: int, last: int | None = None, **fields: object) -> LineComment:
    lines = LineRange(path="f.py", first=first, last=last or first)
    comment = LineComment(
        finding="F1",
        task_id=TaskId("t-1"),
        about=TaskId("t-1"),
        attempt=1,
        lines=lines,
        excerpt="\n".join(TEXT.splitlines()[lines.first - 1 : lines.last]),
        text="why?",
        at="tree",
    )
    return replace(comment, **fields)


def answered(
    comment: LineComment,
    after: str | None,
    *named: LineRange,
    then: str | None = TEXT,
    before: str | None = TEXT,
) -> CommentAnswer | None:
    texts = {"f.py": FileTexts(then, before, after), "g.py": FileTexts("x\n", "x\n", "x\ny\n")}
    return answer_of(comment, 2, texts, named)


@pytest.mark.parametrize(
    ("after", "lines", "text"),
    [
        ("a\nb\nC\nd\ne\n", "f.py:3", "C"),
        ("new\na\nb\nC\nC\nd\ne\n", "f.py:4-5", "C\nC"),
        ("a\nb\nc\nmore\nd\ne\n", "f.py:3-4", "c\nmore"),
        ("a\nb\nmore\nc\nd\ne\n", "f.py:3-4", "more\nc"),
        ("a\nb\nd\ne\n", "f.py:3", ""),
        ("A\nB\nC\nD\nE\n", "f.py:1-5", "A\nB\nC\nD\nE"),
    ],
)
def test_changed_lines_answer_and_so_do_lines_beside_them(
    after: str, lines: str, text: str
) -> None:
    answer = answered(a_comment(3), after)
    assert answer is not None
    assert (answer.state, answer.attempt, answer.text) == (FindingState.ADDRESSED, 2, text)
    assert str(answer.lines) == lines


@pytest.mark.parametrize(
    "after", [TEXT, "new\n" + TEXT, "a\nB\nc\nd\ne\n".replace("B", "b"), "A" + TEXT[1:]]
)
def test_lines_that_only_moved_are_no_answer(after: str) -> None:
    assert answered(a_comment(4), after) is None


def test_part_of_the_lines_is_enough() -> None:
    answer = answered(a_comment(2, 4), "a\nb\nC\nd\ne\n")
    assert answer is not None
    assert (str(answer.lines), answer.text) == ("f.py:2-4", "b\nC\nd")


def test_a_file_that_is_gone_answers_without_lines() -> None:
    answer = answered(a_comment(3), None)
    assert answer == CommentAnswer(state=FindingState.ADDRESSED, attempt=2)


def test_what_others_changed_before_is_stale_and_what_came_back_is_open() -> None:
    answer = answered(a_comment(3), "a\nb\nX\nd\ne\n", before="a\nb\nX\nd\ne\n")
    assert answer == CommentAnswer(state=FindingState.STALE, attempt=2)
    assert answered(a_comment(3), TEXT, before="a\n") is None


def test_lines_that_git_no_longer_has_are_compared_with_the_beginning_of_the_session() -> None:
    answer = answered(a_comment(3), "a\nb\nC\nd\ne\n", then=None)
    assert answer is not None
    assert answer.text == "C"
    assert answered(a_comment(3), TEXT, then=None) is None


def test_lines_that_a_session_names_count_where_it_changed_something() -> None:
    for lines in (LineRange(path="g.py", first=2, last=2), LineRange(path="g.py", first=1, last=2)):
        answer = answered(a_comment(3), TEXT, lines)
        assert answer is not None
        assert answer.lines == lines
    for first, last, path in ((1, 1, "g.py"), (3, 3, "g.py"), (2, 1, "g.py"), (3, 3, "f.py")):
        assert answered(a_comment(3), TEXT, LineRange(path=path, first=first, last=last)) is None


def test_removed_lines_are_answered_when_they_are_back() -> None:
    removed = a_comment(3, 4, side=DiffSide.OLD)
    assert answered(removed, "a\nb\ne\n", then=TEXT, before="a\nb\ne\n") is None
    answer = answered(removed, "0\na\nb\nc\nd\n", then=TEXT, before="a\nb\ne\n")
    assert answer is not None
    assert str(answer.lines) == "f.py:4-5"


def test_very_long_files_are_compared_as_one_change() -> None:
    size = MOST_COMPARED
    old, new = (f"{name}\n" * size for name in "xy")
    answer = answered(a_comment(3), new, then=old, before=old)
    assert answer is not None
    assert answer.lines == LineRange(path="f.py", first=1, last=size)
    assert len(answer.text.splitlines()) <= MOST_LINES + 1


@given(
    st.lists(st.sampled_from("abc"), max_size=8),
    st.lists(st.sampled_from("abc"), max_size=8),
    st.data(),
)
def test_an_answer_has_lines_of_the_new_text_and_open_means_the_same_lines(
    old: list[str], new: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, max(1, len(old))))
    last = data.draw(st.integers(first, max(first, len(old))))
    then, after = "\n".join(old), "\n".join(new)
    answer = answered(a_comment(first, last), after, then=then, before=then)
    if answer is None:
        excerpt = old[first - 1 : last]
        assert any(new[at : at + len(excerpt)] == excerpt for at in range(len(new) + 1))
    else:
        assert answer.lines is not None
        assert 1 <= answer.lines.first <= answer.lines.last + 1 <= len(new) + 1


def test_places_are_read_as_editors_print_them() -> None:
    assert read_lines("src/a.py:12-14") == LineRange(path="src/a.py", first=12, last=14)
    assert str(read_lines(" a:b.py:7 ")) == "a:b.py:7"
    for place in ("src/a.py", "12", ":12", "a.py:x", "a.py:1-", "a.py:-1", "a.py:" + "9" * 30):
        assert read_lines(place) is None


def test_a_comment_that_says_nothing_or_points_nowhere_is_refused() -> None:
    def refused(text: str | None = TEXT, **fields: object) -> str:
        draft = CommentDraft(path="f.py", first=1, last=1, text="x")
        with pytest.raises(UsageError) as caught:
            excerpt_of(replace(draft, **fields), text, "after attempt 2")
        return str(caught.value)

    assert refused(None) == "there is no file f.py after attempt 2"
    assert refused(first=5, last=9) == "f.py has no lines 5-9 after attempt 2: it has 5"
    assert "no lines 0" in refused(first=0, last=0)
    assert "no lines" in refused(first=3, last=2)
    assert f"at most {MOST_LINES} lines" in refused("x\n" * 999, last=MOST_LINES + 1)


def test_a_comment_has_a_text_of_bounded_length() -> None:
    for text, why in ((" \n", "says nothing"), ("x" * (LONGEST_COMMENT + 1), "4,001 characters")):
        draft = CommentDraft(path="f.py", first=1, last=2, text=text)
        with pytest.raises(UsageError, match=why):
            excerpt_of(draft, TEXT, "")


def test_comments_are_findings_with_names_of_their_own() -> None:
    round_1 = ReviewRound(
        round=1, word=ReviewVerdict.FAIL, findings=(Finding(id="F1", text="leaks"),)
    )
    thread = ReviewThread(rounds=(round_1,), comments=(a_comment(3, finding="F2"),))
    assert [one.id for one in thread.open_findings] == ["F2", "F1"]
    assert thread.next_number == 3
    said = read_review("<finding>new</finding><review-fail>no</review-fail>", thread)
    assert [one.id for one in said.findings] == ["F3"]
    again = '<finding id="F2">still</finding><review-fail>no</review-fail>'
    assert [one.is_new for one in read_review(again, thread).findings] == [False]


def test_the_state_of_a_finding_is_what_became_of_it() -> None:
    fails = ReviewRound(
        round=1,
        word=ReviewVerdict.FAIL,
        findings=tuple(Finding(id=f"F{number}", text="x") for number in (1, 2, 3)),
    )
    gone = (
        Dismissal(finding="F1", reason="no", by="attempt 1"),
        Dismissal(finding="F2", reason="no", by=A_PERSON),
    )
    thread = ReviewThread(rounds=(fails,), dismissals=gone)
    states = [thread.state_of(name) for name in ("F1", "F2", "F3")]
    assert states == [FindingState.DISPUTED, FindingState.DISMISSED, FindingState.OPEN]
    passes = ReviewRound(round=2, word=ReviewVerdict.PASS)
    assert replace(thread, rounds=(fails, passes)).state_of("F3") is FindingState.ADDRESSED
    closed = replace(fails, round=2, closed="2 rounds without new findings")
    assert replace(thread, rounds=(fails, closed)).state_of("F3") is FindingState.DISPUTED


def test_the_brief_shows_the_lines_and_the_two_ways_to_answer() -> None:
    thread = ReviewThread(comments=(a_comment(2, 3, text="rename\n\nboth"),))
    section = findings_to_fix_section(thread, "review.md")
    assert section is not None
    assert "      b\n      c\n\n  rename\n\n  both" in section.parts[0]
    assert '`< addressed id="F1" > src/a.py:12-14 < / addressed >`' in section.lead
    assert '`< dismiss id="F1" >' in section.lead


def test_what_is_left_without_an_answer_is_named() -> None:
    assert on_comments(()) is None
    verdict = on_comments([a_comment(3), a_comment(4, 5, finding="F2")])
    assert verdict is not None
    assert verdict.message.endswith("about its lines: F1 (f.py:3), F2 (f.py:4-5)")
