"""What later sessions may be told, and how it is found: by its words."""

from collections.abc import Sequence
from typing import Final

from ralph.adapters.store.papers import PapersPart
from ralph.adapters.store.part import reading, whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import memory_of
from ralph.core.errors import Missing
from ralph.core.events import MemoryForgotten, MemoryKept
from ralph.core.ids import RunId, TaskId
from ralph.core.memory import Memory, says_the_same

SQL = Queries("memory")

SEARCHED: Final = 3000
"""How many of the newest a search looks at, of knowledge and of notes about attempts: so it takes
as long in ten years as today."""


class MemoryPart(PapersPart):
    """`Memories` on the table `memories` and its index of words."""

    searched = SEARCHED

    def remember(self, memory: Memory, run: RunId | None) -> None:
        """Keep it, within a transaction, unless it is known."""
        values = _row(memory)
        number = self.db.value(SQL.remember, values | {"now": self.now()})
        if number is None:
            return
        self.db.execute(SQL.index_words, values | {"id": number})
        self.db.execute(SQL.retire, values | {"most": self.searched})
        event = MemoryKept(
            memory_id=number, task_id=memory.task_id, kind=memory.kind, title=memory.name
        )
        self.emit(event, run)

    @whole
    def learn(self, memory: Memory, run: RunId | None = None) -> None:
        """Keep it at once, unless it is known."""
        self.remember(memory, run)

    @reading
    def recall(self, words: Sequence[str], limit: int) -> list[Memory]:
        """Those that have any of the words, the most relevant first."""
        from ralph.core.relevance import words as words_of

        # In quotes, and only letters and digits between them: never an operator.
        asked = " OR ".join(f'"{one}"' for word in words for one in words_of(word))
        if not asked:
            return []
        rows = self.db.rows(SQL.recall, {"words": asked, "limit": limit})
        return [memory_of(row) for row in rows]

    @reading
    def memories(self, *, task: TaskId | None = None, limit: int = 0) -> list[Memory]:
        """Newest first."""
        condition = "true" if task is None else SQL.of_task
        values = {"task": task, "limit": limit or -1}
        return [memory_of(row) for row in self.db.rows(SQL.memories % condition, values)]

    @whole
    def forget(self, memory: int) -> Memory:
        """Remove it, and return what it was."""
        row = self.db.row(SQL.memories % SQL.of_number, {"id": memory, "limit": 1})
        if row is None:
            raise Missing(f"there is no memory {memory}", hint="`ralph memory list` has them")
        gone = memory_of(row)
        self.db.execute(SQL.forget, {"id": memory})
        self.db.execute(SQL.forget_words, {"id": memory})
        self.emit(MemoryForgotten(memory_id=memory, task_id=gone.task_id, title=gone.name))
        return gone


def _row(memory: Memory) -> dict[str, object]:
    from hashlib import blake2b  # slow to import, and most commands remember nothing

    said = "\0".join(says_the_same(memory))
    return {
        "kind": memory.kind.value,
        "task_id": memory.task_id,
        "attempt": memory.attempt,
        "title": memory.title,
        "tags": ",".join(memory.tags),
        "text": memory.text,
        "digest": blake2b(said.encode("utf-8", "replace"), digest_size=16).hexdigest(),
    }
