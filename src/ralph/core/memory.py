"""A memory: something that later sessions may get."""

from enum import StrEnum

import msgspec

from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line


class MemoryKind(StrEnum):
    """Where a memory comes from."""

    KNOWLEDGE = "knowledge"
    """A session, for all later ones."""
    JOURNAL = "journal"
    """A session, about its own attempt."""
    VERDICT = "verdict"
    """Ralph: why an attempt did not count."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    kind: MemoryKind
    text: str
    task_id: TaskId
    attempt: int
    title: str = ""
    """Of knowledge its own; else that of the task."""
    tags: tuple[str, ...] = ()
    id: int = 0
    """The store gives it one."""
    created_at: str = ""

    @property
    def name(self) -> str:
        """What people call it: its title, or how it begins."""
        return self.title or one_line(self.text, 80)


def duplicate_key(memory: Memory) -> tuple[str, ...]:
    """What duplicates share: knowledge its text, other memories the attempt as well."""
    if memory.kind is MemoryKind.KNOWLEDGE:
        return (memory.kind, " ".join(memory.text.lower().split()))
    return (memory.kind, memory.task_id, str(memory.attempt), memory.text)
