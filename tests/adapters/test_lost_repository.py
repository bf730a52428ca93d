"""A private checkout lies in the user's. One whose repository disappears is never taken for it."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from ralph.adapters.workspace.merge_branch import GitMergeBranch
from ralph.core.errors import RalphError
from tests.adapters.team import (
    ONE,
    THREE,
    TWO,
    Interrupting,
    a_merge_branch,
    merge,
    state,
    work,
    writes,
)
from tests.git_user import GitUser, a_project


def open_new(merge_branch: GitMergeBranch) -> None:
    merge_branch.open_checkout(THREE)


def rebase(merge_branch: GitMergeBranch) -> None:
    merge_branch.save_accepted(TWO)
    rebased = merge_branch.rebase(TWO, "Ralph-Task: t-000002", "as one")
    merge_branch.fast_forward(TWO, rebased.head)


def leave_more(merge_branch: GitMergeBranch) -> None:
    Path(merge_branch.open_checkout(TWO).path, "two").write_text("more")


def join(merge_branch: GitMergeBranch) -> None:
    leave_more(merge_branch)
    merge_branch.merge_uncommitted(TWO, "refs/ralph/conflict/two")


def start_over(merge_branch: GitMergeBranch) -> None:
    leave_more(merge_branch)
    merge_branch.reset_checkout(TWO, "refs/ralph/conflict/two")


@pytest.mark.parametrize(
    "deed", [open_new, rebase, join, start_over], ids=lambda deed: deed.__name__
)
def test_a_checkout_that_loses_its_repository_at_any_moment_harms_nothing(
    tmp_path: Path, deed: Callable[[GitMergeBranch], None]
) -> None:
    source = a_project(tmp_path / "source")
    source.write(".git/info/exclude", ".ralph/\n")
    folder = source.top / ".ralph" / "checkouts"
    merge_branch = a_merge_branch(source, folder=folder)
    for task, path in ((ONE, "one"), (TWO, "two")):
        work(merge_branch, task, path, path)
    merge(merge_branch, ONE)
    template = tmp_path / "template"
    shutil.copytree(source.top, template, symlinks=True)
    before, heads = state(source), source.git("for-each-ref", "refs/heads")

    def lose() -> None:
        for task in (TWO, THREE):
            shutil.rmtree(folder / task / ".git", ignore_errors=True)

    calls = a_try(source, folder, deed, -1, lose)
    for number in range(calls):
        shutil.rmtree(source.top)
        shutil.copytree(template, source.top, symlinks=True)
        with suppress(RalphError):
            a_try(source, folder, deed, number, lose)
        where = f"before writing call {number} of {calls}"
        assert state(source) == before, where
        assert source.git("for-each-ref", "refs/heads") == heads, where


def a_try(
    source: GitUser,
    folder: Path,
    deed: Callable[[GitMergeBranch], None],
    number: int,
    act: Callable[[], None],
) -> int:
    """Do it; something happens before one of the calls that write. Return how many there were."""
    executor = Interrupting(number, act, writes)
    deed(a_merge_branch(source, folder=folder, executor=executor))
    return executor.calls
