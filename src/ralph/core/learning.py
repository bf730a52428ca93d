"""What is worth remembering of an attempt, and which memories a later session is told."""

from collections.abc import Iterable, Set
from typing import Final

from ralph.core.ended import Cost
from ralph.core.ending import Ending
from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.safe_text import block, one_line
from ralph.core.sigils import read_sigils
from ralph.core.task import Task
from ralph.core.transitions import GaveUp, Rejected
from ralph.core.verdict import Verdict

LONGEST: Final = 4000
"""Letters of one memory."""
MOST: Final = 20
"""Memories of one attempt. An agent that writes a hundred has not chosen."""
TAGS: Final = 10
SHOWN: Final = 1000
"""Letters of one memory in a brief."""
OWN: Final = 3
"""Earlier attempts at the same task that a session hears of."""


def worth_keeping(task: Task, attempt: int, ending: Ending, verdict: Verdict) -> tuple[Memory, ...]:
    """What to remember of an attempt. A journal is kept whatever was decided; knowledge only from
    a session that came to its end, since one that was cut short has not seen whether it holds."""
    sigils = read_sigils(ending.message)
    title = one_line(task.title, 200)
    kept = []
    if ending.cost is Cost.JUDGE:
        kept += [
            Memory(
                kind=MemoryKind.KNOWLEDGE,
                text=_storable(one.text),
                title=one_line(one.title, 200),
                tags=tuple(one_line(tag, 40) for tag in one.tags[:TAGS]),
                task_id=task.id,
                attempt=attempt,
            )
            for one in sigils.knowledge[:MOST]
        ]
    if sigils.journal:
        kept.append(_about(MemoryKind.JOURNAL, sigils.journal, task.id, attempt, title))
    if isinstance(verdict.transition, Rejected | GaveUp):
        why = verdict.transition.reason
        if why and why != sigils.journal:
            kept.append(_about(MemoryKind.VERDICT, why, task.id, attempt, title))
    return tuple(kept)


def _about(kind: MemoryKind, text: str, task: TaskId, attempt: int, title: str) -> Memory:
    return Memory(kind=kind, text=_storable(text), task_id=task, attempt=attempt, title=title)


def _storable(text: str) -> str:
    """Not without end, and without halves of letters, which no database takes."""
    return text[:LONGEST].encode("utf-8", "replace").decode()


def own_notes(task: Task, found: Iterable[Memory]) -> list[Memory]:
    """What earlier attempts at the task have left, the newest first. Why the last one did not
    count is told elsewhere."""
    notes: dict[int, list[Memory]] = {}
    for one in sorted(found, key=lambda memory: (-memory.attempt, memory.id)):
        is_told = one.kind is MemoryKind.VERDICT and one.text == _storable(task.reason or "")
        if one.kind is not MemoryKind.KNOWLEDGE and not is_told:
            notes.setdefault(one.attempt, []).append(one)
    return [one for attempt in list(notes)[:OWN] for one in notes[attempt]]


def related(task: Task, found: Iterable[Memory], told: Set[TaskId]) -> list[Memory]:
    """Of what was found those that say something new: the stories of the task itself and of the
    `told` ones are in the brief already, what they have learned is not."""
    own = {task.id, *told}
    return [one for one in found if one.kind is MemoryKind.KNOWLEDGE or one.task_id not in own]


def as_note(memory: Memory, task: TaskId) -> str:
    """A memory as an entry of a list."""
    cut = memory.text if len(memory.text) <= SHOWN else memory.text[:SHOWN].rstrip() + "…"
    # Indented, so that nothing in it passes for a heading of the brief.
    text = block(cut).strip().replace("\n", "\n  ")
    if memory.kind is MemoryKind.KNOWLEDGE:
        title = f"**{memory.title}**: " if memory.title else ""
        tags = f" ({', '.join(memory.tags)})" if memory.tags else ""
        return f"- {title}{text}{tags}"
    whose = "this task" if memory.task_id == task else f"{memory.task_id} “{memory.title}”"
    said = "noted" if memory.kind is MemoryKind.JOURNAL else "did not count"
    return f"- attempt {memory.attempt} at {whose} {said}: {text}"
