"""When the disk, the folder or the file under the store gives way."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ralph.adapters.store.sqlite import SqliteStore
from ralph.core.errors import Busy, CannotWrite, UnusableData
from ralph.core.ids import TaskId
from ralph.core.task import Status
from ralph.ports.store import Filter
from ralph.testing.clock import FrozenClock
from ralph.testing.store_words import add, claim, settle
from tests.privileges import ordinary


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / ".ralph" / "progress.db")


@pytest.fixture
def store(path: str) -> Iterator[SqliteStore]:
    store = SqliteStore.open(path, FrozenClock(), relaxed=True)
    yield store
    store.close()


def test_a_lock_that_is_not_given_back_is_told(store: SqliteStore, path: str) -> None:
    other = SqliteStore.open(path, FrozenClock(), timeout_s=0.01)
    store.db.execute("BEGIN IMMEDIATE")
    assert other.tasks(Filter()) == [], "reading needs no lock"
    with pytest.raises(Busy, match="held by another program"):
        add(other, "a")
    store.db.execute("COMMIT")
    add(other, "a")
    other.close()


def test_damage_names_the_last_good_copy(path: str) -> None:
    store = SqliteStore.open(path, FrozenClock())
    add(store, "a")
    store.close()
    for age, version in enumerate((2, 1)):
        shutil.copy(path, f"{path}.backup-v{version}")
        os.utime(f"{path}.backup-v{version}", (1_000_000 - age, 1_000_000 - age))
    Path(path).write_bytes(b"not a database at all, but long enough to be looked at" * 100)
    with pytest.raises(UnusableData, match=r"progress\.db is damaged") as caught:
        SqliteStore.open(path, FrozenClock())
    assert "progress.db.backup-v2 (1 task" in caught.value.hint
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)


# A full disk


def fill_up(store: SqliteStore) -> None:
    """From now on the file may not grow."""
    pages = store.db.value("PRAGMA page_count")
    store.db.execute(f"PRAGMA max_page_count = {pages}")


def until_full(store: SqliteStore, change: Callable[[int], object]) -> int:
    """Repeat a change until there is no more room, or the reserve is used up."""
    for number in range(1000):
        change(number)
        if store.is_full:
            return number
    raise AssertionError("it never was full")


def test_a_full_disk_is_told_and_nothing_is_half_written(store: SqliteStore) -> None:
    add(store, "a")
    fill_up(store)
    with pytest.raises(CannotWrite, match="no space left") as caught:
        until_full(store, lambda number: store.log(TaskId("t-a"), f"{number}" * 500))
    assert caught.value.exit_code == 73
    assert not store.is_full
    store.db.execute("PRAGMA max_page_count = 1000000")
    logged = len(store.logs(TaskId("t-a")))
    assert store.last_seq() == 1 + logged, "each line has its event, the refused one neither"
    assert store.check() == []


def test_the_reserve_takes_what_a_full_disk_would_lose(
    store: SqliteStore, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.keep_reserve()
    assert os.path.getsize(f"{path}.reserve") == 256 * 1024
    give_away = store.db._give_reserve_away

    def and_there_is_room_again() -> bool:
        given = give_away()
        store.db.execute("PRAGMA max_page_count = 1000000")
        return given

    monkeypatch.setattr(store.db, "_give_reserve_away", and_there_is_room_again)
    fill_up(store)

    until_full(store, lambda number: store.inject(f"{number} " + "x" * 500, None))
    assert not os.path.exists(f"{path}.reserve")
    # What had to be written twice is there once.
    said = [text.split()[0] for text in store.guidance(TaskId("t-a"), 1)]
    assert len(said) == len(set(said))
    assert store.check() == []


def test_no_room_for_the_reserve_is_an_error_before_the_run(store: SqliteStore, path: str) -> None:
    os.mkdir(f"{path}.reserve")
    with pytest.raises(CannotWrite, match="reserve cannot be written"):
        store.keep_reserve()


# A removed folder


def test_a_removed_folder_is_written_again(store: SqliteStore, path: str) -> None:
    a = add(store, "a")
    taken = claim(store)
    assert not store.restore_if_removed()
    shutil.rmtree(os.path.dirname(path))
    # Nobody has noticed yet: what is written now must not be lost either.
    add(store, "b")
    assert store.restore_if_removed()
    assert not store.restore_if_removed()
    settle(store, taken)
    other = SqliteStore.open(path, FrozenClock())
    assert {task.id: task.status for task in other.tasks(Filter())} == {
        a: Status.DONE,
        "t-b": Status.PENDING,
    }
    assert other.check() == []
    other.close()
    left = set(os.listdir(os.path.dirname(path)))
    assert left == {"progress.db", "progress.db-wal", "progress.db-shm"}


def test_a_colleague_who_was_quicker_is_joined(store: SqliteStore, path: str) -> None:
    add(store, "a")
    other = SqliteStore.open(path, FrozenClock())
    shutil.rmtree(os.path.dirname(path))
    assert store.restore_if_removed()
    add(store, "b")
    assert other.restore_if_removed()
    assert [task.id for task in other.tasks(Filter())] == ["t-a", "t-b"]
    add(other, "c")
    assert len(store.tasks(Filter())) == 3
    other.close()


def test_a_store_that_began_anew_is_not_overwritten(store: SqliteStore, path: str) -> None:
    add(store, "old")
    shutil.rmtree(os.path.dirname(path))
    anew = SqliteStore.open(path, FrozenClock())
    add(anew, "new")
    assert store.restore_if_removed()
    assert [task.id for task in store.tasks(Filter())] == ["t-new"]
    anew.close()


def test_a_store_that_somebody_made_by_merely_looking_does_not_count(
    store: SqliteStore, path: str
) -> None:
    add(store, "old")
    shutil.rmtree(os.path.dirname(path))
    looking = SqliteStore.open(path, FrozenClock())
    assert looking.tasks(Filter()) == []
    assert store.restore_if_removed()
    assert [task.id for task in looking.tasks(Filter())] == ["t-old"]
    looking.close()


def test_a_log_that_is_removed_alone_is_written_again(store: SqliteStore, path: str) -> None:
    add(store, "a")
    for end in ("-wal", "-shm"):
        os.unlink(path + end)
    add(store, "b")
    assert store.restore_if_removed()
    assert not store.restore_if_removed()
    other = SqliteStore.open(path, FrozenClock())
    assert [task.id for task in other.tasks(Filter())] == ["t-a", "t-b"]
    assert other.check() == []
    other.close()


def test_another_programs_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE bookmarks (url TEXT)")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(UnusableData, match="not written by this Ralph"):
        SqliteStore.open(str(path), FrozenClock())
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_database_of_a_relative_is_named_and_left_as_it_is(tmp_path: Path, version: int) -> None:
    path = tmp_path / "progress.db"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE features (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
    theirs.execute("CREATE TABLE tasks (id TEXT PRIMARY KEY, title TEXT NOT NULL)")
    theirs.execute(f"PRAGMA user_version = {version}")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(UnusableData, match="not written by this Ralph") as refused:
        SqliteStore.open(str(path), FrozenClock())
    assert "ralph task import" in refused.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize("place", ["a folder", "no permission"])
def test_what_cannot_be_read_is_unusable(path: str, place: str) -> None:
    os.makedirs(path if place == "a folder" else os.path.dirname(path))
    if place == "no permission":
        Path(path).touch(0)
    with ordinary(), pytest.raises(UnusableData, match="cannot be read"):
        SqliteStore.open(path, FrozenClock())
