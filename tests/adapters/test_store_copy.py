"""A store is copied from one database to another, with all that is in it."""

from pathlib import Path

import pytest

from ralph.adapters.postgres.database import open_postgres_store
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.breaker import Breaker
from ralph.core.errors import Busy, UsageError
from ralph.core.memory import Memory, MemoryKind
from ralph.core.transitions import Accepted
from ralph.store.copying import TABLES, copy_store
from ralph.store.documents import DocumentSnapshot
from ralph.store.store import Store
from tests.contracts.store_test_helpers import RUN, add, begin, claim, join, settle, start
from tests.doubles.clock import FrozenClock
from tests.postgres_server import empty_schema


def a_full_store(path: Path) -> Store:
    store = open_sqlite_store(str(path), FrozenClock().now, relaxed=True)
    begin(store)
    join(store)
    feature = store.features.add("pool")
    a = add(store, "a", feature_id=feature.id, files=("x.py",), description="größe \0 ☃")
    add(store, "child", under=a)
    add(store, "b", after=[a])
    add(store, "gone")
    taken = claim(store)
    start(store, taken, duration_s=2.5)
    memory = Memory(
        kind=MemoryKind.KNOWLEDGE, text="the pool is small", task_id=a, attempt=1, title="Pools"
    )
    store.claims.settle(
        taken, Accepted(), message="done it", fail_fast=False, run=RUN, memories=[memory]
    )
    store.archive.add(add(store, "old"))
    store.messages.add_guidance("be quick", a)
    store.breakers.save("teammate-1", Breaker())
    store.documents.save(DocumentSnapshot(path="prd.md", content=b"\xff\x00"))
    return store


def rows(store: Store) -> dict[str, set[tuple[object, ...]]]:
    return {
        table: {
            tuple(one.replace("\0", "\ufffd") if isinstance(one, str) else one for one in row)
            for row in store.db.rows(f"SELECT * FROM {table}")
        }
        for table in TABLES
    }


def test_a_store_is_the_same_after_a_copy_to_a_server_and_back(tmp_path: Path) -> None:
    first = a_full_store(tmp_path / "first.db")
    server = open_postgres_store(empty_schema(), FrozenClock().now)
    last = open_sqlite_store(str(tmp_path / "last.db"), FrozenClock().now)
    assert copy_store(first, server) == copy_store(server, last)
    assert rows(last) == rows(first)
    for store in (server, last):
        assert store.check() == []
        assert [one.text for one in store.memories.search(["pool"], 9)] == ["the pool is small"]
        # What comes next gets numbers of its own.
        taken = claim(store)
        begin(store, run=RUN.__class__("run-2"), worker=taken.worker)
        settle(store, taken)
        add(store, "more")
        store.messages.add_guidance("go on", None)
    assert server.events.last_seq() == last.events.last_seq()
    for store in (first, server, last):
        store.close()


def test_a_store_that_holds_tasks_is_not_overwritten(tmp_path: Path) -> None:
    first, other = a_full_store(tmp_path / "first.db"), a_full_store(tmp_path / "other.db")
    with pytest.raises(UsageError, match="the target holds tasks already"):
        copy_store(first, other)
    first.close()
    other.close()


def test_a_store_that_changes_meanwhile_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = a_full_store(tmp_path / "first.db")
    target = open_sqlite_store(str(tmp_path / "target.db"))
    index_again = target.memories.index_again
    monkeypatch.setattr(
        target.memories, "index_again", lambda known: (add(first, "new"), index_again(known))
    )
    with pytest.raises(Busy, match="has changed meanwhile"):
        copy_store(first, target)
    assert target.events.last_seq() == 0
    first.close()
    target.close()
