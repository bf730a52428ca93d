"""Private checkouts of a repository with submodules, or with large files, and no network."""

import os
import shutil
from pathlib import Path

import pytest

from ralph.adapters.workspace.task_checkouts import TemporaryClones
from tests.adapters.team import (
    ONE,
    TWO,
    a_merge_branch,
    folder_of,
    merge,
    opened,
    refs,
    state,
    work,
)
from tests.adapters.test_temporary_checkouts import some_of
from tests.git_user import GitUser, a_project

LOCALLY = ("-c", "protocol.file.allow=always")


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    """With a submodule that has one itself, and one that nobody has checked out."""
    deep, lib = a_project(tmp_path / "remote/deep"), a_project(tmp_path / "remote/lib")
    lib.git(*LOCALLY, "submodule", "add", "-q", str(deep.top), "deep")
    lib.commit()
    made = a_project(tmp_path / "source")
    for name in ("lib", "unwanted"):
        made.git(*LOCALLY, "submodule", "add", "-q", str(lib.top), name)
    made.git(*LOCALLY, "submodule", "update", "-q", "--init", "--recursive", "lib")
    made.commit()
    made.git("submodule", "deinit", "-q", "-f", "unwanted")
    # From here on there is nothing to fetch from.
    shutil.rmtree(tmp_path / "remote")
    return made


def test_they_are_checked_out_as_the_person_has_them(source: GitUser, tmp_path: Path) -> None:
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, ONE)
    assert (inside.top / "lib/README.md").read_text() == "# A project\n"
    assert (inside.top / "lib/deep/README.md").read_text() == "# A project\n"
    assert not list((inside.top / "unwanted").iterdir())
    assert state(inside)[2] == ""
    checkouts: TemporaryClones = some_of(source, tmp_path)
    with checkouts.checkout_of(
        merge_branch.open_checkout(ONE), merge_branch.open_checkout(ONE).snapshot(), "verify"
    ) as path:
        assert Path(path, "lib/deep/README.md").exists()
    project_files = GitUser(str(source.top / "lib"))
    assert f"refs/ralph/base/{ONE}" in refs(project_files)
    merge_branch.remove_checkout(ONE)
    assert not [ref for ref in refs(project_files) if ref.startswith("refs/ralph")]


def test_what_is_committed_in_them_is_brought_back(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    inside, project_files = (
        opened(merge_branch, ONE),
        GitUser(str(opened(merge_branch, ONE).top / "lib")),
    )
    project_files.write("README.md", "# A better library\n")
    better = project_files.commit()
    inside.commit("A better library")
    opened(merge_branch, TWO)
    tip = merge(merge_branch, ONE)
    assert source.git("rev-parse", f"{tip}:lib").strip() == better
    person = GitUser(str(source.top / "lib"))
    assert better in refs(person).values()
    merge_branch.remove_checkout(ONE)

    # Others get it with the next rebase, and commit nothing of it themselves.
    work(merge_branch, TWO, "two", "two")
    merge(merge_branch, TWO)
    assert (folder_of(source) / TWO / "lib/README.md").read_text() == "# A better library\n"
    assert state(opened(merge_branch, TWO))[2] == ""

    # The person's own stays where it is until they update it, and holds nothing up.
    assert merge_branch.update_user_checkout() == ""
    assert person.git("rev-parse", "HEAD").strip() != better
    merge_branch.reset_checkout(TWO, f"refs/ralph/{TWO}/1")
    work(merge_branch, TWO, "two", "more")
    merge(merge_branch, TWO)
    assert merge_branch.update_user_checkout() == ""
    source.git("submodule", "update", "-q", "--no-fetch", "lib")
    assert (source.top / "lib/README.md").read_text() == "# A better library\n"


def test_two_who_change_the_same_one_are_in_conflict(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    made = {}
    for task in (ONE, TWO):
        inside = opened(merge_branch, task)
        project_files = GitUser(str(inside.top / "lib"))
        project_files.write("README.md", f"# By {task}\n")
        made[task] = project_files.commit()
        inside.commit(f"Another library\n\nRalph-Task: {task}")
    merge(merge_branch, ONE)
    before = state(opened(merge_branch, TWO))
    rebased = merge_branch.rebase(TWO)
    assert rebased.conflict is not None
    assert (rebased.conflict.files, rebased.conflict.theirs) == (("lib",), (ONE,))
    assert state(opened(merge_branch, TWO)) == before
    merge_branch.reset_checkout(TWO, f"refs/ralph/{TWO}/1")
    assert state(opened(merge_branch, TWO))[2] == ""
    assert made[TWO] in refs(GitUser(str(source.top / "lib"))).values()
    assert source.git("rev-parse", f"refs/ralph/{TWO}/1:lib").strip() == made[TWO]


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_large_files_come_from_the_person_and_go_back_there(tmp_path: Path) -> None:
    source = a_project(tmp_path / "source")
    source.git("lfs", "install", "--local", "--skip-repo")
    source.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    source.write("old.bin", "old and large")
    source.commit()
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, ONE)
    assert (inside.top / "old.bin").read_text() == "old and large"
    assert state(inside)[2] == ""
    inside.write("new.bin", "new and large")
    inside.commit()
    work(merge_branch, TWO, "two", "two")
    merge(merge_branch, TWO)
    merge(merge_branch, ONE)
    merge_branch.remove_checkout(ONE)
    assert "oid sha256" in source.git("show", f"{merge_branch.head()}:new.bin")
    assert merge_branch.update_user_checkout() == ""
    assert (source.top / "new.bin").read_text() == "new and large"
    assert state(source)[2] == ""
    # What is not what its name says is not taken over.
    planted = opened(merge_branch, TWO).top / ".git/lfs/objects/aa/aa" / ("a" * 64)
    os.makedirs(planted.parent, exist_ok=True)
    planted.write_text("something else")
    merge_branch.remove_checkout(TWO)
    assert not (source.top / ".git/lfs/objects/aa/aa" / ("a" * 64)).exists()
