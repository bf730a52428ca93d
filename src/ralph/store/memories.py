"""What sessions have learned, and the search for it by its words."""

from collections.abc import Sequence, Set
from typing import Final

from ralph.core.errors import Missing
from ralph.core.events import MemoryForgotten, MemoryKept
from ralph.core.ids import RunId, TaskId
from ralph.core.memory import Memory, duplicate_key
from ralph.store.database import Part, Values, transaction
from ralph.store.rows import columns_of, value_of

SEARCHED: Final = 3000
"""How many of the newest a search looks at, of knowledge and of notes about attempts: so it takes
as long in ten years as today."""


class Memories(Part):
    """What later sessions may get. It stays when a task is deleted."""

    file = "memories"
    searched = SEARCHED

    @transaction
    def add(self, memory: Memory, run: RunId | None = None) -> None:
        """Keep it, unless it is known."""
        values = columns_of(memory) | {
            "tags": ",".join(memory.tags),
            "digest": _digest(memory),
            "now": self.db.now(),
        }
        number = self.db.value(self.sql.remember, values)
        if number is None:
            return
        self.db.execute(self.sql.index_words, values | {"id": number})
        self.db.execute(self.sql.retire, values | {"most": self.searched})
        event = MemoryKept(
            memory_id=number, task_id=memory.task_id, kind=memory.kind, title=memory.name
        )
        self.emit(event, run)

    def index_again(self, numbers: Set[int]) -> None:
        """Make these memories found in a database to which they were copied."""
        for kept in self.select():
            if kept.id in numbers:
                values = columns_of(kept) | {"tags": ",".join(kept.tags)}
                self.db.execute(self.sql.index_words, values)

    def search(self, words: Sequence[str], limit: int) -> list[Memory]:
        """Those that have any of the first words, the most relevant first. Words are data: nothing
        in them is taken for a query language."""
        from ralph.core.memory_selection import MOST_WORDS, split_words

        # With a million words the full-text index would work for hours, in a single call.
        asked = [one for word in words for one in split_words(word)][:MOST_WORDS]
        if not asked:
            return []
        return self._memories(self.sql.recall, {"words": self.db.any_of(asked), "limit": limit})

    def select(self, *, task: TaskId | None = None, limit: int = 0) -> list[Memory]:
        """All of them, or those of one task; newest first."""
        condition = "true" if task is None else self.sql.of_task
        values = {"task": task, "limit": self.db.limit(limit)}
        return self._memories(self.sql.memories % condition, values)

    def after(self, number: int, limit: int) -> list[Memory]:
        """What sessions have learned, after a number, oldest first."""
        return self._memories(self.sql.memories_after, {"number": number, "limit": limit})

    @transaction
    def delete(self, memory: int) -> Memory:
        """Remove it, and return what it was. Missing if there is none of that number."""
        found = self._memories(self.sql.memories % self.sql.of_number, {"id": memory, "limit": 1})
        if not found:
            raise Missing(f"there is no memory {memory}", hint="`ralph memory list` has them")
        (gone,) = found
        self.db.execute(self.sql.forget, {"id": memory})
        self.db.execute(self.sql.forget_words, {"id": memory})
        self.emit(MemoryForgotten(memory_id=memory, task_id=gone.task_id, title=gone.name))
        return gone

    def _memories(self, sql: str, values: Values) -> list[Memory]:
        return [
            value_of(Memory, (*row[:5], [tag for tag in row[5].split(",") if tag], *row[6:]))
            for row in self.db.rows(sql, values)
        ]


def _digest(memory: Memory) -> str:
    from hashlib import blake2b  # slow to import, and most commands remember nothing

    key = "\0".join(duplicate_key(memory))
    return blake2b(key.encode("utf-8", "replace"), digest_size=16).hexdigest()
