"""Match an attempt's change with the comments of people on lines: which lines answer them?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from ralph.core.errors import UsageError
from ralph.core.review_thread import CommentAnswer, DiffSide, FindingState, LineComment, LineRange
from ralph.core.safe_text import one_line
from ralph.core.task import Task, TaskDraft

MOST_LINES: Final = 200
"""Of one comment."""
LONGEST_COMMENT: Final = 4000
MOST_COMPARED: Final = 20_000
"""Lines that differ: more are one change."""
Text = str | None
"""The text of a file; None where there is none."""


class CommentDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comment as a person writes it."""

    path: str
    first: int
    last: int
    side: DiffSide = DiffSide.NEW
    text: str

    @property
    def lines(self) -> LineRange:
        return LineRange(path=self.path, first=self.first, last=self.last)


class FileTexts(NamedTuple):
    """A file when it was commented on, when the first session began that knew the comment, and as
    the attempt left it."""

    then: Text
    before: Text
    after: Text


def read_lines(place: str) -> LineRange | None:
    """`src/a.py:12` or `src/a.py:12-14`; None for anything else."""
    path, _, numbers = place.strip().rpartition(":")
    first, dash, last = numbers.partition("-")
    last = last if dash else first
    if not (path and first.isdecimal() and last.isdecimal() and len(numbers) < 20):
        return None
    return LineRange(path=path, first=int(first), last=int(last))


def excerpt_of(draft: CommentDraft, text: Text, moment: str) -> str:
    """The lines of a comment, of the text at that moment. UsageError if there are none, or if it
    says nothing."""
    lines, path = draft.lines, one_line(draft.path, 200)
    if not draft.text.strip():
        raise UsageError(f"the comment on {one_line(str(lines), 200)} says nothing")
    if len(draft.text) > LONGEST_COMMENT:
        raise UsageError(
            f"the comment on {one_line(str(lines), 200)} is {len(draft.text):,} characters long,"
            f" and may have {LONGEST_COMMENT:,}"
        )
    if text is None:
        raise UsageError(f"there is no file {path} {moment}", hint="paths begin at the top of git")
    found = text.splitlines()
    if not 1 <= lines.first <= lines.last <= len(found):
        wanted = str(lines).rpartition(":")[2]
        raise UsageError(f"{path} has no lines {wanted} {moment}: it has {len(found)}")
    if lines.last - lines.first >= MOST_LINES:
        raise UsageError(f"a comment is about at most {MOST_LINES} lines")
    return "\n".join(found[lines.first - 1 : lines.last])


def follow_up_of(task: Task) -> TaskDraft:
    """The task that answers comments on a change that is done. A reply may be all of its work."""
    return TaskDraft(
        title=f"Answer the comments on {task.name}: {task.title}",
        description=f"{task.name} is done. A person has read its change and wants more.",
        parent_id=task.parent_id,
        feature_id=task.feature_id,
        priority=task.priority,
        max_retries=task.max_retries,
        blocked_by=(task.id,),
        needs_change=False,
    )


def answer_of(
    comment: LineComment, attempt: int, texts: Mapping[str, FileTexts], named: Sequence[LineRange]
) -> CommentAnswer | None:
    """What an attempt has done about a comment; None: nothing. `named` are the lines that its
    session gives as answer: they count where it has changed something."""
    for lines in named:
        if (file := texts.get(lines.path)) is not None and _changed_within(file, lines):
            return _addressed(attempt, lines, file.after)
    file = texts[comment.lines.path]
    if comment.side is DiffSide.OLD:
        back = _find(comment.excerpt.splitlines(), (file.after or "").splitlines())
        return None if back is None else _addressed(attempt, _at(comment, *back), file.after)
    then = file.before if file.then is None else file.then
    start, stop = comment.lines.first - 1, comment.lines.last
    now = _moved(then, file.after, start, stop)
    if not now.is_changed:
        return None
    if file.then != file.before and _moved(then, file.before, start, stop).is_changed:
        return CommentAnswer(state=FindingState.STALE, attempt=attempt)
    if file.after is None:
        return CommentAnswer(state=FindingState.ADDRESSED, attempt=attempt)
    return _addressed(attempt, _at(comment, now.start, now.stop), file.after)


class _Place(NamedTuple):
    """Lines of another version of the text, counted from 0, without the last."""

    start: int
    stop: int
    is_changed: bool


def _moved(old: Text, new: Text, start: int, stop: int) -> _Place:
    """Where lines are in a new version of the text; they count as changed if one of them is, or one
    beside them: what is asked for is often a line more."""
    if old is None or new is None:
        return _Place(start, stop, is_changed=old is not new)
    first, last, is_changed = start, stop, False
    for tag, i1, i2, j1, j2 in _blocks(old.splitlines(), new.splitlines()):
        if tag == "equal":
            if i1 <= start < i2 and not is_changed:
                first = j1 + start - i1
            if i1 < stop <= i2:
                last = j1 + stop - i1
        elif i1 <= stop and i2 >= start:
            first = first if is_changed else j1 if i1 <= start else first
            last, is_changed = j2, True
    return _Place(first, max(last, first), is_changed)


def _changed_within(file: FileTexts, lines: LineRange) -> bool:
    """Has the attempt written one of these lines?"""
    if file.after is None:
        return False
    new = file.after.splitlines()
    if not 1 <= lines.first <= lines.last <= len(new):
        return False
    blocks = _blocks((file.before or "").splitlines(), new)
    return any(
        tag != "equal" and j1 < lines.last and j2 >= lines.first for tag, _, _, j1, j2 in blocks
    )


def _blocks(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """The blocks of two versions that are equal or not, in their order."""
    # What is alike at both ends is most of a file, and costs next to nothing here.
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    yield "equal", 0, head, 0, head
    end, new_end = len(old) - tail, len(new) - tail
    middle, new_middle = old[head:end], new[head:new_end]
    if len(middle) + len(new_middle) > MOST_COMPARED:
        yield "replace", head, end, head, new_end
    else:
        from difflib import SequenceMatcher  # every command imports this module

        for tag, i1, i2, j1, j2 in SequenceMatcher(None, middle, new_middle).get_opcodes():
            yield tag, head + i1, head + i2, head + j1, head + j2
    yield "equal", end, len(old), new_end, len(new)


def _alike(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _find(lines: list[str], text: list[str]) -> tuple[int, int] | None:
    size = len(lines)
    starts = (at for at in range(len(text) - size + 1) if text[at : at + size] == lines)
    at = next(starts, None)
    return None if at is None else (at, at + size)


def _at(comment: LineComment, start: int, stop: int) -> LineRange:
    return LineRange(path=comment.lines.path, first=start + 1, last=stop)


def _addressed(attempt: int, lines: LineRange, text: Text) -> CommentAnswer:
    shown = (text or "").splitlines()[lines.first - 1 : min(lines.last, lines.first + MOST_LINES)]
    return CommentAnswer(
        state=FindingState.ADDRESSED, attempt=attempt, lines=lines, text="\n".join(shown)
    )
