"""Every store keeps the same promises."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.store.sqlite import SqliteStore
from ralph.ports.store import Store
from ralph.testing.clock import FrozenClock
from ralph.testing.memory_store import MemoryStore
from ralph.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self, clock: FrozenClock) -> Store:
        return MemoryStore(clock)


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, clock: FrozenClock, tmp_path: Path) -> Iterator[Store]:
        store = SqliteStore.open(str(tmp_path / "progress.db"), clock, relaxed=True)
        yield store
        wrong = store.check()
        store.close()
        assert wrong == [], "whatever a test did, the counters must have kept up with it"
