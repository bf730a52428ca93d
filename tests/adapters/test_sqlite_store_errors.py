"""When the disk, the folder or the file under the store gives way."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ralph.adapters.sqlite.backups import Backups
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.errors import Busy, CannotWrite, UnusableData
from ralph.core.ids import TaskId
from ralph.core.task import TaskStatus
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.contracts.store_test_helpers import add, claim, settle
from tests.doubles.clock import FrozenClock
from tests.privileges import ordinary


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / ".ralph" / "progress.db")


@pytest.fixture
def store(path: str) -> Iterator[Store]:
    store = open_sqlite_store(path, FrozenClock().now, relaxed=True)
    yield store
    store.close()


def test_a_lock_that_is_not_given_back_is_told(store: Store, path: str) -> None:
    other = open_sqlite_store(path, FrozenClock().now, timeout_s=0.01)
    store.db.execute("BEGIN IMMEDIATE")
    assert other.tasks.select(TaskFilter()) == [], "reading needs no lock"
    with pytest.raises(Busy, match="held by another program"):
        add(other, "a")
    store.db.execute("COMMIT")
    add(other, "a")
    other.close()


def test_damage_names_the_last_good_copy(path: str) -> None:
    backups = Backups(f"{path}.backups")
    store = open_sqlite_store(path, FrozenClock().now, backups=backups)
    add(store, "a")
    copy = store.db.back_up()
    store.close()
    Path(path).write_bytes(b"not a database at all, but long enough to be looked at" * 100)
    with pytest.raises(UnusableData, match=r"progress\.db is damaged") as caught:
        open_sqlite_store(path, FrozenClock().now, backups=backups)
    assert f"{copy} (1 task" in caught.value.hint
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)


# A full disk


def fill_up(store: Store) -> None:
    """From now on the file may not grow."""
    pages = store.db.value("PRAGMA page_count")
    store.db.execute(f"PRAGMA max_page_count = {pages}")


def until_full(store: Store, change: Callable[[int], object]) -> int:
    """Repeat a change until there is no more room, or the reserve is used up."""
    for number in range(1000):
        change(number)
        if store.db.is_full:
            return number
    raise AssertionError("it never was full")


def test_a_full_disk_is_told_and_nothing_is_half_written(store: Store) -> None:
    add(store, "a")
    fill_up(store)
    with pytest.raises(CannotWrite, match="no space left") as caught:
        until_full(store, lambda number: store.tasks.log(TaskId("t-a"), f"{number}" * 500))
    assert caught.value.exit_code == 73
    assert not store.db.is_full
    store.db.execute("PRAGMA max_page_count = 1000000")
    logged = len(store.tasks.logs(TaskId("t-a")))
    assert store.events.last_seq() == 1 + logged, "each line has its event, the refused one neither"
    assert store.check() == []


def test_the_reserve_takes_what_a_full_disk_would_lose(
    store: Store, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.db.keep_reserve()
    assert os.path.getsize(f"{path}.reserve") == 256 * 1024
    give_away = store.db._give_reserve_away  # type: ignore[attr-defined]

    def and_there_is_room_again() -> bool:
        given: bool = give_away()
        store.db.execute("PRAGMA max_page_count = 1000000")
        return given

    monkeypatch.setattr(store.db, "_give_reserve_away", and_there_is_room_again)
    fill_up(store)

    until_full(store, lambda number: store.messages.add_guidance(f"{number} " + "x" * 500, None))
    assert not os.path.exists(f"{path}.reserve")
    # What had to be written twice is there once.
    said = [text.split()[0] for text in store.messages.guidance(TaskId("t-a"), 1)]
    assert len(said) == len(set(said))
    assert store.check() == []


def test_no_room_for_the_reserve_is_an_error_before_the_run(store: Store, path: str) -> None:
    os.mkdir(f"{path}.reserve")
    with pytest.raises(CannotWrite, match="reserve cannot be written"):
        store.db.keep_reserve()


# A removed folder


def test_a_removed_folder_is_written_again(store: Store, path: str) -> None:
    a = add(store, "a")
    taken = claim(store)
    assert not store.db.restore_if_removed()
    shutil.rmtree(os.path.dirname(path))
    # Nobody has noticed yet: what is written now must not be lost either.
    add(store, "b")
    assert store.db.restore_if_removed()
    assert not store.db.restore_if_removed()
    settle(store, taken)
    other = open_sqlite_store(path, FrozenClock().now)
    assert {task.id: task.status for task in other.tasks.select(TaskFilter())} == {
        a: TaskStatus.DONE,
        "t-b": TaskStatus.PENDING,
    }
    assert other.check() == []
    other.close()
    left = set(os.listdir(os.path.dirname(path)))
    assert left == {"progress.db", "progress.db-wal", "progress.db-shm"}


def test_a_colleague_who_was_quicker_is_joined(store: Store, path: str) -> None:
    add(store, "a")
    other = open_sqlite_store(path, FrozenClock().now)
    shutil.rmtree(os.path.dirname(path))
    assert store.db.restore_if_removed()
    add(store, "b")
    assert other.db.restore_if_removed()
    assert [task.id for task in other.tasks.select(TaskFilter())] == ["t-a", "t-b"]
    add(other, "c")
    assert len(store.tasks.select(TaskFilter())) == 3
    other.close()


def test_a_store_that_began_anew_is_not_overwritten(store: Store, path: str) -> None:
    add(store, "old")
    shutil.rmtree(os.path.dirname(path))
    anew = open_sqlite_store(path, FrozenClock().now)
    add(anew, "new")
    assert store.db.restore_if_removed()
    assert [task.id for task in store.tasks.select(TaskFilter())] == ["t-new"]
    anew.close()


def test_a_store_that_somebody_made_by_merely_looking_does_not_count(
    store: Store, path: str
) -> None:
    add(store, "old")
    shutil.rmtree(os.path.dirname(path))
    looking = open_sqlite_store(path, FrozenClock().now)
    assert looking.tasks.select(TaskFilter()) == []
    assert store.db.restore_if_removed()
    assert [task.id for task in looking.tasks.select(TaskFilter())] == ["t-old"]
    looking.close()


def test_a_log_that_is_removed_alone_is_written_again(store: Store, path: str) -> None:
    add(store, "a")
    for end in ("-wal", "-shm"):
        os.unlink(path + end)
    add(store, "b")
    assert store.db.restore_if_removed()
    assert not store.db.restore_if_removed()
    other = open_sqlite_store(path, FrozenClock().now)
    assert [task.id for task in other.tasks.select(TaskFilter())] == ["t-a", "t-b"]
    assert other.check() == []
    other.close()


def test_another_programs_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE bookmarks (url TEXT)")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(UnusableData, match="not written by this Ralph"):
        open_sqlite_store(str(path), FrozenClock().now)
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
        open_sqlite_store(str(path), FrozenClock().now)
    assert "ralph task import" in refused.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize("place", ["a folder", "no permission"])
def test_what_cannot_be_read_is_unusable(path: str, place: str) -> None:
    os.makedirs(path if place == "a folder" else os.path.dirname(path))
    if place == "no permission":
        Path(path).touch(0)
    with ordinary(), pytest.raises(UnusableData, match="cannot be read"):
        open_sqlite_store(path, FrozenClock().now)


@pytest.fixture
def sealed(path: str) -> Iterator[Callable[[], None]]:
    """Nothing in the folder of the database can be written from now on."""
    folder = Path(path).parent

    def seal() -> None:
        for file in (*folder.glob("*"), folder):
            file.chmod(0o555 if file.is_dir() else 0o444)

    yield seal
    if folder.exists():
        folder.chmod(0o755)


def test_what_cannot_be_written_can_be_read(path: str, sealed: Callable[[], None]) -> None:
    before = open_sqlite_store(path, FrozenClock().now)
    add(before, "a")
    before.close()
    sealed()
    with ordinary():
        store = open_sqlite_store(path, FrozenClock().now)
        assert [task.title for task in store.tasks.select(TaskFilter())] == ["a"]
        assert not store.db.restore_if_removed()
        with pytest.raises(CannotWrite, match="cannot be written"):
            add(store, "b")
        store.close()


def test_what_another_user_writes_can_be_read_meanwhile(
    store: Store, path: str, sealed: Callable[[], None]
) -> None:
    add(store, "a")
    sealed()
    with ordinary():
        reader = open_sqlite_store(path, FrozenClock().now)
        assert [task.title for task in reader.tasks.select(TaskFilter())] == ["a"]
        add(store, "b")
        assert [task.title for task in reader.tasks.select(TaskFilter())] == ["a", "b"]
        reader.close()


def test_where_no_database_can_be_made_there_are_no_tasks(
    path: str, sealed: Callable[[], None]
) -> None:
    Path(path).parent.mkdir()
    sealed()
    with ordinary():
        for place in (path, os.path.join(os.path.dirname(path), "deeper", "progress.db")):
            store = open_sqlite_store(place, FrozenClock().now)
            assert store.tasks.select(TaskFilter()) == []
            with pytest.raises(CannotWrite, match=r"cannot (be written|make the folder)"):
                add(store, "a")
            store.close()
