"""The same promises on PostgreSQL, which answers more slowly."""

import os

from hypothesis import settings

from ralph.adapters.postgres.database import open_postgres_store
from ralph.store.store import Store
from tests.core.test_promises import Promises
from tests.core.test_promises import TestPromises as OnSqlite
from tests.postgres_server import empty_schema


class PostgresPromises(Promises):
    def opened(self) -> Store:
        return open_postgres_store(empty_schema(), self.clock.now)


TestPostgresPromises = PostgresPromises.TestCase
TestPostgresPromises.settings = settings(
    OnSqlite.settings, max_examples=int(os.environ.get("RALPH_TEST_EXAMPLES", "100")) // 10
)
del OnSqlite
