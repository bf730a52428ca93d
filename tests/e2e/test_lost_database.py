"""The drill: a project loses its database, is told so, gets it back, and goes on."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.adapters.sqlite.database import open_sqlite_store
from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import Stage, ended, refused

PLAN = ".ralph/implementation_plan.json"


def zeroed(file: Path) -> None:
    file.write_bytes(b"")


def deleted(file: Path) -> None:
    file.unlink()


def fresh(file: Path) -> None:
    """Made by an older Ralph, which takes no notice."""
    file.unlink()
    open_sqlite_store(str(file)).close()


def truncated(file: Path) -> None:
    with file.open("r+b") as handle:
        handle.truncate(file.stat().st_size // 2)


def scribbled(file: Path) -> None:
    with file.open("r+b") as handle:
        for page in range(3, 60, 2):
            handle.seek(page * 2048)
            handle.write(os.urandom(2048))


@pytest.fixture
def file(project: Project) -> Path:
    """The database of a project that has done one task of two."""
    project.agent(DONE)
    project.add("first")
    project.add("second")
    project.ralph("run", "--once", code=4)
    return project.path / ".ralph" / "progress.db"


@pytest.mark.parametrize("harm", [zeroed, deleted, fresh, truncated, scribbled])
def test_a_lost_database_is_65_until_it_is_restored(
    project: Project, file: Path, harm: Callable[[Path], None]
) -> None:
    harm(file)
    refused(project.try_ralph("run"), 65, "progress.db", "`ralph doctor --restore`")
    text = project.ralph("doctor", "--restore", "--yes")
    assert ".git/ralph/backups/" in text
    assert ("aside" in text) is (harm is not deleted)
    project.ralph("run")
    assert project.commits()[:3] == ["second", "first", "configure"]


def test_until_then_no_command_touches_what_is_left(project: Project, file: Path) -> None:
    plan = (project.path / PLAN).read_bytes()
    zeroed(file)
    for words in (["status"], ["task", "add", "x"], ["files", "rebuild"], ["task", "list"]):
        refused(project.try_ralph(*words), 65, "progress.db is empty", "`ralph doctor --restore`")
    assert (project.path / PLAN).read_bytes() == plan, "the last copy of the tasks"
    doctor = project.try_ralph("doctor")
    assert doctor.returncode == 1
    assert "whole, 2 tasks" in doctor.stdout
    refused(project.try_ralph("doctor", "--restore"), 64, "--yes")


def test_git_clean_takes_neither_the_backups_nor_the_memory(project: Project, file: Path) -> None:
    project.git("clean", "-fdxq")
    assert not file.exists()
    refused(project.try_ralph("status"), 65, "is gone", "`ralph doctor --restore`")
    project.ralph("doctor", "--restore", "--yes")
    project.ralph("run")
    assert "2 done" in project.ralph("status")


def test_a_log_that_was_deleted_under_a_dead_run_is_missed(project: Project, file: Path) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    run = project.start("run")
    stage.enter()
    run.kill()
    run.wait()
    stage.go()
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as reader:
        assert reader.execute("SELECT max(seq) FROM events").fetchone()[0] > 0
    reader.close()
    for end in ("-wal", "-shm"):
        file.with_name(f"progress.db{end}").unlink()
    refused(project.try_ralph("status"), 65, "has recorded", "--restore")


def test_tasks_that_landed_after_the_backup_are_named(project: Project, file: Path) -> None:
    backups = file.parents[1] / ".git" / "ralph" / "backups"
    before = {one.name for one in backups.rglob("2*.db")}
    first = min(before)
    project.ralph("run")
    zeroed(file)
    answer = json.loads(project.ralph("doctor", "--restore", first, "--yes", "--json"))
    assert [one["status"] for one in answer["landed"]] == ["pending", "pending"]
    assert {one["task_id"] for one in answer["landed"]} == {
        task["id"] for task in json.loads(project.ralph("task", "list", "--json"))
    }


def test_a_new_beginning_has_to_be_asked_for(project: Project, file: Path) -> None:
    zeroed(file)
    refused(project.try_ralph("init"), 65, "`ralph init --new-database`")
    refused(project.try_ralph("init", "--new-database"), 64, "--yes")
    project.ralph("init", "--new-database", "--yes")
    assert "no tasks yet" in project.ralph("status")
    assert list((project.path / ".git" / "ralph" / "backups").rglob("2*.db"))
    task = project.add("anew")
    project.ralph("run")
    assert project.status(task) == "done"


def test_a_clone_has_no_database_and_misses_none(project: Project, file: Path) -> None:
    clone = project.path.parent / "clone"
    project.git("clone", "-q", ".", str(clone))
    project.path = clone
    assert "no tasks yet" in project.ralph("status")


def test_a_project_of_an_older_ralph_is_known_by_its_plan(project: Project, file: Path) -> None:
    shutil.rmtree(project.path / ".git" / "ralph" / "backups")
    zeroed(file)
    refused(project.try_ralph("run"), 65, "is empty", "there is no backup of it")


def test_nothing_is_restored_while_a_run_is_at_work(project: Project, file: Path) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    run = project.start("run")
    stage.enter()
    refused(project.try_ralph("doctor", "--restore", "--yes"), 75, "at work")
    refused(project.try_ralph("init", "--new-database", "--yes"), 75, "at work")
    stage.go()
    ended(run)


def test_a_done_task_whose_commit_is_gone_is_done_again(project: Project, file: Path) -> None:
    commit = project.git("rev-parse", "HEAD")
    (project.path / ".git" / "objects" / commit[:2] / commit[2:]).unlink()
    doctor = project.try_ralph("doctor")
    assert f"commit {commit[:10]} of task" in doctor.stdout
    assert doctor.returncode == 1
    events = project.events()
    said = [event["message"] for event in events if event["event"] == "warned"]
    assert sum("is open again: its commit" in one for one in said) == 1
    assert events[-1]["outcome"] == "complete"
    assert "2 done" in project.ralph("status")
    assert project.git("show", "HEAD:work.txt").count("x") == 3
    project.git("fsck", "--no-reflogs", "--connectivity-only")


def test_a_commit_that_was_amended_is_only_told(project: Project, file: Path) -> None:
    project.git("commit", "-q", "--amend", "-m", "in my own words")
    events = project.events()
    said = " ".join(event["message"] for event in events if event["event"] == "warned")
    assert "no branch has these commits of done tasks any more" in said
    assert "is open again" not in said
