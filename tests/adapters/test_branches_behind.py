"""The branches that a team's work has yet to reach, each with the command that brings it in."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.adapters.workspace.branches_behind import branches_behind
from ralph.git_layout import may_have_refs
from tests.adapters.team import ONE, a_merge_branch, merge, work
from tests.git_user import GitUser, a_project

MERGE = "git merge refs/ralph/tip/main"
FORWARD = "git merge --ff-only refs/ralph/tip/main"


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    """What was built is ahead of the person's branch."""
    source = a_project(tmp_path / "source")
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "built", "built")
    merge(merge_branch, ONE)
    return source


def commands(source: GitUser) -> list[str]:
    merge_branch = a_merge_branch(source)
    found = [one.command for one in branches_behind(merge_branch._git)]
    assert found == [*filter(None, [merge_branch.catch_up_command()])]
    return found


@pytest.mark.parametrize(
    ("act", "command"),
    [
        (lambda _: None, FORWARD),
        (lambda person: person.commit("theirs"), MERGE),
        (lambda person: person.git("switch", "-q", "-c", "other"), f"git switch main && {FORWARD}"),
        (
            lambda person: person.git("branch", "-m", "other"),
            "git branch main refs/ralph/tip/main",
        ),
    ],
    ids=["behind", "committed since", "elsewhere", "gone"],
)
def test_the_command_brings_the_work_in(
    source: GitUser, act: Callable[[GitUser], object], command: str
) -> None:
    act(source)
    assert commands(source) == [command]
    subprocess.run(command, shell=True, cwd=source.top, check=True, capture_output=True)
    source.git("merge-base", "--is-ancestor", "refs/ralph/tip/main", "main")
    assert commands(source) == []


def test_what_a_person_has_taken_back_is_not_behind(source: GitUser) -> None:
    assert a_merge_branch(source).update_user_checkout() == ""
    assert commands(source) == []
    source.git("reset", "-q", "--hard", "HEAD~1")
    assert commands(source) == []


def test_refs_are_looked_for_where_git_has_them(source: GitUser, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    source.git("worktree", "add", "-q", str(linked))
    for _ in ("loose", "packed"):
        for top in (source.top, linked):
            assert may_have_refs(str(top), "refs/ralph/tip")
            assert not may_have_refs(str(top), "refs/ralph/none")
        source.git("pack-refs", "--all", "--prune")
    assert not may_have_refs(str(tmp_path), "refs/ralph/tip")


def test_without_a_team_nothing_is_behind(tmp_path: Path) -> None:
    assert commands(a_project(tmp_path / "source")) == []
