"""Merges and rebases that are under way: a person's go on, a session's are ended."""

from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.user_checkout import UserCheckout
from tests.git_user import GitUser, a_project

pytestmark = pytest.mark.usefixtures("as_a_session")

NO_PATHS = frozenset[str]()


@pytest.fixture
def hands(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "project")


@pytest.fixture
def workspace(hands: GitUser) -> UserCheckout:
    return UserCheckout(ProcessExecutor(SystemClock()), str(hands.top))


def a_conflict(hands: GitUser) -> None:
    hands.git("switch", "-q", "-c", "side")
    hands.write("README.md", "theirs\n")
    hands.commit()
    hands.git("switch", "-q", "main")
    hands.write("README.md", "ours\n")
    hands.commit()
    hands.git("merge", "side", check=False)
    assert "README.md" in hands.git("ls-files", "-u")


def test_a_persons_conflict_survives(hands: GitUser, workspace: UserCheckout) -> None:
    a_conflict(hands)
    since, before = workspace.snapshot(), hands.state()
    assert since.dirty == ("README.md",)
    hands.write("new", "new")
    hands.write("README.md", "spoiled")
    done = workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS)
    assert (done.files, done.leftovers) == (("new",), ("README.md",))
    workspace.restore(since)
    assert hands.state() == before
    assert hands.git("rev-parse", "-q", "--verify", "MERGE_HEAD")


def test_a_sessions_conflict_is_neither_committed_nor_left_behind(
    hands: GitUser, workspace: UserCheckout
) -> None:
    since, before = workspace.snapshot(), hands.state()
    a_conflict(hands)
    hands.write("new", "new")
    done = workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS)
    assert (done.files, done.leftovers) == (("new",), ("README.md",))
    workspace.restore(since)
    assert hands.state() == before
    # Otherwise the next commit would be a merge.
    assert not (hands.top / ".git/MERGE_HEAD").exists()


def test_a_conflict_that_changed_our_side_in_nothing_is_ended_as_well(
    hands: GitUser, workspace: UserCheckout
) -> None:
    a_conflict(hands)
    hands.git("merge", "--abort")
    since, before = workspace.snapshot(), hands.state()
    hands.git("merge", "side", check=False)
    workspace.restore(since)
    assert hands.state() == before
    assert hands.git("ls-files", "-u") == ""


def test_an_unfinished_rebase_of_the_sessions_is_ended(
    hands: GitUser, workspace: UserCheckout
) -> None:
    since, before = workspace.snapshot(), hands.state()
    a_conflict(hands)
    hands.git("merge", "--abort")
    hands.git("rebase", "side", check=False)
    assert (hands.top / ".git/rebase-merge").exists()
    workspace.restore(since)
    assert hands.state() == before
    assert not (hands.top / ".git/rebase-merge").exists()
