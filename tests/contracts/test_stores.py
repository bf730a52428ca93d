"""The store keeps the promises of its port."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.postgres.database import open_postgres_store
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.store.store import Store
from tests.contracts.store_contract import StoreContract
from tests.doubles.clock import FrozenClock
from tests.postgres_server import empty_schema


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, clock: FrozenClock, tmp_path: Path) -> Iterator[Store]:
        store = open_sqlite_store(str(tmp_path / "progress.db"), clock.now, relaxed=True)
        yield store
        wrong = store.check()
        store.close()
        assert wrong == [], "whatever a test did, the counters must have kept up with it"


class TestPostgresStore(StoreContract):
    @pytest.fixture
    def store(self, clock: FrozenClock) -> Iterator[Store]:
        store = open_postgres_store(empty_schema(), clock.now)
        yield store
        wrong = store.check()
        store.close()
        assert wrong == [], "whatever a test did, the counters must have kept up with it"
