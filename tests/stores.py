"""Stores for tests that need no file."""

from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.ports.clock import Clock
from ralph.store.store import Store

OPEN: list[Store] = []


def memory_store(clock: Clock) -> Store:
    """A store in memory, closed after the test."""
    store = open_sqlite_store(":memory:", clock.now)
    OPEN.append(store)
    return store


def close_memory_stores() -> None:
    while OPEN:
        OPEN.pop().close()
