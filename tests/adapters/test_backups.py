"""Copies of the database, and the memory that there was one."""

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.sqlite.backups import LOG_FILES, MARKER, Backups
from ralph.adapters.sqlite.damage import find_damage
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.errors import CannotWrite, Missing, UnusableData
from ralph.core.task import TaskDraft
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.doubles.clock import FrozenClock


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "progress.db")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def opened(path: str, folder: Path, *, keep: int = 5) -> Store:
    return open_sqlite_store(path, FrozenClock().now, backups=Backups(str(folder), keep=keep))


@pytest.fixture
def store(path: str, folder: Path) -> Iterator[Store]:
    store = opened(path, folder)
    store.tasks.add(TaskDraft(title="first"))
    yield store
    store.close()


def titles(path: str) -> list[str]:
    store = open_sqlite_store(path, FrozenClock().now)
    try:
        return sorted(task.title for task in store.tasks.select(TaskFilter()))
    finally:
        store.close()


def test_a_copy_holds_what_is_still_in_the_log(store: Store) -> None:
    copy = store.db.back_up()
    assert copy is not None
    assert titles(copy) == ["first"]


def test_the_same_state_is_copied_once(store: Store, folder: Path) -> None:
    assert store.db.back_up()
    assert store.db.back_up() is None
    store.tasks.add(TaskDraft(title="second"))
    assert store.db.back_up()
    assert len(list(folder.glob("*.db"))) == 2


def test_nothing_is_no_reason_for_a_copy(path: str, folder: Path) -> None:
    store = opened(path, folder)
    assert store.db.back_up() is None
    store.close()
    assert not folder.exists()


def test_the_oldest_copies_go(path: str, folder: Path) -> None:
    store = opened(path, folder, keep=2)
    made = []
    for number in range(4):
        store.tasks.add(TaskDraft(title=f"task {number}"))
        made.append(store.db.back_up())
    store.close()
    assert sorted(str(one) for one in folder.glob("*.db")) == made[2:]


def test_a_damaged_database_is_not_copied_over_good_copies(
    store: Store, path: str, folder: Path
) -> None:
    good = store.db.back_up()
    for number in range(200):
        store.tasks.add(TaskDraft(title=f"task {number}", description="x" * 500))
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


def test_the_newest_copy_is_the_newest_whatever_the_clock_says(
    path: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, made, now = opened(path, folder, keep=2), [], time.time()
    for number in range(4):
        store.tasks.add(TaskDraft(title=f"task {number}"))
        monkeypatch.setattr(time, "time", lambda number=number: now - 1e8 * number)
        made.append(store.db.back_up())
    store.close()
    assert [one.path for one in Backups(str(folder)).copies()] == made[:1:-1]


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ("DROP TABLE memories", "table memories is missing"),
        ("DROP INDEX tasks_ready", "index tasks_ready is missing"),
        ("UPDATE tasks SET title = x'00'", "tasks.title holds"),
    ],
)
def test_a_database_that_has_lost_a_part_is_not_copied_over_good_copies(
    store: Store, path: str, folder: Path, loss: str, said: str
) -> None:
    good = store.db.back_up()
    store.tasks.add(TaskDraft(title="second"))
    store.db.execute(loss)
    with pytest.raises(UnusableData, match=said) as caught:
        store.db.back_up()
    assert str(good) in caught.value.hint
    assert find_damage(path).startswith(said)
    assert [str(one) for one in folder.glob("*.db")] == [good]


def test_a_full_disk_is_told_and_leaves_nothing_half_done(store: Store, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    marker = folder / MARKER
    marker.unlink()
    folder.rmdir()
    folder.write_text("in the way")
    with pytest.raises(CannotWrite, match="no backup"):
        store.db.back_up()


@pytest.mark.parametrize("harm", ["gone", "empty", "no tables", "nothing in it", "an older copy"])
def test_a_database_that_knows_less_than_the_marker_is_damage(
    store: Store, path: str, folder: Path, harm: str
) -> None:
    store.db.back_up()
    older = Path(store.db.back_up() or next(folder.glob("*.db"))).read_bytes()
    store.tasks.add(TaskDraft(title="second"))
    newest = store.db.back_up()
    store.close()
    Path(path).unlink()
    if harm == "empty":
        Path(path).touch()
    elif harm == "no tables":
        sqlite3.connect(path).execute("VACUUM").connection.close()
    elif harm == "nothing in it":
        open_sqlite_store(path, FrozenClock().now).close()
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
        open_sqlite_store(path, FrozenClock().now, backups=backups)
    assert not os.path.exists(path)


def test_a_marker_that_was_cut_off_still_counts(path: str, folder: Path) -> None:
    folder.mkdir()
    (folder / MARKER).write_bytes(b"")
    with pytest.raises(UnusableData, match="is gone"):
        opened(path, folder)


def test_where_the_marker_was_removed_the_copies_show_that_there_was_one(
    store: Store, path: str, folder: Path
) -> None:
    store.db.back_up()
    store.close()
    (folder / MARKER).unlink()
    Path(path).unlink()
    with pytest.raises(UnusableData, match="is gone"):
        opened(path, folder)
    open_sqlite_store(path, FrozenClock().now).close()
    with pytest.raises(UnusableData, match="has nothing in it"):
        opened(path, folder)


def test_a_log_that_is_deleted_right_after_a_change_is_missed(
    store: Store, path: str, folder: Path
) -> None:
    store.db.rows("PRAGMA wal_checkpoint")
    without_log = Path(path).read_bytes()
    store.tasks.add(TaskDraft(title="second"))
    store.close()
    Path(path).write_bytes(without_log)
    with pytest.raises(UnusableData, match="has recorded"):
        opened(path, folder)


def test_who_began_anew_may_begin_again_until_something_is_recorded(
    store: Store, path: str, folder: Path
) -> None:
    store.db.back_up()
    store.close()
    backups = Backups(str(folder))
    backups.forget()
    backups.move_aside(path)
    opened(path, folder).close()
    Path(path).unlink()
    store = opened(path, folder)
    store.tasks.add(TaskDraft(title="anew"))
    store.close()
    Path(path).unlink()
    with pytest.raises(UnusableData, match="is gone"):
        opened(path, folder)


def test_a_database_behind_a_link_is_restored_where_the_link_leads(
    store: Store, path: str, folder: Path, tmp_path: Path
) -> None:
    store.db.back_up()
    store.close()
    link = tmp_path / "link.db"
    link.symlink_to(path)
    Path(path).write_bytes(b"noise" * 1000)
    _, aside = Backups(str(folder)).restore(str(link))
    assert Path(aside).read_bytes() == b"noise" * 1000
    assert link.is_symlink()
    assert titles(path) == ["first"]


def test_a_copy_takes_the_place_of_what_is_moved_aside(
    store: Store, path: str, folder: Path
) -> None:
    store.db.back_up()
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


def test_an_older_copy_counts_once_it_was_chosen(store: Store, path: str, folder: Path) -> None:
    first = store.db.back_up()
    store.tasks.add(TaskDraft(title="second"))
    store.db.back_up()
    store.close()
    Backups(str(folder)).restore(path, os.path.basename(str(first)))
    store = opened(path, folder)
    assert [task.title for task in store.tasks.select(TaskFilter())] == ["first"]
    store.close()


def test_a_broken_copy_is_passed_over_and_never_restored(
    store: Store, path: str, folder: Path
) -> None:
    good = store.db.back_up()
    store.tasks.add(TaskDraft(title="second"))
    bad = store.db.back_up()
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


def test_a_damaged_database_without_a_copy_has_a_way_out(path: str, folder: Path) -> None:
    Path(path).write_bytes(b"junk" * 1000)
    with pytest.raises(UnusableData) as refused:
        opened(path, folder)
    assert refused.value.hint.count("`ralph init --new-database`") == 1
