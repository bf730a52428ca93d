"""The person's branch and checkout follow the tip, unless something of theirs is in the way."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ralph.adapters.workspace.merge_branch import GitMergeBranch
from tests.adapters.team import ONE, TWO, a_merge_branch, merge, opened, refs, state, work
from tests.git_user import GitUser, a_project


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "source")


def built(source: GitUser) -> GitMergeBranch:
    """A tip that is ahead in every way that files can be."""
    source.write("changed", "old\n")
    source.write("deleted/file", "old\n")
    source.write("becomes a folder", "old\n")
    source.write("becomes a file/inside", "old\n")
    source.write("mode", "x\n")
    source.commit()
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, ONE)
    inside.write("changed", "new\n")
    inside.remove("deleted")
    inside.write("becomes a folder/inside", "new\n")
    inside.write("becomes a file", "new\n")
    inside.write("mode", "x\n", executable=True)
    inside.write("odd\nname\udcff", "new\n")
    inside.link("link", "changed")
    inside.write("folder/inside", "new\n")
    inside.commit()
    merge(merge_branch, ONE)
    return merge_branch


def test_a_clean_checkout_goes_along(source: GitUser) -> None:
    merge_branch = built(source)
    source.write("ignored.log", "mine")
    assert merge_branch.update_user_checkout() == ""
    assert state(source) == (merge_branch.head(), "main", "")
    assert source.files() == opened(merge_branch, ONE).files()
    assert (source.top / "ignored.log").read_text() == "mine"
    assert source.git("diff", "--cached", "--stat") == ""
    assert "follows what was built" in source.git("reflog", "-1")
    assert merge_branch.update_user_checkout() == ""
    assert "refs/ralph/following/main" not in refs(source)


CHANGES: dict[str, Callable[[GitUser], object]] = {
    "written": lambda person: person.write("README.md", "mine"),
    "staged": lambda person: (person.write("README.md", "mine"), person.git("add", "-A")),
    "staged and written": lambda person: (
        person.write("README.md", "staged"),
        person.git("add", "-A"),
        person.write("README.md", "mine"),
    ),
    "removed": lambda person: person.remove("README.md"),
    "removed and staged": lambda person: person.git("rm", "-q", "README.md"),
    "forgotten": lambda person: person.git("rm", "-q", "--cached", "README.md"),
    "renamed": lambda person: person.git("mv", "README.md", "READ.md"),
    "added": lambda person: (person.write("new/mine", "mine"), person.git("add", "-A")),
    "announced": lambda person: (person.write("mine", "mine"), person.git("add", "-N", "mine")),
    "other mode": lambda person: (person.top / "README.md").chmod(0o755),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_uncommitted_change_elsewhere_stays_and_holds_nothing_up(
    source: GitUser, change: Callable[[GitUser], object]
) -> None:
    merge_branch = built(source)
    mine = {"README.md", "READ.md", "new/mine", "mine"}
    change(source)

    def changes() -> tuple[str, ...]:
        staged, unstaged = (
            source.git("diff", "--no-renames", *args) for args in (("--cached",), ())
        )
        return staged, unstaged, source.git("status", "--porcelain=v1", "--no-renames")

    before, files = changes(), source.files()
    assert merge_branch.update_user_checkout() == ""
    assert source.git("rev-parse", "main").strip() == merge_branch.head()
    assert changes() == before
    after = source.files()
    assert {path: after.get(path) for path in mine} == {path: files.get(path) for path in mine}
    assert {"changed", "link", "folder/inside"} <= after.keys()


IN_THE_WAY: dict[str, Callable[[GitUser], object]] = {
    "written": lambda person: person.write("changed", "mine"),
    "staged": lambda person: (person.write("changed", "mine"), person.git("add", "-A")),
    "removed": lambda person: person.remove("changed"),
    "removed where it is removed": lambda person: person.git("rm", "-q", "deleted/file"),
    "a file for a folder": lambda person: (person.write("folder", "x"), person.git("add", "-A")),
    "a folder for a file": lambda person: (person.write("link/x", "x"), person.git("add", "-A")),
    "not known": lambda person: person.write("link", "mine"),
}


@pytest.mark.parametrize("change", IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_an_uncommitted_change_of_what_was_built_keeps_the_checkout_as_it_is(
    source: GitUser, change: Callable[[GitUser], object]
) -> None:
    merge_branch = built(source)
    change(source)
    before = source.state()
    reason = merge_branch.update_user_checkout()
    assert "not committed (`git merge --ff-only refs/ralph/tip/main` catches up)" in reason
    assert reason.count("\n") == 0
    assert source.state() == before
    source.git("stash", "-u", "-q")
    assert merge_branch.update_user_checkout() == ""
    assert {"changed", "link"} <= source.files().keys()


def test_what_a_stash_left_unmerged_is_the_persons_to_resolve(source: GitUser) -> None:
    merge_branch = built(source)
    source.write("README.md", "mine")
    source.git("stash", "-q")
    source.write("README.md", "others")
    source.git("commit", "-q", "-a", "-m", "others")
    source.git("stash", "pop", check=False)
    before = source.state()
    assert "README.md: not merged" in merge_branch.update_user_checkout()
    assert source.state() == before


def test_a_file_that_git_does_not_know_does_not_hold_it_up(source: GitUser) -> None:
    merge_branch = built(source)
    source.write("mine", "mine")
    assert merge_branch.update_user_checkout() == ""
    assert source.files()["mine"] == ("file", b"mine")
    assert {"changed", "link"} <= source.files().keys()


def test_ralphs_own_documents_do_not_hold_it_up(source: GitUser) -> None:
    merge_branch = built(source)
    source.write(".ralph/progress.md", "# Progress\n")
    assert merge_branch.update_user_checkout() == ""
    assert (source.top / ".ralph/progress.md").read_text() == "# Progress\n"


@pytest.mark.parametrize(
    ("path", "planned"),
    [("new.log", "new.log"), ("new", "new/file"), ("new/x.log", "new"), ("new/", "new/file")],
)
def test_what_git_ignores_is_not_overwritten(source: GitUser, path: str, planned: str) -> None:
    (source.top / ".git/info").mkdir(exist_ok=True)
    (source.top / ".git/info/exclude").write_text("/new\n")
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, ONE)
    inside.write(planned, "theirs")
    inside.git("add", "-f", planned)
    inside.commit()
    merge(merge_branch, ONE)
    if path.endswith("/"):
        (source.top / path).mkdir()
        assert merge_branch.update_user_checkout() == ""
        return
    source.write(path, "mine")
    before = state(source)
    assert "would be overwritten" in merge_branch.update_user_checkout()
    assert state(source) == before
    assert (source.top / path).read_text() == "mine"


def test_a_branch_that_nobody_has_checked_out_moves_alone(source: GitUser, tmp_path: Path) -> None:
    merge_branch = built(source)
    source.git("switch", "-q", "-c", "other")
    source.write("README.md", "mine, in mid-edit")
    before = source.state()
    assert merge_branch.update_user_checkout() == ""
    assert source.state() == before
    assert refs(source)["refs/heads/main"] == merge_branch.head()

    work(merge_branch, TWO, "two", "two")
    merge(merge_branch, TWO)
    source.git("worktree", "add", "-q", str(tmp_path / "linked"), "main")
    assert str(tmp_path / "linked") in merge_branch.update_user_checkout()
    linked = GitUser(str(tmp_path / "linked"))
    assert state(linked)[2] == ""
    linked.git("checkout", "-q", "--detach")
    assert merge_branch.update_user_checkout() == ""


def test_a_rebase_or_a_merge_under_way_is_not_disturbed(source: GitUser) -> None:
    source.write("second", "second")
    source.commit()
    merge_branch = built(source)
    source.git("-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~1")
    assert "under way" in merge_branch.update_user_checkout()
    source.git("rebase", "--continue")
    source.git("bisect", "start")
    source.git("bisect", "bad")
    source.git("bisect", "good", "HEAD~1")
    source.git("checkout", "-q", "--detach")
    assert "under way" in merge_branch.update_user_checkout()
    source.git("bisect", "reset")
    source.git("switch", "-q", "main")
    assert merge_branch.update_user_checkout() == ""


def test_a_sparse_checkout_is_left_to_the_person(source: GitUser) -> None:
    merge_branch = built(source)
    source.git("sparse-checkout", "set", "src")
    before = source.state()
    assert "git merge --ff-only" in merge_branch.update_user_checkout()
    assert source.state() == before


def test_a_lock_of_the_persons_git_is_left_alone(source: GitUser) -> None:
    merge_branch = built(source)
    with (source.top / ".git/index.lock").open("wb"):
        assert f"process {os.getpid()} (" in merge_branch.update_user_checkout()
    (source.top / ".git/index.lock").unlink()
    assert merge_branch.update_user_checkout() == ""


def test_files_that_cannot_be_written_leave_everything_as_it_was(source: GitUser) -> None:
    merge_branch = built(source)
    before = source.state()
    source.git("config", "filter.broken.smudge", 'read x && [ "$x" != new ] && echo "$x"')
    source.git("config", "filter.broken.clean", "cat")
    source.git("config", "filter.broken.required", "true")
    (source.top / ".git/info").mkdir(exist_ok=True)
    (source.top / ".git/info/attributes").write_text("changed filter=broken\n")
    assert "stays behind" in merge_branch.update_user_checkout()
    (source.top / ".git/info/attributes").unlink()
    assert source.state() == before
    assert "refs/ralph/following/main" not in refs(source)
    assert merge_branch.update_user_checkout() == ""


@pytest.mark.parametrize("edited", [False, True], ids=["alone", "edited since"])
@pytest.mark.parametrize("written", range(0, 9, 2))
def test_half_written_files_are_finished_or_undone(
    source: GitUser,
    written: int,
    edited: bool,  # noqa: FBT001
) -> None:
    merge_branch = built(source)
    old, new = source.git("rev-parse", "main", merge_branch.head()).split()
    before, after = source.files(), opened(merge_branch, ONE).files()
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
    again = a_merge_branch(source)
    again.clean_up_after_crash()
    assert "refs/ralph/following/main" not in refs(source)
    if edited:
        assert state(source) == (old, "main", " M changed\n")
        assert source.files() == {**before, "changed": ("file", b"mine\n")}
        assert "changed" in again.update_user_checkout()
    else:
        assert state(source) == (new, "main", "")
        assert source.files() == after


@pytest.fixture
def small(tmp_path: Path) -> Iterator[GitUser]:
    """A project on a file system of its own, of six megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        yield a_project(folder / "source")
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("left", [0, 100, 200, 500])
def test_a_full_disk_leaves_no_half_written_file(small: GitUser, left: int) -> None:
    """So many kilobytes are free when the checkout is to follow."""
    small.write("a", "old\n" * 50_000)
    small.write("b", "old\n" * 50_000)
    small.commit()
    merge_branch = a_merge_branch(small)
    for task, name in ((ONE, "a"), (TWO, "b")):
        work(merge_branch, task, name, "new\n" * 75_000)
        merge(merge_branch, task)
        merge_branch.remove_checkout(task)
    before = small.files()
    disk = os.statvfs(small.top)
    filler = small.top.parent / "filler"
    filler.write_bytes(b"x" * max(0, disk.f_bavail * disk.f_frsize - left * 1024))
    reason = merge_branch.update_user_checkout()
    after = small.files()
    assert {after["a"], after["b"]} <= {before["a"], before["b"], ("file", b"new\n" * 75_000)}
    assert after == before or not reason
    filler.unlink()
    merge_branch.clean_up_after_crash()
    assert merge_branch.update_user_checkout() == ""
    assert small.files()["a"] == ("file", b"new\n" * 75_000)
