"""What agents and killed processes leave in a task's checkout before it is merged."""

import os
from pathlib import Path

import pytest

from ralph.core.errors import RalphError
from ralph.testing.hands import Hands, a_project
from tests.adapters.team import ONE, TWO, a_trunk, merge, opened, refs, state, work


@pytest.fixture
def source(tmp_path: Path) -> Hands:
    return a_project(tmp_path / "source")


def test_commits_on_another_branch_or_on_none_are_the_work(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, TWO, "before", "on its own branch")
    inside = opened(trunk, TWO)
    left = inside.git("rev-parse", "HEAD").strip()
    inside.git("switch", "-q", "-c", "aside", "HEAD~1")
    work(trunk, TWO, "aside", "aside")
    inside.git("switch", "-q", "--detach")
    work(trunk, TWO, "detached", "detached")
    work(trunk, ONE, "one", "one")
    merge(trunk, ONE)
    merged = merge(trunk, TWO)
    assert state(inside) == (merged, f"ralph/{TWO}", "")
    assert {"one", "aside", "detached"} <= inside.files().keys()
    trunk.close(TWO)
    assert refs(source)[f"refs/ralph/kept/{TWO}/{left}"] == left


def test_merges_empty_commits_and_silent_ones_are_put_on_the_tip(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "one", "one")
    inside = opened(trunk, TWO)
    inside.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    inside.write("silent", "silent")
    inside.git("add", "-A")
    inside.git("commit", "-q", "--allow-empty-message", "-m", "")
    merge(trunk, ONE)
    merge(trunk, TWO)
    assert {"one", "silent"} <= inside.files().keys()

    trunk.start_over(TWO, f"refs/ralph/{TWO}/1")
    inside.git("switch", "-q", "-c", "side")
    work(trunk, TWO, "README.md", "# The side\n")
    inside.git("switch", "-q", f"ralph/{TWO}")
    work(trunk, TWO, "README.md", "# The main thing\n")
    inside.git("merge", "-q", "side", check=False)
    inside.write("README.md", "# Both\n")
    inside.write("only in the merge", "x")
    inside.commit()
    trunk.start_over(ONE, f"refs/ralph/{ONE}/1")
    work(trunk, ONE, "one", "again")
    merge(trunk, ONE)
    merged = merge(trunk, TWO)
    files = inside.files()
    assert files["README.md"] == ("file", b"# Both\n")
    assert "only in the merge" in files
    assert files["one"] == ("file", b"again")
    assert state(inside) == (merged, f"ralph/{TWO}", "")


def test_commits_that_collide_on_the_way_and_not_in_the_end(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "README.md", "# By one\n")
    merge(trunk, ONE)
    trunk = a_trunk(source)
    other = opened(trunk, TWO)
    other.git("reset", "-q", "--hard", "HEAD~1")
    work(trunk, TWO, "README.md", "# A detour\n")
    work(trunk, TWO, "README.md", "# A project\n")
    work(trunk, TWO, "two", "two")
    merge(trunk, TWO)
    assert other.files()["README.md"] == ("file", b"# By one\n")
    assert other.git("log", "-1", "--format=%(trailers:key=Ralph-Task,valueonly)").strip() == TWO


def test_a_history_of_its_own_is_put_on_the_tip(source: Hands) -> None:
    trunk = a_trunk(source)
    inside = opened(trunk, TWO)
    inside.git("switch", "-q", "--orphan", "anew")
    inside.git("checkout", "-q", f"ralph/{TWO}", "--", ".")
    work(trunk, TWO, "two", "two")
    work(trunk, ONE, "one", "one")
    merge(trunk, ONE)
    merge(trunk, TWO)
    assert {"one", "two", "README.md"} <= inside.files().keys()
    assert source.git("rev-list", "--max-parents=0", trunk.tip()).count("\n") == 1


@pytest.mark.parametrize("kind", ["binary", "deleted", "renamed", "mode", "folder", "link"])
def test_conflicts_of_every_kind_are_named_and_undone(source: Hands, kind: str) -> None:
    source.write("data", b"\0\1\2" * 100)
    source.write("long name", "".join(f"{number}\n" for number in range(40)))
    source.commit()
    trunk = a_trunk(source)
    one, two = opened(trunk, ONE), opened(trunk, TWO)
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
    merge(trunk, ONE)
    before, files = state(two), two.files()
    rebased = trunk.rebase(TWO)
    assert rebased.conflict is not None
    assert set(rebased.conflict.files) <= {"data", "long name", "new", "one's name", "two's name"}
    assert rebased.conflict.files
    assert rebased.conflict.theirs == (ONE,)
    assert (state(two), two.files()) == (before, files)
    conflict = trunk.side_by_side(TWO, f"refs/ralph/{TWO}/1")
    assert len(conflict.files) >= len(rebased.conflict.files)
    assert state(two)[:2] == (trunk.tip(), f"ralph/{TWO}")
    assert two.git("ls-files", "-u") == ""
    trunk.start_over(TWO, f"refs/ralph/{TWO}/2")
    assert state(two) == (trunk.tip(), f"ralph/{TWO}", "")
    assert source.git("ls-tree", "-r", f"refs/ralph/{TWO}/1")


def test_what_a_session_left_unfinished_does_not_matter(source: Hands) -> None:
    trunk = a_trunk(source)
    inside = opened(trunk, TWO)
    inside.git("switch", "-q", "-c", "side")
    work(trunk, TWO, "README.md", "# The side\n")
    inside.git("switch", "-q", f"ralph/{TWO}")
    work(trunk, TWO, "README.md", "# The main thing\n")
    inside.git("merge", "-q", "side", check=False)
    inside.git("reset", "-q", "--hard")
    inside.git("rebase", "-q", "side", check=False)
    inside.git("checkout", "-q", "-f", f"ralph/{TWO}")
    assert (inside.top / ".git/rebase-merge").exists()
    for lock in ("index.lock", "HEAD.lock", f"refs/heads/ralph/{TWO}.lock"):
        (inside.top / ".git" / lock).touch()
    work(trunk, ONE, "one", "one")
    merge(trunk, ONE)
    merged = merge(trunk, TWO)
    assert state(inside) == (merged, f"ralph/{TWO}", "")
    assert inside.files()["README.md"] == ("file", b"# The main thing\n")
    inside.commit("git works there again")


def test_the_same_change_twice_is_merged_once(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "same", "same")
    work(trunk, TWO, "same", "same")
    tip = merge(trunk, ONE)
    assert merge(trunk, TWO) == tip
    assert trunk.is_merged(TWO)


def test_an_agent_without_a_name_is_merged_under_ralphs(
    source: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "one", "one")
    work(trunk, TWO, "two", "two")
    merge(trunk, ONE)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME", raising=False)
        monkeypatch.delenv(f"GIT_{role}_EMAIL", raising=False)
    opened(trunk, TWO).git("config", "user.useConfigOnly", "true")
    source.git("config", "user.useConfigOnly", "true")
    merge(a_trunk(source), TWO)
    assert source.git("log", "-1", "--format=%cn", "refs/ralph/tip/main").strip() == "Ralph"


def test_uncommitted_changes_are_an_error_that_changes_nothing(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "README.md", "# By one\n")
    work(trunk, TWO, "two", "two")
    inside = opened(trunk, TWO)
    inside.write("README.md", "# Loose\n")
    merge(trunk, ONE)
    head = inside.git("rev-parse", "HEAD")
    with pytest.raises(RalphError):
        trunk.rebase(TWO)
    assert inside.git("rev-parse", "HEAD") == head
    assert os.path.isdir(inside.top)
