"""The tip and the person's branch: who is ahead, and what happens when both have moved."""

from pathlib import Path

import pytest

from ralph.core.errors import Missing, RalphError
from ralph.ports.trunk import Rebased
from ralph.testing.hands import Hands, a_project
from tests.adapters.team import ONE, TWO, a_trunk, merge, opened, refs, state, work


@pytest.fixture
def source(tmp_path: Path) -> Hands:
    return a_project(tmp_path / "source")


def test_what_the_person_commits_is_part_of_the_tip(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "one", "one")
    source.write("mine", "mine")
    mine = source.commit()
    assert trunk.tip() == mine
    assert trunk.rebase(ONE) == Rebased(tip=mine)
    merge(trunk, ONE)
    assert {"one", "mine"} <= opened(trunk, ONE).files().keys()


def test_where_both_have_moved_the_two_are_merged(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "one", "one")
    built = merge(trunk, ONE)
    source.write("mine", "mine")
    mine = source.commit()
    tip = a_trunk(source).tip()
    assert source.git("rev-parse", f"{tip}^1", f"{tip}^2").split() == [built, mine]
    assert trunk.tip() == tip
    assert state(source)[0] == mine
    assert trunk.follow() == ""
    assert state(source) == (tip, "main", "")
    assert {"one", "mine"} <= source.files().keys()


def test_where_they_do_not_fit_both_are_named(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "README.md", "# By one\n")
    built = merge(trunk, ONE)
    source.write("README.md", "# Mine\n")
    mine = source.commit()
    with pytest.raises(RalphError, match=r"README\.md") as error:
        trunk.tip()
    assert built[:10] in str(error.value)
    assert mine[:10] in str(error.value)
    assert "git merge refs/ralph/tip/main" in error.value.hint
    assert "README.md" in trunk.follow()
    # The way out works.
    source.git("merge", "-q", "-X", "ours", "refs/ralph/tip/main")
    assert trunk.tip() == state(source)[0]


def test_a_branch_that_is_rewritten_takes_the_tip_along(source: Hands) -> None:
    trunk = a_trunk(source)
    start = trunk.tip()
    work(trunk, ONE, "unwanted", "unwanted")
    built = merge(trunk, ONE)
    assert trunk.follow() == ""
    work(trunk, TWO, "two", "two")
    source.git("reset", "-q", "--hard", start)
    assert trunk.tip() == start
    assert refs(source)[f"refs/ralph/rescued/{built}"] == built
    # What was taken back does not come again with the work of one who began on top of it.
    assert trunk.rebase(TWO) == Rebased(tip=start)
    merged = merge(trunk, TWO)
    files = source.git("ls-tree", "--name-only", merged).split()
    assert "two" in files
    assert "unwanted" not in files

    assert trunk.follow() == ""
    source.git("commit", "-q", "--amend", "-m", "Said better")
    assert trunk.tip() == state(source)[0]


def test_a_rewritten_branch_and_work_that_it_never_had_are_for_the_person(source: Hands) -> None:
    source.write("second", "second")
    source.commit()
    trunk = a_trunk(source)
    work(trunk, ONE, "one", "one")
    built = merge(trunk, ONE)
    source.git("reset", "-q", "--hard", "HEAD~1")
    with pytest.raises(RalphError, match="rewritten") as error:
        trunk.tip()
    assert "git update-ref -d refs/ralph/tip/main" in error.value.hint
    source.git("update-ref", "-d", "refs/ralph/tip/main")
    assert trunk.tip() == state(source)[0] != built


def test_a_branch_that_is_not_there_is_named(source: Hands) -> None:
    with pytest.raises(Missing, match="nowhere"):
        a_trunk(source, branch="nowhere").tip()


def test_a_branch_that_is_taken_away_does_not_stop_the_others(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "one", "one")
    built = merge(trunk, ONE)
    source.git("switch", "-q", "-c", "other")
    source.git("branch", "-q", "-D", "main")
    assert trunk.tip() == built
    assert "main is gone" in trunk.follow()


def test_branches_with_names_of_every_kind(source: Hands) -> None:
    source.git("switch", "-q", "-c", "feature/ünïcode'\"$x")
    trunk = a_trunk(source, branch="feature/ünïcode'\"$x")
    work(trunk, ONE, "one", "one")
    built = merge(trunk, ONE)
    assert trunk.follow() == ""
    assert state(source)[0] == built
