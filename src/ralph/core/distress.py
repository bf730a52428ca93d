"""How badly an attempt went. What is on record decides; words in notes come second."""

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from ralph.core.sigils import read_sigils
from ralph.core.tried import Judged, Tried


class Distress(IntEnum):
    """From clean to bad."""

    NONE = 0
    MODERATE = 1
    SEVERE = 2


MODERATE: Final = frozenset({"error", "errors", "failure", "failures", "failed", "bug", "bugs"})
SEVERE: Final = frozenset(
    {"stuck", "cannot", "can't", "unable", "panic", "panics", "panicked", "crash", "crashes"}
    | {"crashed", "broken", "regression", "regressions"}
)
DENIALS: Final = frozenset(
    {"no", "not", "never", "without", "zero", "0", "none", "isn't", "nothing"}
    | {"fix", "fixed", "fixes", "fixing", "solved", "resolved", "mended", "repaired", "removed"}
    | {"prevent", "prevents", "prevented", "avoid", "avoids", "handle", "handles", "handled"}
)
"""Before a word they take its sting: `no errors`, `fixed the crash`."""
TOPICS: Final = frozenset(
    {"handling", "handler", "handlers", "message", "messages", "code", "codes", "page", "pages"}
    | {"type", "types", "class", "classes", "report", "reports", "reporter", "path", "paths"}
    | {"case", "cases", "tracker", "boundary", "test", "tests"}
)
"""After a word they tell that it is the work's subject: `error handling`."""
REACH: Final = 3
"""How many words before it can deny one."""
LONGEST: Final = 20_000
BAD: Final = frozenset({Judged.REJECTED, Judged.STRUCK, Judged.GAVE_UP})

_SENTENCES: Final = re.compile(r"[.;:!?](?=\s)|\n")
_AROUND: Final = "\"'`()[]{}<>*_,.;:!?"


def distress(tried: Tried, before: Sequence[Tried] = ()) -> Distress:
    """How badly it went. `before`: earlier attempts, oldest first.

    A second bad attempt in a row at one task is stuck, whatever it says.
    """
    said = max(map(heard, _texts(tried)), default=Distress.NONE)
    match tried.judged:
        case Judged.ACCEPTED:
            # Notes of work that counts tell of what was overcome: a word weighs one step less.
            return Distress(max(said - 1, 0))
        case Judged.GAVE_UP:
            return Distress.SEVERE
        case Judged.REJECTED | Judged.STRUCK:
            last = next((one for one in reversed(before) if one.task_id == tried.task_id), None)
            is_stuck = last is not None and last.judged in BAD
            return Distress.SEVERE if is_stuck else max(said, Distress.MODERATE)
        case Judged.CONFLICT | Judged.SPLIT | Judged.RELEASED:
            return Distress.NONE


def heard(text: str) -> Distress:
    """What the words of a note tell: whole words, unless they are denied or a topic."""
    found = Distress.NONE
    for sentence in _SENTENCES.split(text[:LONGEST].lower().replace("\u2019", "'")):
        # Not what stands inside of names: `error.py`, `on_crash`.
        words = [word.strip(_AROUND) for word in sentence.split()]
        for at, word in enumerate(words):
            weight = _weight(word)
            if weight > found and not _is_harmless(words, at):
                found = weight
    return found


def _weight(word: str) -> Distress:
    if word in SEVERE:
        return Distress.SEVERE
    return Distress.MODERATE if word in MODERATE else Distress.NONE


def _is_harmless(words: Sequence[str], at: int) -> bool:
    is_topic = at + 1 < len(words) and words[at + 1] in TOPICS
    return is_topic or not DENIALS.isdisjoint(words[max(0, at - REACH) : at])


def _texts(tried: Tried) -> tuple[str, ...]:
    journal = read_sigils(tried.message).journal
    return (*tried.notes, journal) if journal else tried.notes
