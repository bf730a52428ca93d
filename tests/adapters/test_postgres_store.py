"""PostgreSQL as the store: several writers, lost connections, and what is refused."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from ralph.adapters.postgres.database import open_postgres_store
from ralph.adapters.postgres.dialect import reworded
from ralph.adapters.postgres.migrations import FOLDER
from ralph.core.errors import TemporaryFailure, Unavailable, UnusableData
from ralph.core.events import Warned
from ralph.core.ids import RunId, WorkerId
from ralph.store.store import Store
from tests.contracts.store_test_helpers import add, begin, may_claim, settle
from tests.doubles.clock import FrozenClock
from tests.doubles.cut_line import CutLine
from tests.postgres_server import empty_schema, new_schema, server_folder, server_url

RUN = RunId("run-1")


def all_at_once(*works: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


# Several writers


def test_no_task_is_handed_out_twice() -> None:
    url = empty_schema()
    store = open_postgres_store(url)
    for number in range(30):
        add(store, f"{number:02}")
    done: list[str] = []

    def work(name: str) -> None:
        mine = open_postgres_store(url)
        while (taken := may_claim(mine, WorkerId(name))) is not None:
            settle(mine, taken)
            done.append(taken.task.id)
        mine.close()

    all_at_once(*(lambda name=f"agent-{number:08}": work(name) for number in range(4)))
    assert sorted(done) == [f"t-{number:02}" for number in range(30)]
    assert store.check() == []
    store.close()


def test_a_reader_that_asks_for_what_is_new_misses_no_event() -> None:
    url = empty_schema()
    seen: list[int] = []
    reader = open_postgres_store(url)
    writers = 4

    def write() -> None:
        store = open_postgres_store(url)
        for number in range(25):
            store.events.record(Warned(message=str(number)), RUN)
        store.close()

    threads = [threading.Thread(target=write) for _ in range(writers)]
    for one in threads:
        one.start()
    while len(seen) < writers * 25:
        after = seen[-1] if seen else 0
        seen.extend(found.seq for found in reader.events.select(after=after))
    for one in threads:
        one.join()
    assert reader.events.select(after=seen[-1]) == []
    assert len(set(seen)) == writers * 25
    reader.close()


def test_a_process_that_is_frozen_in_a_transaction_loses_it() -> None:
    store = open_postgres_store(empty_schema())
    assert store.db.value("SHOW idle_in_transaction_session_timeout") == "3s"
    store.close()


# Lost connections


@pytest.fixture
def line(tmp_path: Path) -> Iterator[CutLine]:
    server, here = server_folder(), _on_line()
    here.mkdir(exist_ok=True)
    line = CutLine(server / ".s.PGSQL.5432", here / ".s.PGSQL.5432")
    yield line
    line.close()
    here.rmdir()


def _on_line() -> Path:
    # The folders of tests have names that are too long for a socket.
    return Path(f"{server_folder()}-{os.getpid()}")


def through_line() -> str:
    """The address of an empty schema, by way of the line."""
    return empty_schema().replace(str(server_folder()), str(_on_line()))


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def store(line: CutLine, told: list[str]) -> Iterator[Store]:
    store = open_postgres_store(through_line(), patience_s=0.05, warn=told.append)
    yield store
    store.close()


def messages(store: Store) -> list[str]:
    return [one.event.message for one in store.events.select() if isinstance(one.event, Warned)]


def test_a_lost_connection_is_made_again(store: Store, line: CutLine, told: list[str]) -> None:
    store.events.record(Warned(message="one"), RUN)
    line.cut()
    line.restore()
    assert messages(store) == ["one"]
    store.events.record(Warned(message="two"), RUN)
    assert messages(store) == ["one", "two"]
    assert told == [], "only the connection was lost"


def test_a_transaction_whose_connection_is_lost_is_done_again(store: Store, line: CutLine) -> None:
    line.cut_before = b"INSERT INTO events"
    store.events.record(Warned(message="one"), RUN)
    assert messages(store) == ["one"]
    assert line.connections == 2


def test_what_was_committed_is_not_done_again_when_the_answer_is_lost(
    store: Store, line: CutLine
) -> None:
    line.cut_after = b"COMMIT"
    store.events.record(Warned(message="one"), RUN)
    assert messages(store) == ["one"]
    assert line.connections == 2


def test_what_was_never_committed_is_done_again(store: Store, line: CutLine) -> None:
    line.cut_before = b"COMMIT"
    store.events.record(Warned(message="one"), RUN)
    assert messages(store) == ["one"]
    assert line.connections == 2


def test_a_claim_whose_answer_is_lost_is_the_workers(store: Store, line: CutLine) -> None:
    begin(store)
    add(store, "a")
    line.cut_after = b"COMMIT"
    taken = may_claim(store)
    assert taken is not None
    assert taken.attempt == 1
    assert store.claims.holds(taken)


def test_an_outage_that_is_too_long_is_a_failure_that_passes(
    store: Store, line: CutLine, told: list[str]
) -> None:
    line.cut()
    with pytest.raises(TemporaryFailure, match=r"database .* cannot be reached"):
        store.events.record(Warned(message="one"), RUN)
    (said,) = told
    assert said.endswith("; waiting for it")
    line.restore()
    assert messages(store) == []


def test_a_user_who_stops_a_run_does_not_wait_for_the_server(line: CutLine) -> None:
    store = open_postgres_store(through_line(), patience_s=600)
    store.db.interrupted = lambda: "SIGINT"
    line.cut()
    with pytest.raises(TemporaryFailure):
        store.events.record(Warned(message="one"), RUN)
    store.close()


def test_work_goes_on_after_an_outage(line: CutLine) -> None:
    told: list[str] = []

    def warn(said: str) -> None:
        told.append(said)
        if said.endswith("; waiting for it"):
            line.restore()

    store = open_postgres_store(through_line(), patience_s=60, warn=warn)
    line.cut()
    store.events.record(Warned(message="one"), RUN)
    assert messages(store) == ["one"]
    assert told[1].endswith("is back")
    assert len(told) == 2
    store.close()


def test_a_server_that_is_not_there_is_reported_without_the_password(tmp_path: Path) -> None:
    host = quote(str(tmp_path), safe="")
    with pytest.raises(Unavailable, match="cannot be reached") as caught:
        open_postgres_store(f"postgresql://ada:hunter2@/plans?host={host}")
    assert "hunter2" not in str(caught.value) + caught.value.hint
    assert f"{tmp_path}/plans" in str(caught.value)


# Versions


def test_a_database_of_a_newer_ralph_is_refused_with_both_versions() -> None:
    with new_schema() as url:
        store = open_postgres_store(url)
        store.db.write(
            lambda: store.db.execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'")
        )
        store.close()
        known = len(os.listdir(FOLDER))
        with pytest.raises(UnusableData, match=f"has version 99, .* versions up to {known}"):
            open_postgres_store(url)


def test_the_tables_of_another_program_are_left_alone() -> None:
    with new_schema() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE tasks (id INTEGER)")
        with pytest.raises(UnusableData, match="was not written by this Ralph"):
            open_postgres_store(url)


def test_a_schema_that_does_not_exist_is_reported() -> None:
    with pytest.raises(UnusableData, match="has no schema to work in"):
        open_postgres_store(f"{server_url()}&options=-csearch_path%3Dno_such")


def test_several_processes_make_the_tables_once() -> None:
    with new_schema() as url:
        opened: list[Store] = []
        all_at_once(*[lambda: opened.append(open_postgres_store(url))] * 4)
        assert len(opened) == 4
        for one in opened:
            one.close()


# Values and statements


def test_what_is_stored_is_read_back(clock: FrozenClock) -> None:
    store = open_postgres_store(empty_schema(), clock.now)
    text = "größe % ? :name $1 '\\'' \\u0000 ☃ {x} 100%s"
    task = add(store, "a", description=text)
    assert store.tasks.find(task).description == text
    store.close()


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.mark.parametrize(
    ("sql", "text", "names"),
    [
        ("a = ? AND b = ?", "a = $1 AND b = $2", ()),
        ("a = ?2 AND b = ?1 AND c = ?2", "a = $2 AND b = $1 AND c = $2", ()),
        ("a = :a AND b = :b AND c = :a", "a = $1 AND b = $2 AND c = $1", ("a", "b")),
        ("'it''s :a ?' = :a::text", "'it''s :a ?' = $1::text", ("a",)),
        ("tasks INDEXED BY tasks_ready WHERE +path = 1", "tasks WHERE path = 1", ()),
    ],
)
def test_a_statement_is_reworded(sql: str, text: str, names: tuple[str, ...]) -> None:
    assert reworded(sql) == (text, names)


def test_a_row_is_replaced_by_its_key() -> None:
    sql, _ = reworded("INSERT OR REPLACE INTO stints (session_id, number, data) VALUES (?, ?, ?)")
    assert sql == (
        "INSERT INTO stints (session_id, number, data) VALUES ($1, $2, $3)"
        " ON CONFLICT (session_id, number) DO UPDATE SET data = excluded.data"
    )
