"""A disk that fills up: what happened is recorded, what was paid for is not repeated."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import CLAIM, lines, refused

FILL = "dd if=/dev/zero of=.git/filler bs=4k 2>/dev/null"
"""Every last block; in `.git`, where it is nobody's work."""


class SmallDisk:
    """A project on a file system of two megabytes, and a place outside of it."""

    def __init__(self, path: Path) -> None:
        self.project = Project(path / "small")
        shutil.rmtree(path / "small" / ".git" / "hooks")
        self.project.ralph("init")
        self.sessions = path / "sessions"
        self.note = f"echo x >> '{self.sessions}'"

    def free(self) -> None:
        (self.project.path / ".git" / "filler").unlink()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(tmp_path)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_session_that_fills_the_disk_is_settled_from_the_reserve(small: SmallDisk) -> None:
    project = small.project
    project.agent(f"{small.note}; echo x > work.txt; {FILL}; {CLAIM}")
    task, other = project.add("first"), project.add("second")
    refused(project.try_ralph("run"), 73, "the disk is full", "free some space")
    small.free()
    assert (project.status(task), project.status(other)) == ("done", "pending")
    assert project.commits()[0] == "first"
    project.agent(DONE)
    project.ralph("run")
    assert project.status(other) == "done"
    assert len(lines(small.sessions)) == 1


def test_work_that_does_not_fit_is_judged_once_it_does(small: SmallDisk) -> None:
    project = small.project
    project.agent(
        f"{small.note}; head -c 400000 /dev/urandom > work.bin; {FILL}; {CLAIM}",
        gates='there = "test -e README.md"',
    )
    task = project.add("large")
    refused(project.try_ralph("run"), 73, "hint: ")
    assert project.status(task) in ("pending", "in_progress")
    small.free()
    project.ralph("run")
    assert len(lines(small.sessions)) == 1, "the session was paid for and must not be repeated"
    shown = project.task(task)
    assert (shown["status"], shown["retry_count"]) == ("done", 0)
    assert project.commits()[0] == "large"
    assert project.git("status", "--porcelain") == ""


def test_a_gate_that_fills_the_disk_loses_no_verdict(small: SmallDisk) -> None:
    project = small.project
    project.agent(
        f"{small.note}; {DONE}",
        gates=f"filler = '[ ! -e work.txt ] || {{ {FILL}; [ -e work.txt ]; }}'",
    )
    task = project.add("gated")
    refused(project.try_ralph("run"), 73, "free some space")
    small.free()
    project.ralph("run")
    assert project.status(task) == "done"
    assert len(lines(small.sessions)) == 1


def test_a_disk_that_is_full_before_the_run_starts_no_session(small: SmallDisk) -> None:
    project = small.project
    project.agent(f"{small.note}; {DONE}")
    task = project.add("x")
    subprocess.run(FILL, shell=True, cwd=project.path, check=False)
    refused(project.try_ralph("run"), 73, "hint: ")
    refused(project.try_ralph("task", "add", "y"), 73, "hint: ")
    small.free()
    assert lines(small.sessions) == []
    project.ralph("run")
    assert project.status(task) == "done"


def test_a_file_that_may_not_grow_is_an_error_in_one_line(project: Project) -> None:
    """Works everywhere, also where nothing can be mounted: a limit instead of a full disk."""
    program = (
        "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (999, -1))"
    )
    limit = project.path.parent / "limit.py"
    limit.write_text(program)
    sessions = project.path.parent / "sessions"
    # `exec` makes Ralph itself the parent of the program that sets the limit.
    project.agent(f"echo x >> '{sessions}'; {DONE}; exec '{sys.executable}' '{limit}'")
    task = project.add("x")
    done = project.try_ralph("run")
    refused(done, 73, "progress.db", "hint: ")
    assert project.status(task) == "in_progress", "nobody could write that it is not"
    project.agent(DONE)
    project.ralph("run")
    assert project.status(task) == "done"
    assert len(lines(sessions)) == 1


def test_a_full_disk_can_be_read(small: SmallDisk) -> None:
    project = small.project
    task = project.add("first")
    subprocess.run(FILL, shell=True, cwd=project.path, check=False)
    assert task in project.ralph("status")
    assert task in project.ralph("task", "list")
