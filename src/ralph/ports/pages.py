"""What views are drawn from: everything, page by page, never all at once."""

from collections.abc import Sequence
from typing import Protocol

from ralph.core.events import Recorded
from ralph.core.ids import TaskId
from ralph.core.memory import Memory
from ralph.core.task import Task


class Pages(Protocol):
    """Each page begins behind the number with which the last one ended."""

    def tasks_after(self, number: int, limit: int) -> list[tuple[int, Task]]:
        """Tasks in the order in which they were made, each with its number."""
        ...

    def names_of(self, tasks: Sequence[TaskId]) -> dict[TaskId, str]:
        """What to call tasks so that everybody knows which: by the alias, unless another task has
        the same."""
        ...

    def learned_after(self, number: int, limit: int) -> list[Memory]:
        """What sessions have learned, oldest first."""
        ...

    def told_after(self, number: int, limit: int, kinds: Sequence[str]) -> list[Recorded]:
        """Events of some kinds, oldest first."""
        ...

    def attempts(self) -> int:
        """How many have been begun, of all tasks."""
        ...
