"""The memory store, page by page."""

from collections.abc import Sequence

from ralph.core.events import Recorded
from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.task import Task
from ralph.testing.memory_state import State


class MemoryPages:
    """`Pages` on plain dicts."""

    def __init__(self, state: State) -> None:
        self._state = state

    def tasks_after(self, number: int, limit: int) -> list[tuple[int, Task]]:
        return list(enumerate(self._state.tasks.values(), 1))[number : number + limit]

    def names_of(self, tasks: Sequence[TaskId]) -> dict[TaskId, str]:
        known = self._state.tasks
        aliases = [one.alias for one in known.values()]
        return {
            one: alias if (alias := known[one].alias) and aliases.count(alias) == 1 else one
            for one in tasks
            if one in known
        }

    def learned_after(self, number: int, limit: int) -> list[Memory]:
        found = [
            one
            for key, one in sorted(self._state.memories.items())
            if key > number and one.kind is MemoryKind.KNOWLEDGE
        ]
        return found[:limit]

    def told_after(self, number: int, limit: int, kinds: Sequence[str]) -> list[Recorded]:
        later = self._state.events[number:]
        return [one for one in later if one.event.__struct_config__.tag in kinds][:limit]

    def attempts(self) -> int:
        return len(self._state.sessions)
