"""The memory store's memories, found by counting words in common."""

from collections.abc import Sequence

from msgspec.structs import replace

from ralph.core.errors import Missing
from ralph.core.events import MemoryForgotten, MemoryKept
from ralph.core.ids import RunId, TaskId
from ralph.core.memory import Memory, says_the_same
from ralph.core.relevance import shared
from ralph.core.relevance import words as words_of
from ralph.testing.memory_state import State


def remember(state: State, memory: Memory, run: RunId | None) -> None:
    """Keep it, within a transaction, unless it is known."""
    if says_the_same(memory) in map(says_the_same, state.memories.values()):
        return
    number = max(state.memories, default=0) + 1
    state.memories[number] = replace(memory, id=number, created_at=state.now())
    event = MemoryKept(
        memory_id=number, task_id=memory.task_id, kind=memory.kind, title=memory.name
    )
    state.emit(event, run)


class MemoryMemories:
    """`Memories` on plain dicts."""

    def __init__(self, state: State) -> None:
        self._state = state

    def learn(self, memory: Memory, run: RunId | None = None) -> None:
        with self._state.transaction():
            remember(self._state, memory, run)

    def recall(self, words: Sequence[str], limit: int) -> list[Memory]:
        asked = [one for word in words for one in words_of(word)]
        hits = [(shared(asked, _all_of(one)), one) for one in self.memories()]
        best = sorted(hits, key=lambda hit: -hit[0])
        return [one for count, one in best if count][:limit]

    def memories(self, *, task: TaskId | None = None, limit: int = 0) -> list[Memory]:
        found = [
            one for one in reversed(self._state.memories.values()) if task in (None, one.task_id)
        ]
        return found[:limit] if limit else found

    def forget(self, memory: int) -> Memory:
        with self._state.transaction():
            gone = self._state.memories.pop(memory, None)
            if gone is None:
                raise Missing(f"there is no memory {memory}")
            self._state.emit(
                MemoryForgotten(memory_id=memory, task_id=gone.task_id, title=gone.name)
            )
            return gone


def _all_of(memory: Memory) -> str:
    return " ".join((memory.title, *memory.tags, memory.text))
