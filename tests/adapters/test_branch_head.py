"""The tip and the person's branch: who is ahead, and what happens when both have moved."""

from pathlib import Path

import pytest

from ralph.core.errors import Missing, RalphError
from ralph.ports.merge_branch import RebaseResult
from tests.adapters.team import ONE, TWO, a_merge_branch, merge, opened, refs, state, work
from tests.git_user import GitUser, a_project


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "source")


def test_what_the_person_commits_is_part_of_the_tip(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "one", "one")
    source.write("mine", "mine")
    mine = source.commit()
    assert merge_branch.head() == mine
    assert merge_branch.rebase(ONE) == RebaseResult(head=mine)
    merge(merge_branch, ONE)
    assert {"one", "mine"} <= opened(merge_branch, ONE).files().keys()


def test_where_both_have_moved_the_two_are_merged(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "one", "one")
    built = merge(merge_branch, ONE)
    source.write("mine", "mine")
    mine = source.commit()
    tip = a_merge_branch(source).head()
    assert source.git("rev-parse", f"{tip}^1", f"{tip}^2").split() == [built, mine]
    assert merge_branch.head() == tip
    assert state(source)[0] == mine
    assert merge_branch.update_user_checkout() == ""
    assert state(source) == (tip, "main", "")
    assert {"one", "mine"} <= source.files().keys()


def test_where_they_do_not_fit_both_are_named(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "README.md", "# By one\n")
    built = merge(merge_branch, ONE)
    source.write("README.md", "# Mine\n")
    mine = source.commit()
    # No run begins so, and one that is at work goes on.
    with pytest.raises(RalphError, match=r"README\.md") as error:
        merge_branch.check_branch()
    assert built[:10] in str(error.value)
    assert mine[:10] in str(error.value)
    assert "git merge refs/ralph/tip/main" in error.value.hint
    assert merge_branch.head() == built
    said = merge_branch.update_user_checkout()
    assert "README.md" in said
    work(merge_branch, TWO, "two", "two")
    merge(merge_branch, TWO)
    assert merge_branch.update_user_checkout() == said, "it is said once"
    assert state(source) == (mine, "main", "")
    # The way out works.
    source.git("merge", "-q", "-X", "ours", "refs/ralph/tip/main")
    assert merge_branch.head() == state(source)[0]


def test_a_branch_that_is_rewritten_takes_the_tip_along(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    start = merge_branch.head()
    work(merge_branch, ONE, "unwanted", "unwanted")
    built = merge(merge_branch, ONE)
    assert merge_branch.update_user_checkout() == ""
    work(merge_branch, TWO, "two", "two")
    source.git("reset", "-q", "--hard", start)
    assert merge_branch.head() == start
    assert refs(source)[f"refs/ralph/rescued/{built}"] == built
    # What was taken back does not come again with the work of one who began on top of it.
    assert merge_branch.rebase(TWO) == RebaseResult(head=start)
    merged = merge(merge_branch, TWO)
    files = source.git("ls-tree", "--name-only", merged).split()
    assert "two" in files
    assert "unwanted" not in files

    assert merge_branch.update_user_checkout() == ""
    source.git("commit", "-q", "--amend", "-m", "Said better")
    assert merge_branch.head() == state(source)[0]


def test_what_was_built_stays_on_a_branch_that_is_rewritten_meanwhile(source: GitUser) -> None:
    """The person takes back one of their commits and amends another: both count."""
    source.write("mine", "mine")
    source.commit()
    source.write("unwanted", "unwanted")
    source.commit()
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "one", "one")
    built = merge(merge_branch, ONE)
    source.git("reset", "-q", "--hard", "HEAD~1")
    source.write("mine", "amended")
    source.git("commit", "-q", "-a", "--amend", "--no-edit")
    mine = state(source)[0]
    tip = merge_branch.head()
    assert source.git("rev-parse", f"{tip}^1", f"{tip}^2").split() == [built, mine]
    assert merge_branch.update_user_checkout() == ""
    assert state(source) == (tip, "main", "")
    assert source.files().keys() >= {"one", "mine"}
    assert source.files()["mine"] == ("file", b"amended")
    assert "unwanted" not in source.files()


def test_a_branch_that_is_rewritten_where_it_does_not_fit_is_for_the_person(
    source: GitUser,
) -> None:
    source.write("second", "second")
    source.commit()
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "second", "by one")
    built = merge(merge_branch, ONE)
    source.git("reset", "-q", "--hard", "HEAD~1")
    with pytest.raises(RalphError, match="second") as error:
        merge_branch.check_branch()
    assert "git update-ref -d refs/ralph/tip/main" in error.value.hint
    assert merge_branch.head() == built
    source.git("update-ref", "-d", "refs/ralph/tip/main")
    assert merge_branch.head() == state(source)[0] != built


def test_a_branch_that_is_not_there_is_named(source: GitUser) -> None:
    with pytest.raises(Missing, match="nowhere"):
        a_merge_branch(source, branch="nowhere").head()


def test_a_branch_that_is_taken_away_does_not_stop_the_others(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "one", "one")
    built = merge(merge_branch, ONE)
    source.git("switch", "-q", "-c", "other")
    source.git("branch", "-q", "-D", "main")
    assert merge_branch.head() == built
    assert "main is gone" in merge_branch.update_user_checkout()


def test_branches_with_names_of_every_kind(source: GitUser) -> None:
    source.git("switch", "-q", "-c", "feature/ünïcode'\"$x")
    merge_branch = a_merge_branch(source, branch="feature/ünïcode'\"$x")
    work(merge_branch, ONE, "one", "one")
    built = merge(merge_branch, ONE)
    assert merge_branch.update_user_checkout() == ""
    assert state(source)[0] == built
