"""What later sessions may be told, kept and found again."""

from collections.abc import Sequence
from typing import Protocol

from ralph.core.ids import RunId, TaskId
from ralph.core.memory import Memory


class Memories(Protocol):
    """What later sessions may be told. It stays when a task is deleted."""

    def learn(self, memory: Memory, run: RunId | None = None) -> None:
        """Keep it at once, unless it is known; what a session says in the end comes by `settle`."""
        ...

    def recall(self, words: Sequence[str], limit: int) -> list[Memory]:
        """Those that have any of the words, the most relevant first. Words are data: nothing in
        them is taken for a query language."""
        ...

    def memories(self, *, task: TaskId | None = None, limit: int = 0) -> list[Memory]:
        """All of them, or those of one task; newest first."""
        ...

    def forget(self, memory: int) -> Memory:
        """Remove it, and return what it was. Missing if there is none of that number."""
        ...
