"""A database that is not what it should be: said, never repaired in silence, never overwritten."""

import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.errors import Busy, UnusableData
from ralph.store.tasks import TaskFilter
from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import Stage, ended, refused

COMMANDS = (["run"], ["status"], ["task", "list"], ["task", "add", "x"])


def garbage(file: Path) -> None:
    file.write_bytes(os.urandom(20_000))


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


def in_pieces(file: Path) -> None:
    """The first page is good, the others are noise."""
    file.write_bytes(file.read_bytes()[:4096] + os.urandom(file.stat().st_size - 4096))


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def newer(file: Path) -> None:
    database = sqlite3.connect(file)
    database.execute("PRAGMA user_version = 999")
    database.close()


def another_programs(file: Path) -> None:
    file.unlink()
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE bookmarks (url TEXT)")
    database.close()


@pytest.fixture
def file(project: Project) -> Path:
    project.agent(DONE)
    project.add("kept")
    return project.path / ".ralph" / "progress.db"


@pytest.mark.parametrize("harm", [garbage, truncated, in_pieces, a_folder, newer, another_programs])
def test_a_database_that_cannot_be_used_is_65(
    project: Project, file: Path, harm: Callable[[Path], None]
) -> None:
    harm(file)
    before = content(file)
    for words in COMMANDS:
        refused(project.try_ralph(*words), 65, "progress.db", "hint: ")
    assert content(file) == before
    assert not (project.path / "work.txt").exists()


def content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def test_a_database_that_may_not_be_read_is_65() -> None:
    """Root may read everything, so root becomes somebody else for a moment."""
    with TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "progress.db")
        open_sqlite_store(path).close()
        os.chmod(path, 0)
        me = os.geteuid()
        if me == 0:
            os.seteuid(65534)
        try:
            with pytest.raises(UnusableData, match=r"progress\.db cannot be read"):
                open_sqlite_store(path)
        finally:
            os.seteuid(me)


def test_damage_in_the_middle_of_a_run_ends_it_in_one_line(project: Project, file: Path) -> None:
    project.agent(f"dd if=/dev/urandom of=.ralph/progress.db bs=4k count=99 2>/dev/null; {DONE}")
    refused(project.try_ralph("run"), 65, "progress.db", "hint: ")
    assert (project.path / "work.txt").read_text() == "x\n"


def test_an_empty_file_is_a_new_database_where_nothing_was_recorded(project: Project) -> None:
    project.agent(DONE)
    (project.path / ".ralph" / "progress.db").write_bytes(b"")
    project.ralph("run", code=3)
    task = project.add("anew")
    project.ralph("run")
    assert project.status(task) == "done"


def test_a_database_that_somebody_holds_is_75(tmp_path: Path) -> None:
    """At the level of the store, where a test need not wait for half a minute."""
    path = str(tmp_path / "progress.db")
    open_sqlite_store(path).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    store = open_sqlite_store(path, timeout_s=0.05)
    assert store.tasks.select(TaskFilter()) == [], "reading needs no lock"
    with pytest.raises(Busy, match="held by another program") as caught:
        store.features.add("x")
    assert caught.value.exit_code == 75
    assert "fuser" in caught.value.hint
    holder.execute("ROLLBACK")
    holder.close()
    store.features.add("x")
    store.close()


def test_a_lock_that_is_given_back_in_time_costs_nothing(project: Project, file: Path) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    run = project.start("run")
    stage.enter()
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    stage.go()
    wait_for((project.path / "work.txt").exists, "the agent did its work")
    holder.execute("ROLLBACK")
    holder.close()
    assert "complete" in ended(run)


@pytest.fixture
def read_only(project: Project, file: Path) -> Iterator[Project]:
    """The same project, on a file system that cannot be written."""
    path = str(project.path)
    for options in (["--bind"], ["-o", "remount,ro,bind"]):
        mount = ["mount", *options, path, path]
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield project
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def test_a_checkout_that_cannot_be_written_is_73(read_only: Project) -> None:
    for words in (["run"], ["task", "add", "x"], ["run", "--once"]):
        refused(read_only.try_ralph(*words), 73, "hint: ")


def test_a_store_elsewhere_does_not_make_a_read_only_checkout_work(
    read_only: Project, tmp_path: Path
) -> None:
    shared = str(tmp_path / "shared.db")
    read_only.ralph("task", "add", "x", RALPH_DB=shared)
    refused(read_only.try_ralph("run", RALPH_DB=shared), 73, "hint: ")
    assert '"attempt":0' in read_only.ralph("task", "list", "--json", RALPH_DB=shared).replace(
        " ", ""
    )
