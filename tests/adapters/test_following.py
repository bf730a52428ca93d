"""The person's branch and checkout follow the tip, unless something of theirs is in the way."""

import os
from pathlib import Path

import pytest

from ralph.adapters.workspace.trunk import SharedBranch
from ralph.testing.hands import Hands, a_project
from tests.adapters.team import ONE, TWO, a_trunk, merge, opened, refs, state, work


@pytest.fixture
def source(tmp_path: Path) -> Hands:
    return a_project(tmp_path / "source")


def built(source: Hands) -> SharedBranch:
    """A tip that is ahead in every way that files can be."""
    source.write("changed", "old\n")
    source.write("deleted/file", "old\n")
    source.write("becomes a folder", "old\n")
    source.write("becomes a file/inside", "old\n")
    source.write("mode", "x\n")
    source.commit()
    trunk = a_trunk(source)
    inside = opened(trunk, ONE)
    inside.write("changed", "new\n")
    inside.remove("deleted")
    inside.write("becomes a folder/inside", "new\n")
    inside.write("becomes a file", "new\n")
    inside.write("mode", "x\n", executable=True)
    inside.write("odd\nname\udcff", "new\n")
    inside.link("link", "changed")
    inside.commit()
    merge(trunk, ONE)
    return trunk


def test_a_clean_checkout_goes_along(source: Hands) -> None:
    trunk = built(source)
    source.write("ignored.log", "mine")
    assert trunk.follow() == ""
    assert state(source) == (trunk.tip(), "main", "")
    assert source.files() == opened(trunk, ONE).files()
    assert (source.top / "ignored.log").read_text() == "mine"
    assert source.git("diff", "--cached", "--stat") == ""
    assert "follows what was built" in source.git("reflog", "-1")
    assert trunk.follow() == ""
    assert "refs/ralph/following/main" not in refs(source)


@pytest.mark.parametrize("deed", ["written", "staged", "untracked", "removed"])
def test_a_checkout_with_changes_stays_as_it_is(source: Hands, deed: str) -> None:
    trunk = built(source)
    match deed:
        case "untracked":
            source.write("mine", "mine")
        case "removed":
            source.remove("README.md")
        case _:
            source.write("README.md", "mine")
    if deed == "staged":
        source.git("add", "-A")
    before = source.state()
    reason = trunk.follow()
    assert ("mine" if deed == "untracked" else "README.md") in reason
    assert reason.count("\n") == 0
    assert source.state() == before
    source.commit()
    assert trunk.follow() == ""
    assert {"changed", "link"} <= source.files().keys()


def test_ralphs_own_documents_do_not_hold_it_up(source: Hands) -> None:
    trunk = built(source)
    source.write(".ralph/progress.md", "# Progress\n")
    assert trunk.follow() == ""
    assert (source.top / ".ralph/progress.md").read_text() == "# Progress\n"


@pytest.mark.parametrize(
    ("path", "planned"),
    [("new.log", "new.log"), ("new", "new/file"), ("new/x.log", "new"), ("new/", "new/file")],
)
def test_what_git_ignores_is_not_overwritten(source: Hands, path: str, planned: str) -> None:
    (source.top / ".git/info").mkdir(exist_ok=True)
    (source.top / ".git/info/exclude").write_text("/new\n")
    trunk = a_trunk(source)
    inside = opened(trunk, ONE)
    inside.write(planned, "theirs")
    inside.git("add", "-f", planned)
    inside.commit()
    merge(trunk, ONE)
    if path.endswith("/"):
        (source.top / path).mkdir()
        assert trunk.follow() == ""
        return
    source.write(path, "mine")
    before = state(source)
    assert "would be overwritten" in trunk.follow()
    assert state(source) == before
    assert (source.top / path).read_text() == "mine"


def test_a_branch_that_nobody_has_checked_out_moves_alone(source: Hands, tmp_path: Path) -> None:
    trunk = built(source)
    source.git("switch", "-q", "-c", "other")
    source.write("README.md", "mine, in mid-edit")
    before = source.state()
    assert trunk.follow() == ""
    assert source.state() == before
    assert refs(source)["refs/heads/main"] == trunk.tip()

    work(trunk, TWO, "two", "two")
    merge(trunk, TWO)
    source.git("worktree", "add", "-q", str(tmp_path / "linked"), "main")
    assert str(tmp_path / "linked") in trunk.follow()
    linked = Hands(str(tmp_path / "linked"))
    assert state(linked)[2] == ""
    linked.git("checkout", "-q", "--detach")
    assert trunk.follow() == ""


def test_a_rebase_or_a_merge_under_way_is_not_disturbed(source: Hands) -> None:
    source.write("second", "second")
    source.commit()
    trunk = built(source)
    source.git("-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~1")
    assert "under way" in trunk.follow()
    source.git("rebase", "--continue")
    source.git("bisect", "start")
    source.git("bisect", "bad")
    source.git("bisect", "good", "HEAD~1")
    source.git("checkout", "-q", "--detach")
    assert "under way" in trunk.follow()
    source.git("bisect", "reset")
    source.git("switch", "-q", "main")
    assert trunk.follow() == ""


def test_a_sparse_checkout_is_left_to_the_person(source: Hands) -> None:
    trunk = built(source)
    source.git("sparse-checkout", "set", "src")
    before = source.state()
    assert "git merge --ff-only" in trunk.follow()
    assert source.state() == before


def test_a_lock_of_the_persons_git_is_left_alone(source: Hands) -> None:
    trunk = built(source)
    with (source.top / ".git/index.lock").open("wb"):
        assert f"process {os.getpid()} (" in trunk.follow()
    (source.top / ".git/index.lock").unlink()
    assert trunk.follow() == ""


def test_files_that_cannot_be_written_leave_everything_as_it_was(source: Hands) -> None:
    trunk = built(source)
    before = source.state()
    source.git("config", "filter.broken.smudge", 'read x && [ "$x" != new ] && echo "$x"')
    source.git("config", "filter.broken.clean", "cat")
    source.git("config", "filter.broken.required", "true")
    (source.top / ".git/info").mkdir(exist_ok=True)
    (source.top / ".git/info/attributes").write_text("changed filter=broken\n")
    assert "stays behind" in trunk.follow()
    (source.top / ".git/info/attributes").unlink()
    assert source.state() == before
    assert "refs/ralph/following/main" not in refs(source)
    assert trunk.follow() == ""


@pytest.mark.parametrize("edited", [False, True], ids=["alone", "edited since"])
@pytest.mark.parametrize("written", range(0, 9, 2))
def test_half_written_files_are_finished_or_undone(
    source: Hands,
    written: int,
    edited: bool,  # noqa: FBT001
) -> None:
    trunk = built(source)
    old, new = source.git("rev-parse", "main", trunk.tip()).split()
    before, after = source.files(), opened(trunk, ONE).files()
    changing = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    begun = source.git(
        "commit-tree", f"{new}^{{tree}}", "-p", old, "-p", new, "-m", "On the way"
    ).strip()
    source.git("update-ref", "refs/ralph/following/main", begun)
    for path in changing[:written]:
        if path not in after:
            source.remove(path)
        elif after[path][0] == "link":
            source.link(path, after[path][1].decode())
        else:
            source.write(path, after[path][1], executable=after[path][0] == "executable")
    source.remove("mode")  # git takes a file away before it writes it anew
    if edited:
        source.write("changed", "mine\n")
    again = a_trunk(source)
    again.tidy()
    assert "refs/ralph/following/main" not in refs(source)
    if edited:
        assert state(source) == (old, "main", " M changed\n")
        assert source.files() == {**before, "changed": ("file", b"mine\n")}
        assert "changed" in again.follow()
    else:
        assert state(source) == (new, "main", "")
        assert source.files() == after
