"""Ralph's own files: out of commits, out of the way, and in places that nobody expected."""

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import CLAIM, path, refs, refused
from tests.e2e.ralph_process import RALPH

FAIL = 'echo "<task-failed>$RALPH_TASK_ID</task-failed>"'


def by_hand(where: Path) -> Project:
    """A project that never saw `ralph init`: nothing is ignored."""
    project = Project(where)
    project.agent(DONE)
    return project


def test_without_any_ignore_entry_the_state_is_nobodys_work(tmp_path: Path) -> None:
    project = by_hand(tmp_path / "by hand")
    lazy = project.add("lazy", "--max-retries", "0")
    project.ralph("run", code=5, AGENT_CMD=CLAIM)
    assert "nothing in the tree has changed" in project.task(lazy)["reason"]
    good = project.add("good")
    project.ralph("run", code=5)
    assert project.status(good) == "done"
    assert project.git("show", "--name-only", "--format=", "HEAD") == "work.txt"
    failed = project.add("fails")
    project.ralph("run", code=5, AGENT_CMD=f"echo half > half.txt; {FAIL}")
    assert refs(project) == [f"refs/ralph/{failed}/1"]
    kept = project.git("ls-tree", "-r", "--name-only", f"refs/ralph/{failed}/1").splitlines()
    assert kept == [".ralph.toml", "README.md", "half.txt", "work.txt"]
    assert [project.status(one) for one in (lazy, good, failed)] == ["failed", "done", "failed"]
    assert project.git("status", "--porcelain") == ""


def test_an_agent_that_writes_its_own_gitignore_and_adds_everything(project: Project) -> None:
    project.agent(
        "echo build/ > .gitignore; mkdir -p build; echo x > build/x; echo x > work.txt;"
        f" git add -A; git commit -q -m all; {CLAIM}"
    )
    first, second = project.add("first"), project.add("second", "--no-change")
    project.ralph("run")
    assert [project.status(one) for one in (first, second)] == ["done", "done"]
    assert project.git("ls-files") == ".gitignore\n.ralph.toml\nREADME.md\nwork.txt"


def test_a_part_of_a_repository_without_ignore_entries(tmp_path: Path) -> None:
    whole = Project(tmp_path / "whole")
    part = Project.__new__(Project)
    part.path, part.started = whole.path / "a [part] *", []
    part.path.mkdir()
    part.agent(DONE)
    task = part.add("x")
    part.ralph("run")
    assert part.status(task) == "done"
    assert whole.git("show", "--name-only", "--format=", "HEAD") == "a [part] */work.txt"
    assert whole.git("status", "--porcelain") == ""


def test_a_linked_worktree_is_a_checkout_of_its_own(project: Project, tmp_path: Path) -> None:
    project.agent(DONE)
    project.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Project.__new__(Project)
    linked.path, linked.started = tmp_path / "linked", []
    task = linked.add("x")
    linked.ralph("run")
    assert linked.status(task) == "done"
    assert linked.commits()[0] == "x"
    assert project.commits()[0] == "configure"


@pytest.mark.parametrize("place", [".ralph", ".ralph/runs", ".ralph/progress.db"])
def test_something_else_in_its_place_is_said(project: Project, place: str) -> None:
    project.agent(DONE)
    project.add("x")
    where = project.path / place
    subprocess.run(["rm", "-rf", str(where)], check=True)
    if place.endswith("db"):
        where.mkdir()
    else:
        where.write_text("")
    code = 65 if place.endswith("db") else 73
    refused(project.try_ralph("run"), code, place, "hint: ")


def test_a_store_named_by_the_environment_may_be_wrong(project: Project, tmp_path: Path) -> None:
    project.agent(DONE)
    refused(project.try_ralph("run", RALPH_DB=str(tmp_path)), 65, str(tmp_path), "hint: ")
    refused(project.try_ralph("run", RALPH_DB="/dev/null/x.db"), 73, "/dev/null", "hint: ")
    refused(project.try_ralph("run", RALPH_DB=str(project.path / "README.md")), 65, "README.md")
    assert (project.path / "README.md").read_text() == "a project\n"


def test_a_long_name_for_temporary_files(project: Project, tmp_path: Path) -> None:
    """The path of a socket may have a hundred bytes only."""
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    project.agent(f'ralph task done "$RALPH_TASK_ID"; {DONE}')
    task = project.add("x")
    project.ralph("run", TMPDIR=str(folder), PATH=path())
    assert project.status(task) == "done"


@pytest.mark.parametrize(
    "shell",
    [
        "{ralph} run | head -n 1; exit ${{PIPESTATUS[0]}}",
        "{ralph} run --json | head -n 1; exit ${{PIPESTATUS[0]}}",
        "{ralph} run > /dev/full",
        "{ralph} run >&- 2>&- <&-",
        "umask 077; {ralph} run",
        "LC_ALL=C LANG= {ralph} run",
        "TERM=dumb COLUMNS=1 LINES=1 {ralph} run --color always",
    ],
)
def test_a_run_outlives_its_screen(project: Project, shell: str) -> None:
    """Nobody looks: that is no reason to leave the work undone."""
    project.agent(DONE)
    tasks = [project.add("first"), project.add("zweite Aufgabe für später")]
    done = subprocess.run(
        ["/bin/bash", "-c", shell.format(ralph=shlex.quote(RALPH))],
        cwd=project.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [project.status(task) for task in tasks] == ["done", "done"]


def test_a_command_that_cannot_be_read_is_bad_configuration(project: Project) -> None:
    project.add("x")
    refused(project.try_ralph("run", AGENT_CMD="agent 'with one quote"), 78, "quotation")
    said = project.ralph("run", code=6, AGENT_CMD="agent 'with one quote; and a shell")
    assert "Unterminated quoted string" in said or "unexpected EOF" in said
