"""A project whose tasks are in a PostgreSQL database."""

import json
import stat
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import Stage, ended, lines, refused
from tests.postgres_server import empty_schema


@pytest.fixture
def address() -> str:
    """With a password, which the server does not ask for."""
    return empty_schema().replace("postgres@", "postgres:hunter2@")


@pytest.fixture
def shared(project: Project, address: str) -> Project:
    project.agent(DONE)
    (project.path / ".ralph/progress.db").unlink()
    said = project.ralph("init", "--store", address)
    assert "made   postgresql:///postgres" in said
    return project


def test_init_saves_an_address_that_works_where_sessions_do_not_see_it(
    shared: Project, address: str
) -> None:
    saved = shared.path / ".git/ralph/store-."
    assert saved.read_text() == address
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert "there  postgresql:///postgres" in shared.ralph("init")
    assert not (shared.path / ".ralph/progress.db").exists()


def test_init_refuses_an_address_that_does_not_work(project: Project, tmp_path: Path) -> None:
    project.agent(DONE)
    refused(project.try_ralph("init", "--store", "db.sqlite"), 64, "postgres://")
    gone = f"postgres://ada:hunter2@/plans?host={tmp_path}"
    said = refused(project.try_ralph("init", "--store", gone), 69, "cannot be reached")
    assert "hunter2" not in said
    project.ralph("task", "list")
    assert (project.path / ".ralph/progress.db").exists(), "the tasks are in the file, as before"


def test_a_run_works_on_it_from_the_first_task_to_the_report(shared: Project) -> None:
    first = shared.add("write a line")
    shared.add("write another", "--blocked-by", first)
    shared.ralph("run")
    assert "2" in shared.ralph("status")
    assert json.loads(shared.ralph("status", "--json"))
    listed = json.loads(shared.ralph("task", "list", "--all", "--json"))
    assert [task["status"] for task in listed] == ["done", "done"]
    for words in (("logs", first), ("costs",), ("report",), ("task", "show", first)):
        assert shared.ralph(*words)
    assert not (shared.path / ".ralph/progress.db").exists()


def test_no_session_learns_the_address(shared: Project, tmp_path: Path) -> None:
    seen = tmp_path / "environment"
    shared.agent(f"env > '{seen}'; {DONE}")
    shared.add("x")
    shared.ralph("run", RALPH_DB=(shared.path / ".git/ralph/store-.").read_text())
    assert "RALPH_TASK_ID" in seen.read_text()
    assert "hunter2" not in seen.read_text()
    assert "hunter2" not in shared.ralph("sandbox", "show", "--json")
    assert "hunter2" not in _doctor(shared)


def test_no_session_behind_the_sandbox_reads_the_address(
    shared: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_SANDBOX_MODE", "required")
    shared.agent(f"cat .git/ralph/store-* > seen.txt 2>&1; {DONE}")
    shared.add("x")
    shared.ralph("run")
    assert (shared.path / ".git/ralph/store-.").exists()
    assert "No such file" in (shared.path / "seen.txt").read_text()


def test_doctor_checks_the_store(shared: Project) -> None:
    found = {one["what"]: one["state"] for one in json.loads(_doctor(shared))}
    assert found["database postgresql:///postgres: whole, edges and counters right"] == "ok"
    assert not any("backup" in what for what in found)


def test_a_database_on_a_server_is_not_replaced(shared: Project) -> None:
    said = "the administrator of the server has its backups"
    refused(shared.try_ralph("init", "--new-database", "--yes"), 64, said)
    refused(shared.try_ralph("doctor", "--restore", "--yes"), 64, said)


def test_two_checkouts_share_the_tasks(project: Project, address: str, tmp_path: Path) -> None:
    sessions, other = tmp_path / "sessions", tmp_path / "other"
    project.agent("false")
    project.git("clone", "-q", str(project.path), str(other))
    there = Project.__new__(Project)
    there.path, there.started = other, []
    for number in range(6):
        project.ralph("task", "add", f"task {number}", RALPH_DB=address)
    command = f"echo $RALPH_TASK_ID >> '{sessions}'; echo x > $RALPH_TASK_ID; {DONE}"
    runs = [one.start("run", AGENT_CMD=command, RALPH_DB=address) for one in (project, there)]
    for run in runs:
        ended(run)
        run.communicate()
    done = lines(sessions)
    assert len(done) == len(set(done)) == 6
    listed = json.loads(project.ralph("task", "list", "--all", "--json", RALPH_DB=address))
    assert {(task["status"], task["attempt"]) for task in listed} == {("done", 1)}


def test_a_team_works_on_it(shared: Project) -> None:
    for number in range(4):
        shared.add(f"task {number}")
    shared.agent(f"echo x > $RALPH_TASK_ID; {DONE.replace('work.txt', '$RALPH_TASK_ID')}")
    shared.ralph("run", "--workers", "2")
    listed = json.loads(shared.ralph("task", "list", "--all", "--json"))
    assert {task["status"] for task in listed} == {"done"}


def test_the_tasks_are_copied_to_a_server_and_back(project: Project, address: str) -> None:
    project.agent(DONE)
    first = project.add("one")
    project.add("two", "--blocked-by", first)
    project.ralph("run", "--limit", "1", code=4)
    exported = project.ralph("task", "export")
    assert "copied 2 tasks" in project.ralph("store", "copy", address)
    said = project.try_ralph("init", "--store", address).stderr
    assert "what is in .ralph/progress.db stays there" in said
    assert project.ralph("task", "export") == exported
    project.ralph("run")
    refused(project.try_ralph("store", "copy", ".ralph/progress.db"), 64, "holds tasks already")
    (project.path / ".ralph/progress.db").rename(project.path / ".ralph/old.db")
    project.ralph("init", "--new-database", "--yes", code=64)
    said = project.ralph("store", "copy", ".ralph/copy.db")
    assert "copied 2 tasks" in said
    exported = project.ralph("task", "export")
    (project.path / ".ralph/copy.db").rename(project.path / ".ralph/progress.db")
    project.ralph("init", "--store", "file")
    assert project.ralph("task", "export") == exported
    assert {project.status(first)} == {"done"}


def test_nothing_is_copied_while_a_run_is_at_work(project: Project, address: str) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    project.add("x")
    run = project.start("run")
    stage.enter()
    refused(project.try_ralph("store", "copy", address), 75, "is at work with")
    stage.go()
    ended(run)
    project.ralph("store", "copy", address)


def _doctor(project: Project) -> str:
    return project.try_ralph("doctor", "--json").stdout
