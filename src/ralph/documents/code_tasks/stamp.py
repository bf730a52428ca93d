"""The status block of a code task: who did what to it, and when. Ralph writes it, and not one byte
beside it.

    ---
    Status: COMPLETED
    Completed-By: teammate-1
    Completed-At: 2026-02-10T14:30:00Z
    ---

Older files have a heading `## Status: PENDING` instead. It is read; what Ralph writes stands above
the text, and counts from then on.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.safe_text import one_line
from ralph.core.task import Status
from ralph.documents.markdown import LINE_END

FENCE: Final = "---"
LONGEST: Final = 300
PAIR: Final = re.compile(r"[\w-]+(?: [\w-]+){0,3}[ \t]*:(?:[ \t]|$)")
STATUS: Final = re.compile(r"(?i)status[ \t]*:(.*)")
HEADED: Final = re.compile(r"(?i)[ \t]{0,3}(?:#{1,6}[ \t]+|[*_]{2})status[*_]{0,2}[ \t]*:(.*)")
OTHER_HEADING: Final = re.compile(r"[ \t]{0,3}##")


class Word(StrEnum):
    """What a status block can say."""

    PENDING = "PENDING"
    IN_PROGRESS = "IN_PROGRESS"
    IN_REVIEW = "IN_REVIEW"
    COMPLETED = "COMPLETED"
    BLOCKED = "BLOCKED"


ALSO: Final = {
    "DONE": Word.COMPLETED,
    "COMPLETE": Word.COMPLETED,
    "TODO": Word.PENDING,
    "OPEN": Word.PENDING,
    "FAILED": Word.BLOCKED,
}
"""Words that people use for these."""
SIGNED: Final = {
    Word.IN_PROGRESS: ("Started-By", "Started-At"),
    Word.IN_REVIEW: ("Implemented-By", "Implemented-At"),
    Word.COMPLETED: ("Completed-By", "Completed-At"),
    Word.BLOCKED: ("Worked-By", "Blocked-At"),
}
"""How it is called who did it, and when. `Blocked-By` names other tasks."""
REASON: Final = "Blocked-Reason"
OWN: Final = frozenset(
    {"status", REASON.lower(), *(key.lower() for pair in SIGNED.values() for key in pair)}
)


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """What is written into a status block."""

    word: Word
    by: str = ""
    at: str = ""
    reason: str = ""
    """Why it is blocked."""


def word_of(status: Status, *, in_review: bool = False) -> Word:
    """What the graph's status is called in a code task."""
    match status:
        case Status.PENDING:
            return Word.PENDING
        case Status.IN_PROGRESS:
            return Word.IN_REVIEW if in_review else Word.IN_PROGRESS
        case Status.DONE:
            return Word.COMPLETED
        case Status.BLOCKED | Status.FAILED:
            return Word.BLOCKED


def read_word(text: str) -> Word | str | None:
    """What the file says about its status; the text itself where nobody knows that word; None
    where it says nothing."""
    said = _said(text)
    if not said:
        return None
    name = "_".join(said.upper().replace("-", " ").replace("_", " ").split())
    return Word(name) if name in {*Word} else ALSO.get(name, said)


def stamped(text: str, stamp: Stamp) -> str:
    """The text with this status block, line ends as they are."""
    lines = _lines(text)
    end = _line_end(lines)
    written = [f"{line}{end}" for line in _written(stamp)]
    close = _block_end(lines)
    if close is None:
        return "".join([FENCE + end, *written, FENCE + end, *lines])
    others = [line for line in lines[1:close] if _key(line) not in OWN]
    return "".join([lines[0], *written, *others, *lines[close:]])


def unstamped(text: str) -> str:
    """All that is not Ralph's: what must be the same whatever the status is."""
    lines = _lines(text)
    close = _block_end(lines)
    if close is None:
        return text
    others = [line for line in lines[1:close] if _key(line) not in OWN]
    if not any(line.strip() for line in others):
        return "".join(lines[close + 1 :])
    return "".join([lines[0], *others, *lines[close:]])


def parts(text: str) -> tuple[dict[str, str], str]:
    """What stands in the block, by names in small letters, and the text below it without any other
    word about the status."""
    lines = _lines(text)
    close = _block_end(lines)
    pairs = dict(_pairs(lines[1:close])) if close is not None else {}
    below = lines[close + 1 :] if close is not None else lines
    at = _headed(below)
    return pairs, "".join(line for number, line in enumerate(below) if number != at)


def _said(text: str) -> str:
    lines = _lines(text)
    close = _block_end(lines)
    for line in lines[1:close] if close is not None else ():
        if found := STATUS.match(line):
            return _bare(found[1])
    below = lines[close + 1 :] if close is not None else lines
    at = _headed(below)
    found = HEADED.match(below[at]) if at is not None else None
    return _bare(found[1]) if found else ""


def _headed(lines: Sequence[str]) -> int | None:
    """The line that has the status as a heading, if it comes before everything else."""
    for at, line in enumerate(lines):
        if HEADED.match(line):
            return at
        if OTHER_HEADING.match(line) and "blocked-by" not in line.lower():
            return None
        if line.lstrip().startswith(("```", "~~~")):
            return None
    return None


def _lines(text: str) -> list[str]:
    """With their ends."""
    found, at = [], 0
    for end in LINE_END.finditer(text):
        found.append(text[at : end.end()])
        at = end.end()
    return found + ([text[at:]] if at < len(text) else [])


def _line_end(lines: Sequence[str]) -> str:
    """As the first line ends."""
    first = lines[0] if lines else "\n"
    bare = first.rstrip("\r\n")
    return first[len(bare) :] or "\n"


def _block_end(lines: Sequence[str]) -> int | None:
    """Where the block at the top is closed. What is no block is a rule and text below it."""
    if not lines or lines[0].rstrip() != FENCE:
        return None
    for at, line in enumerate(lines[1:], 1):
        if line.rstrip() == FENCE:
            return at
        if line.strip() and not (line[0] in " \t#-" or PAIR.match(line)):
            return None
    return None


def _pairs(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and what stands behind them, and below them in a list."""
    name, value = "", ""
    for line in lines:
        if PAIR.match(line):
            if name:
                yield name, value
            name, _, value = line.partition(":")
            name, value = name.strip().lower(), value.strip()
        elif name and line.strip() and line[0] in " \t-":
            value = f"{value}\n{line.strip()}".strip()
    if name:
        yield name, value


def _key(line: str) -> str:
    name, colon, _ = line.partition(":")
    return name.strip().lower() if colon and name == name.lstrip() else ""


def _written(stamp: Stamp) -> Iterator[str]:
    yield f"Status: {stamp.word.value}"
    for key, value in zip(SIGNED.get(stamp.word, ()), (stamp.by, stamp.at), strict=False):
        if value:
            yield f"{key}: {_one_line(value)}"
    if stamp.reason:
        yield f"{REASON}: {_one_line(stamp.reason)}"


def _one_line(text: str) -> str:
    return one_line(text, LONGEST).strip()


def _bare(text: str) -> str:
    return text.strip().strip("*_`\"'[]").strip()
