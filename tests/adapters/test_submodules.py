"""Private checkouts of a repository with submodules, or with large files, and no network."""

import os
import shutil
from pathlib import Path

import pytest

from ralph.adapters.workspace.throw_away import ThrowAway
from ralph.testing.hands import Hands, a_project
from tests.adapters.team import ONE, TWO, a_trunk, folder_of, merge, opened, refs, state, work
from tests.adapters.test_throw_away import some_of

LOCALLY = ("-c", "protocol.file.allow=always")


@pytest.fixture
def source(tmp_path: Path) -> Hands:
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


def test_they_are_checked_out_as_the_person_has_them(source: Hands, tmp_path: Path) -> None:
    trunk = a_trunk(source)
    inside = opened(trunk, ONE)
    assert (inside.top / "lib/README.md").read_text() == "# A project\n"
    assert (inside.top / "lib/deep/README.md").read_text() == "# A project\n"
    assert not list((inside.top / "unwanted").iterdir())
    assert state(inside)[2] == ""
    checkouts: ThrowAway = some_of(source, tmp_path)
    with checkouts.of(trunk.open(ONE), trunk.open(ONE).snapshot(), "verify") as path:
        assert Path(path, "lib/deep/README.md").exists()
    library = Hands(str(source.top / "lib"))
    assert f"refs/ralph/base/{ONE}" in refs(library)
    trunk.close(ONE)
    assert not [ref for ref in refs(library) if ref.startswith("refs/ralph")]


def test_what_is_committed_in_them_is_brought_back(source: Hands) -> None:
    trunk = a_trunk(source)
    inside, library = opened(trunk, ONE), Hands(str(opened(trunk, ONE).top / "lib"))
    library.write("README.md", "# A better library\n")
    better = library.commit()
    inside.commit("A better library")
    opened(trunk, TWO)
    tip = merge(trunk, ONE)
    assert source.git("rev-parse", f"{tip}:lib").strip() == better
    person = Hands(str(source.top / "lib"))
    assert better in refs(person).values()
    trunk.close(ONE)

    # Others get it with the next rebase, and commit nothing of it themselves.
    work(trunk, TWO, "two", "two")
    merge(trunk, TWO)
    assert (folder_of(source) / TWO / "lib/README.md").read_text() == "# A better library\n"
    assert state(opened(trunk, TWO))[2] == ""

    # The person's own stays where it is until they update it, and holds nothing up.
    assert trunk.follow() == ""
    assert person.git("rev-parse", "HEAD").strip() != better
    trunk.start_over(TWO, f"refs/ralph/{TWO}/1")
    work(trunk, TWO, "two", "more")
    merge(trunk, TWO)
    assert trunk.follow() == ""
    source.git("submodule", "update", "-q", "--no-fetch", "lib")
    assert (source.top / "lib/README.md").read_text() == "# A better library\n"


def test_two_who_change_the_same_one_are_in_conflict(source: Hands) -> None:
    trunk = a_trunk(source)
    made = {}
    for task in (ONE, TWO):
        inside = opened(trunk, task)
        library = Hands(str(inside.top / "lib"))
        library.write("README.md", f"# By {task}\n")
        made[task] = library.commit()
        inside.commit(f"Another library\n\nRalph-Task: {task}")
    merge(trunk, ONE)
    before = state(opened(trunk, TWO))
    rebased = trunk.rebase(TWO)
    assert rebased.conflict is not None
    assert (rebased.conflict.files, rebased.conflict.theirs) == (("lib",), (ONE,))
    assert state(opened(trunk, TWO)) == before
    trunk.start_over(TWO, f"refs/ralph/{TWO}/1")
    assert state(opened(trunk, TWO))[2] == ""
    assert made[TWO] in refs(Hands(str(source.top / "lib"))).values()
    assert source.git("rev-parse", f"refs/ralph/{TWO}/1:lib").strip() == made[TWO]


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_large_files_come_from_the_person_and_go_back_there(tmp_path: Path) -> None:
    source = a_project(tmp_path / "source")
    source.git("lfs", "install", "--local", "--skip-repo")
    source.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    source.write("old.bin", "old and large")
    source.commit()
    trunk = a_trunk(source)
    inside = opened(trunk, ONE)
    assert (inside.top / "old.bin").read_text() == "old and large"
    assert state(inside)[2] == ""
    inside.write("new.bin", "new and large")
    inside.commit()
    work(trunk, TWO, "two", "two")
    merge(trunk, TWO)
    merge(trunk, ONE)
    trunk.close(ONE)
    assert "oid sha256" in source.git("show", f"{trunk.tip()}:new.bin")
    assert trunk.follow() == ""
    assert (source.top / "new.bin").read_text() == "new and large"
    assert state(source)[2] == ""
    # What is not what its name says is not taken over.
    planted = opened(trunk, TWO).top / ".git/lfs/objects/aa/aa" / ("a" * 64)
    os.makedirs(planted.parent, exist_ok=True)
    planted.write_text("something else")
    trunk.close(TWO)
    assert not (source.top / ".git/lfs/objects/aa/aa" / ("a" * 64)).exists()
