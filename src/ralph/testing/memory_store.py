"""A store without a file: for tests, and the oracle that the other stores are measured against."""

from collections.abc import Callable

from ralph.core.replay import replay
from ralph.ports.clock import Clock
from ralph.ports.store import Store
from ralph.testing.memory_breakers import MemoryBreakers
from ralph.testing.memory_claims import MemoryClaims
from ralph.testing.memory_crew import MemoryCrew
from ralph.testing.memory_history import MemoryHistory
from ralph.testing.memory_ledger import MemoryLedger
from ralph.testing.memory_memories import MemoryMemories
from ralph.testing.memory_pages import MemoryPages
from ralph.testing.memory_papers import MemoryPapers
from ralph.testing.memory_state import State


class MemoryStore(
    MemoryPapers,
    MemoryCrew,
    MemoryClaims,
    MemoryHistory,
    MemoryMemories,
    MemoryLedger,
    MemoryBreakers,
    MemoryPages,
):
    """`Store` on plain dicts. Slow and plain on purpose: readiness is computed, not kept."""

    def __init__(self, clock: Clock) -> None:
        state = State(clock)
        self.before_mark: Callable[[], object] = lambda: None
        MemoryPapers.__init__(self, state)
        MemoryCrew.__init__(self, state)
        MemoryClaims.__init__(self, state)
        MemoryHistory.__init__(self, state, claims=self, crew=self)
        MemoryMemories.__init__(self, state)
        MemoryLedger.__init__(self, state)
        MemoryBreakers.__init__(self, state)
        MemoryPages.__init__(self, state)

    def check(self) -> list[str]:
        told = replay(recorded.event for recorded in self._state.events)
        wrong = []
        if told.edges != self._state.edges:
            wrong.append("the journal tells of other edges")
        if {task: one.status for task, one in told.tasks.items()} != {
            task: one.status for task, one in self._state.tasks.items()
        }:
            wrong.append("the journal tells of other tasks")
        return wrong

    is_full = False

    def keep_reserve(self) -> None:
        """Memory has no disk to run out of."""

    def back_up(self) -> str | None:
        """There is no file to copy."""
        return None

    def restore_if_removed(self) -> bool:
        """There is no file to remove."""
        return False

    def close(self) -> None:
        """Nothing to let go of."""


def _keeps_the_promise(store: MemoryStore) -> Store:
    return store
