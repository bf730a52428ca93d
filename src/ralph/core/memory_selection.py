"""Which memories an attempt leaves, and which memories a later session gets."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import Final

from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.message_tags import read_message_tags
from ralph.core.safe_text import multi_line, one_line
from ralph.core.session_ending import Consequence, SessionEnding
from ralph.core.task import Task
from ralph.core.transitions import GaveUp, Rejected
from ralph.core.verdict import Verdict

MOST_WORDS: Final = 32
"""More words make a search slower and no better."""
# Said in every task, so that sharing them says nothing.
COMMON: Final = frozenset(
    str.split("""
    a about add after all also an and any are as at be been before but by can do does done each
    for from get has have how if in into is it its make more must new no not of on only or other
    out over set should so some such task tasks than that the their them then there these they
    this to up use used uses using was we were what when where which while who why will with
    without work works would you your
    """)
)
_WORD: Final = re.compile(r"[^\W_]+")


def split_words(text: str) -> list[str]:
    """Every word, in small letters; `parse_header` is two."""
    return _WORD.findall(text.lower())


def significant_words(title: str, text: str = "") -> tuple[str, ...]:
    """The words to search with: those of the title, then the most frequent of the text."""
    named = _without_common_words(split_words(title))
    frequent = [word for word, _ in Counter(_without_common_words(split_words(text))).most_common()]
    return tuple(dict.fromkeys([*named, *frequent]))[:MOST_WORDS]


def _without_common_words(found: Iterable[str]) -> list[str]:
    return [word for word in found if len(word) > 1 and word not in COMMON]


def count_shared_words(asked: Sequence[str], text: str) -> int:
    """How many of the words are in a text."""
    return len(set(asked).intersection(split_words(text)))


LONGEST: Final = 4000
"""Letters of one memory."""
MOST: Final = 20
"""Memories of one attempt. An agent that writes a hundred has not chosen."""
TAGS: Final = 10
SHOWN: Final = 1000
"""Letters of one memory in a brief."""
OWN: Final = 3
"""Earlier attempts at the same task that a session hears of."""


def memories_of_attempt(
    task: Task, attempt: int, ending: SessionEnding, verdict: Verdict
) -> tuple[Memory, ...]:
    """The memories of an attempt: its journal; knowledge only of a finished session."""
    tags = read_message_tags(ending.message)
    title = one_line(task.title, 200)
    kept = []
    if ending.consequence is Consequence.JUDGE:
        kept += [
            Memory(
                kind=MemoryKind.KNOWLEDGE,
                text=_storable(one.text),
                title=one_line(one.title, 200),
                tags=tuple(one_line(tag, 40) for tag in one.tags[:TAGS]),
                task_id=task.id,
                attempt=attempt,
            )
            for one in tags.knowledge[:MOST]
        ]
    if tags.journal:
        kept.append(_about(MemoryKind.JOURNAL, tags.journal, task.id, attempt, title))
    if isinstance(verdict.transition, Rejected | GaveUp):
        why = verdict.transition.reason
        if why and why != tags.journal:
            kept.append(_about(MemoryKind.VERDICT, why, task.id, attempt, title))
    return tuple(kept)


def _about(kind: MemoryKind, text: str, task: TaskId, attempt: int, title: str) -> Memory:
    return Memory(kind=kind, text=_storable(text), task_id=task, attempt=attempt, title=title)


def _storable(text: str) -> str:
    """Not without end, and without halves of letters, which no database takes."""
    return text[:LONGEST].encode("utf-8", "replace").decode()


def notes_of_task(task: Task, found: Iterable[Memory]) -> list[Memory]:
    """Return the notes of earlier attempts at the task, newest first."""
    notes: dict[int, list[Memory]] = {}
    for one in sorted(found, key=lambda memory: (-memory.attempt, memory.id)):
        is_reason = one.kind is MemoryKind.VERDICT and one.text == _storable(task.reason or "")
        if one.kind is not MemoryKind.KNOWLEDGE and not is_reason:
            notes.setdefault(one.attempt, []).append(one)
    return [one for attempt in list(notes)[:OWN] for one in notes[attempt]]


def related_memories(task: Task, found: Iterable[Memory], known: Set[TaskId]) -> list[Memory]:
    """Return the memories of other tasks that the brief does not contain yet."""
    own = {task.id, *known}
    return [one for one in found if one.kind is MemoryKind.KNOWLEDGE or one.task_id not in own]


def memory_line(memory: Memory, task: TaskId) -> str:
    """A memory as an entry of a list."""
    cut = memory.text if len(memory.text) <= SHOWN else memory.text[:SHOWN].rstrip() + "…"
    # Indented, so that nothing in it passes for a heading of the brief.
    text = multi_line(cut).strip().replace("\n", "\n  ")
    if memory.kind is MemoryKind.KNOWLEDGE:
        title = f"**{memory.title}**: " if memory.title else ""
        tags = f" ({', '.join(memory.tags)})" if memory.tags else ""
        return f"- {title}{text}{tags}"
    whose = "this task" if memory.task_id == task else f"{memory.task_id} “{memory.title}”"
    said = "noted" if memory.kind is MemoryKind.JOURNAL else "did not count"
    return f"- attempt {memory.attempt} at {whose} {said}: {text}"
