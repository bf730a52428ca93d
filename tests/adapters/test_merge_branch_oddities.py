"""What agents and killed processes leave in a task's checkout before it is merged."""

import os
from pathlib import Path

import pytest

from ralph.core.errors import RalphError
from tests.adapters.team import ONE, TWO, a_merge_branch, merge, opened, refs, state, work
from tests.git_user import GitUser, a_project


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "source")


def test_commits_on_another_branch_or_on_none_are_the_work(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, TWO, "before", "on its own branch")
    inside = opened(merge_branch, TWO)
    left = inside.git("rev-parse", "HEAD").strip()
    inside.git("switch", "-q", "-c", "aside", "HEAD~1")
    work(merge_branch, TWO, "aside", "aside")
    inside.git("switch", "-q", "--detach")
    work(merge_branch, TWO, "detached", "detached")
    work(merge_branch, ONE, "one", "one")
    merge(merge_branch, ONE)
    merged = merge(merge_branch, TWO)
    assert state(inside) == (merged, f"ralph/{TWO}", "")
    assert {"one", "aside", "detached"} <= inside.files().keys()
    merge_branch.remove_checkout(TWO)
    assert refs(source)[f"refs/ralph/kept/{TWO}/{left}"] == left


def test_merges_empty_commits_and_silent_ones_are_put_on_the_tip(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "one", "one")
    inside = opened(merge_branch, TWO)
    inside.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    inside.write("silent", "silent")
    inside.git("add", "-A")
    inside.git("commit", "-q", "--allow-empty-message", "-m", "")
    merge(merge_branch, ONE)
    merge(merge_branch, TWO)
    assert {"one", "silent"} <= inside.files().keys()

    merge_branch.reset_checkout(TWO, f"refs/ralph/{TWO}/1")
    inside.git("switch", "-q", "-c", "side")
    work(merge_branch, TWO, "README.md", "# The side\n")
    inside.git("switch", "-q", f"ralph/{TWO}")
    work(merge_branch, TWO, "README.md", "# The main thing\n")
    inside.git("merge", "-q", "side", check=False)
    inside.write("README.md", "# Both\n")
    inside.write("only in the merge", "x")
    inside.commit()
    merge_branch.reset_checkout(ONE, f"refs/ralph/{ONE}/1")
    work(merge_branch, ONE, "one", "again")
    merge(merge_branch, ONE)
    merged = merge(merge_branch, TWO)
    files = inside.files()
    assert files["README.md"] == ("file", b"# Both\n")
    assert "only in the merge" in files
    assert files["one"] == ("file", b"again")
    assert state(inside) == (merged, f"ralph/{TWO}", "")


def test_commits_that_collide_on_the_way_and_not_in_the_end(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "README.md", "# By one\n")
    merge(merge_branch, ONE)
    merge_branch = a_merge_branch(source)
    other = opened(merge_branch, TWO)
    other.git("reset", "-q", "--hard", "HEAD~1")
    work(merge_branch, TWO, "README.md", "# A detour\n")
    work(merge_branch, TWO, "README.md", "# A project\n")
    work(merge_branch, TWO, "two", "two")
    merge(merge_branch, TWO)
    assert other.files()["README.md"] == ("file", b"# By one\n")
    assert other.git("log", "-1", "--format=%(trailers:key=Ralph-Task,valueonly)").strip() == TWO


def test_a_history_of_its_own_is_put_on_the_tip(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, TWO)
    inside.git("switch", "-q", "--orphan", "anew")
    inside.git("checkout", "-q", f"ralph/{TWO}", "--", ".")
    work(merge_branch, TWO, "two", "two")
    work(merge_branch, ONE, "one", "one")
    merge(merge_branch, ONE)
    merge(merge_branch, TWO)
    assert {"one", "two", "README.md"} <= inside.files().keys()
    assert source.git("rev-list", "--max-parents=0", merge_branch.head()).count("\n") == 1


@pytest.mark.parametrize("kind", ["binary", "deleted", "renamed", "mode", "folder", "link"])
def test_conflicts_of_every_kind_are_named_and_undone(source: GitUser, kind: str) -> None:
    source.write("data", b"\0\1\2" * 100)
    source.write("long name", "".join(f"{number}\n" for number in range(40)))
    source.commit()
    merge_branch = a_merge_branch(source)
    one, two = opened(merge_branch, ONE), opened(merge_branch, TWO)
    match kind:
        case "binary":
            one.write("data", b"\0\1\3" * 100)
            two.write("data", b"\0\1\4" * 100)
        case "deleted":
            one.remove("data")
            two.write("data", b"\0\1\4" * 100)
        case "renamed":
            one.git("mv", "long name", "one's name")
            two.git("mv", "long name", "two's name")
        case "mode":
            one.write("new", "the same", executable=True)
            two.write("new", "another")
        case "folder":
            one.write("new/inside", "a folder")
            two.write("new", "a file")
        case _:
            one.link("new", "README.md")
            two.write("new", "a file")
    one.commit(f"One\n\nRalph-Task: {ONE}")
    two.commit()
    merge(merge_branch, ONE)
    before, files = state(two), two.files()
    rebased = merge_branch.rebase(TWO)
    assert rebased.conflict is not None
    assert set(rebased.conflict.files) <= {"data", "long name", "new", "one's name", "two's name"}
    assert rebased.conflict.files
    assert rebased.conflict.theirs == (ONE,)
    assert (state(two), two.files()) == (before, files)
    conflict = merge_branch.merge_uncommitted(TWO, f"refs/ralph/{TWO}/1")
    assert len(conflict.files) >= len(rebased.conflict.files)
    assert state(two)[:2] == (merge_branch.head(), f"ralph/{TWO}")
    assert two.git("ls-files", "-u") == ""
    merge_branch.reset_checkout(TWO, f"refs/ralph/{TWO}/2")
    assert state(two) == (merge_branch.head(), f"ralph/{TWO}", "")
    assert source.git("ls-tree", "-r", f"refs/ralph/{TWO}/1")


def test_what_a_session_left_unfinished_does_not_matter(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, TWO)
    inside.git("switch", "-q", "-c", "side")
    work(merge_branch, TWO, "README.md", "# The side\n")
    inside.git("switch", "-q", f"ralph/{TWO}")
    work(merge_branch, TWO, "README.md", "# The main thing\n")
    inside.git("merge", "-q", "side", check=False)
    inside.git("reset", "-q", "--hard")
    inside.git("rebase", "-q", "side", check=False)
    inside.git("checkout", "-q", "-f", f"ralph/{TWO}")
    assert (inside.top / ".git/rebase-merge").exists()
    for lock in ("index.lock", "HEAD.lock", f"refs/heads/ralph/{TWO}.lock"):
        (inside.top / ".git" / lock).touch()
    work(merge_branch, ONE, "one", "one")
    merge(merge_branch, ONE)
    merged = merge(merge_branch, TWO)
    assert state(inside) == (merged, f"ralph/{TWO}", "")
    assert inside.files()["README.md"] == ("file", b"# The main thing\n")
    inside.commit("git works there again")


def test_the_same_change_twice_is_merged_once(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "same", "same")
    work(merge_branch, TWO, "same", "same")
    tip = merge(merge_branch, ONE)
    assert merge(merge_branch, TWO) == tip
    assert merge_branch.is_merged(TWO)


def test_an_agent_without_a_name_is_merged_under_ralphs(
    source: GitUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "one", "one")
    work(merge_branch, TWO, "two", "two")
    merge(merge_branch, ONE)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME", raising=False)
        monkeypatch.delenv(f"GIT_{role}_EMAIL", raising=False)
    opened(merge_branch, TWO).git("config", "user.useConfigOnly", "true")
    source.git("config", "user.useConfigOnly", "true")
    merge(a_merge_branch(source), TWO)
    assert source.git("log", "-1", "--format=%cn", "refs/ralph/tip/main").strip() == "Ralph"


def test_uncommitted_changes_are_an_error_that_changes_nothing(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "README.md", "# By one\n")
    work(merge_branch, TWO, "two", "two")
    inside = opened(merge_branch, TWO)
    inside.write("README.md", "# Loose\n")
    merge(merge_branch, ONE)
    head = inside.git("rev-parse", "HEAD")
    with pytest.raises(RalphError, match="cannot rebase: You have un"):
        merge_branch.rebase(TWO)
    assert inside.git("rev-parse", "HEAD") == head
    assert os.path.isdir(inside.top)
