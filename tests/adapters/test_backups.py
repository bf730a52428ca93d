"""Copies of the database, and the memory that there was one."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.store.backups import LOG_FILES, MARKER, Backups
from ralph.adapters.store.sqlite import SqliteStore
from ralph.core.errors import CannotWrite, Missing, UnusableData
from ralph.core.task import Draft
from ralph.ports.store import Filter
from ralph.testing.clock import FrozenClock


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "progress.db")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def opened(path: str, folder: Path, *, keep: int = 5) -> SqliteStore:
    return SqliteStore.open(path, FrozenClock(), backups=Backups(str(folder), keep=keep))


@pytest.fixture
def store(path: str, folder: Path) -> Iterator[SqliteStore]:
    store = opened(path, folder)
    store.add_task(Draft(title="first"))
    yield store
    store.close()


def titles(path: str) -> list[str]:
    store = SqliteStore.open(path, FrozenClock())
    try:
        return sorted(task.title for task in store.tasks(Filter()))
    finally:
        store.close()


def test_a_copy_holds_what_is_still_in_the_log(store: SqliteStore) -> None:
    copy = store.back_up()
    assert copy is not None
    assert titles(copy) == ["first"]


def test_the_same_state_is_copied_once(store: SqliteStore, folder: Path) -> None:
    assert store.back_up()
    assert store.back_up() is None
    store.add_task(Draft(title="second"))
    assert store.back_up()
    assert len(list(folder.glob("*.db"))) == 2


def test_nothing_is_no_reason_for_a_copy(path: str, folder: Path) -> None:
    store = opened(path, folder)
    assert store.back_up() is None
    store.close()
    assert not folder.exists()


def test_the_oldest_copies_go(path: str, folder: Path) -> None:
    store = opened(path, folder, keep=2)
    made = []
    for number in range(4):
        store.add_task(Draft(title=f"task {number}"))
        made.append(store.back_up())
    store.close()
    assert sorted(str(one) for one in folder.glob("*.db")) == made[2:]


def test_a_damaged_database_is_not_copied_over_good_copies(
    store: SqliteStore, path: str, folder: Path
) -> None:
    good = store.back_up()
    for number in range(200):
        store.add_task(Draft(title=f"task {number}", description="x" * 500))
    store.close()
    with open(path, "r+b") as file:
        file.seek(8192)
        file.write(os.urandom(40_000))
    backups = Backups(str(folder))
    with pytest.raises(UnusableData, match="damaged") as caught:
        backups.back_up(path)
    assert str(good) in caught.value.hint
    assert [str(one) for one in folder.glob("*.db")] == [good]
    assert not list(folder.glob("*.partial"))


def test_a_full_disk_is_told_and_leaves_nothing_half_done(store: SqliteStore, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    marker = folder / MARKER
    marker.unlink()
    folder.rmdir()
    folder.write_text("in the way")
    with pytest.raises(CannotWrite, match="no backup"):
        store.back_up()


@pytest.mark.parametrize("harm", ["gone", "empty", "no tables", "nothing in it", "an older copy"])
def test_a_database_that_knows_less_than_the_marker_is_damage(
    store: SqliteStore, path: str, folder: Path, harm: str
) -> None:
    store.back_up()
    older = Path(store.back_up() or next(folder.glob("*.db"))).read_bytes()
    store.add_task(Draft(title="second"))
    newest = store.back_up()
    store.close()
    Path(path).unlink()
    if harm == "empty":
        Path(path).touch()
    elif harm == "no tables":
        sqlite3.connect(path).execute("VACUUM").connection.close()
    elif harm == "nothing in it":
        SqliteStore.open(path, FrozenClock()).close()
    elif harm == "an older copy":
        Path(path).write_bytes(older)
    before = Path(path).read_bytes() if harm != "gone" else None
    with pytest.raises(UnusableData) as caught:
        opened(path, folder)
    assert f"`ralph doctor --restore` brings back {newest} (2 tasks" in caught.value.hint
    assert (Path(path).read_bytes() if os.path.exists(path) else None) == before


def test_where_nothing_was_recorded_nothing_is_expected(path: str, folder: Path) -> None:
    opened(path, folder).close()
    Path(path).unlink()
    opened(path, folder).close()
    assert os.path.exists(path)


def test_files_of_an_older_ralph_show_that_there_was_one(path: str, folder: Path) -> None:
    backups = Backups(str(folder), had_one=lambda: True)
    with pytest.raises(UnusableData, match="is gone"):
        SqliteStore.open(path, FrozenClock(), backups=backups)
    assert not os.path.exists(path)


def test_a_marker_that_was_cut_off_still_counts(path: str, folder: Path) -> None:
    folder.mkdir()
    (folder / MARKER).write_bytes(b"")
    with pytest.raises(UnusableData, match="is gone"):
        opened(path, folder)


def test_a_copy_takes_the_place_of_what_is_moved_aside(
    store: SqliteStore, path: str, folder: Path
) -> None:
    store.back_up()
    store.close()
    Path(path).write_bytes(b"noise" * 1000)
    Path(f"{path}-wal").write_bytes(b"more noise")
    backups = Backups(str(folder))
    chosen, aside = backups.restore(path)
    assert chosen.tasks == 1
    assert Path(aside).read_bytes() == b"noise" * 1000
    assert Path(f"{aside}-wal").read_bytes() == b"more noise"
    assert titles(path) == ["first"]
    assert not any(os.path.exists(f"{aside}{end}.partial") for end in LOG_FILES)
    opened(path, folder).close()


def test_an_older_copy_counts_once_it_was_chosen(
    store: SqliteStore, path: str, folder: Path
) -> None:
    first = store.back_up()
    store.add_task(Draft(title="second"))
    store.back_up()
    store.close()
    Backups(str(folder)).restore(path, os.path.basename(str(first)))
    store = opened(path, folder)
    assert [task.title for task in store.tasks(Filter())] == ["first"]
    store.close()


def test_a_broken_copy_is_passed_over_and_never_restored(
    store: SqliteStore, path: str, folder: Path
) -> None:
    good = store.back_up()
    store.add_task(Draft(title="second"))
    bad = store.back_up()
    store.close()
    Path(str(bad)).write_bytes(b"noise" * 1000)
    backups = Backups(str(folder))
    assert [bool(one.trouble) for one in backups.copies()] == [True, False]
    with pytest.raises(UnusableData, match="cannot be used"):
        backups.restore(path, bad)
    assert backups.restore(path)[0].path == good


def test_without_a_copy_there_is_nothing_to_restore(path: str, folder: Path) -> None:
    with pytest.raises(Missing, match="no backup"):
        Backups(str(folder)).restore(path)
