"""How many processes of git one iteration starts: each costs more than all else between two
sessions."""

import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import Project

MARK = "--- a session"
CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every call of git is noted there."""
    log, shim = tmp_path / "calls", tmp_path / "bin/git"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec {shutil.which("git")} "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent), prepend=":")
    return log


def calls_of_iterations(project: Project, log: Path, work: str, *args: str) -> list[list[str]]:
    """What was called from one session to the next, by the last of several iterations."""
    project.agent(f'echo "{MARK}" >> "{log}"; {work}; {CLAIM}')
    for number in range(4):
        project.add(f"task {number}", *args)
    log.write_text("")
    project.ralph("run")
    sessions = log.read_text().split(MARK)
    return [session.strip().splitlines() for session in sessions[2:-1]]


def test_an_iteration_that_commits_starts_seven(project: Project, log: Path) -> None:
    project.write("work.txt", "")
    work = 'echo "$RALPH_TASK_ID" > work.txt'
    for calls in calls_of_iterations(project, log, work):
        assert len(calls) <= 7, "\n".join(calls)
    assert project.commits()[0] == "task 3"


def test_an_iteration_that_changes_nothing_starts_three(project: Project, log: Path) -> None:
    for calls in calls_of_iterations(project, log, "true", "--no-change"):
        assert len(calls) <= 3, "\n".join(calls)
