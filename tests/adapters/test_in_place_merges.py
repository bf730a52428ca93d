"""Merges and rebases that are under way: a person's go on, a session's are ended."""

from pathlib import Path

import pytest

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.workspace.in_place import InPlace
from ralph.testing.hands import Hands, a_project

NOBODY = frozenset[str]()


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return a_project(tmp_path / "project")


@pytest.fixture
def workspace(hands: Hands) -> InPlace:
    return InPlace(Processes(SystemClock()), str(hands.top))


def a_conflict(hands: Hands) -> None:
    hands.git("switch", "-q", "-c", "side")
    hands.write("README.md", "theirs\n")
    hands.commit()
    hands.git("switch", "-q", "main")
    hands.write("README.md", "ours\n")
    hands.commit()
    hands.git("merge", "side", check=False)
    assert "README.md" in hands.git("ls-files", "-u")


def test_a_persons_conflict_survives(hands: Hands, workspace: InPlace) -> None:
    a_conflict(hands)
    since, before = workspace.snapshot(), hands.state()
    assert since.dirty == ("README.md",)
    hands.write("new", "new")
    hands.write("README.md", "spoiled")
    done = workspace.commit(since, workspace.snapshot(), "Work", NOBODY)
    assert (done.files, done.leftovers) == (("new",), ("README.md",))
    workspace.restore(since)
    assert hands.state() == before
    assert hands.git("rev-parse", "-q", "--verify", "MERGE_HEAD")


def test_a_sessions_conflict_is_neither_committed_nor_left_behind(
    hands: Hands, workspace: InPlace
) -> None:
    since, before = workspace.snapshot(), hands.state()
    a_conflict(hands)
    hands.write("new", "new")
    done = workspace.commit(since, workspace.snapshot(), "Work", NOBODY)
    assert (done.files, done.leftovers) == (("new",), ("README.md",))
    workspace.restore(since)
    assert hands.state() == before
    # Otherwise the next commit would be a merge.
    assert not (hands.top / ".git/MERGE_HEAD").exists()


def test_a_conflict_that_changed_our_side_in_nothing_is_ended_as_well(
    hands: Hands, workspace: InPlace
) -> None:
    a_conflict(hands)
    hands.git("merge", "--abort")
    since, before = workspace.snapshot(), hands.state()
    hands.git("merge", "side", check=False)
    workspace.restore(since)
    assert hands.state() == before
    assert hands.git("ls-files", "-u") == ""


def test_an_unfinished_rebase_of_the_sessions_is_ended(hands: Hands, workspace: InPlace) -> None:
    since, before = workspace.snapshot(), hands.state()
    a_conflict(hands)
    hands.git("merge", "--abort")
    hands.git("rebase", "side", check=False)
    assert (hands.top / ".git/rebase-merge").exists()
    workspace.restore(since)
    assert hands.state() == before
    assert not (hands.top / ".git/rebase-merge").exists()
