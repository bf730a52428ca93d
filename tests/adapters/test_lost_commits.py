"""Commits of done tasks that are gone, broken, or on no branch any more."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.ports.workspace import LostCommits
from tests.e2e.conftest import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "checkout")


@pytest.fixture
def made(project: Project) -> list[str]:
    """Three commits, oldest first."""
    commits = []
    for number in range(3):
        project.write(f"folder/{number}.txt", f"{number}\n")
        project.git("add", "-A")
        project.git("commit", "-q", "-m", f"{number}")
        commits.append(project.git("rev-parse", "HEAD"))
    return commits


@pytest.fixture
def workspace(project: Project) -> UserCheckout:
    return UserCheckout(ProcessExecutor(SystemClock()), str(project.path))


def file_of(project: Project, name: str) -> Path:
    found = project.git("rev-parse", name)
    return project.path / ".git" / "objects" / found[:2] / found[2:]


def gone(file: Path) -> None:
    file.unlink()


def emptied(file: Path) -> None:
    """What a power cut leaves of a file that was never synced."""
    os.chmod(file, 0o644)
    file.write_bytes(b"")


def test_commits_of_a_branch_are_fine(workspace: UserCheckout, made: list[str]) -> None:
    assert workspace.lost_commits(made) == LostCommits()
    assert workspace.lost_commits([]) == LostCommits()


@pytest.mark.parametrize("what", ["{}", "{}^{{tree}}", "{}:folder", "{}:folder/1.txt"])
@pytest.mark.parametrize("harm", [gone, emptied])
def test_only_the_commit_that_lost_something_is_broken(
    project: Project,
    workspace: UserCheckout,
    made: list[str],
    what: str,
    harm: Callable[[Path], None],
) -> None:
    harm(file_of(project, what.format(made[1])))
    assert workspace.lost_commits(made).broken == (made[1],)


def test_what_was_reset_away_is_whole_but_on_no_branch(
    project: Project, workspace: UserCheckout, made: list[str]
) -> None:
    project.git("reset", "-q", "--hard", made[0])
    assert workspace.lost_commits(made) == LostCommits(unreachable=(made[1], made[2]))
    project.git("branch", "kept", made[2])
    assert workspace.lost_commits(made) == LostCommits()


def test_a_commit_that_nobody_made_is_broken(workspace: UserCheckout, made: list[str]) -> None:
    assert workspace.lost_commits([*made, "1" * 40]).broken == ("1" * 40,)


def test_a_head_that_is_lost_goes_back_to_the_first_commit_that_is_whole(
    project: Project, workspace: UserCheckout, made: list[str]
) -> None:
    assert workspace.recover_lost_head([made[0]]) == "", "a head that is there stays"
    for commit in made[1:]:
        emptied(file_of(project, commit))
    assert workspace.recover_lost_head([made[1], made[0]]) == made[0]
    assert project.git("log", "-1", "--format=%H", "main") == made[0]
    assert (project.path / "folder" / "2.txt").read_text() == "2\n"
