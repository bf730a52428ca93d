"""Going to the branch that a run is to work on."""

from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.errors import BadConfig, RalphError
from tests.git_user import GitUser, a_project


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "source")


def go_to(hands: GitUser, branch: str) -> str:
    return UserCheckout(ProcessExecutor(SystemClock()), str(hands.top)).objects.check_out(branch)


def on(hands: GitUser) -> str:
    return hands.git("symbolic-ref", "--short", "HEAD").strip()


def test_a_new_one_begins_where_the_person_is_with_what_they_have_not_committed(
    source: GitUser,
) -> None:
    source.write("README.md", "edited\n")
    assert "new branch feature/süß" in go_to(source, "feature/süß")
    assert on(source) == "feature/süß"
    assert (source.top / "README.md").read_text() == "edited\n"
    assert go_to(source, "feature/süß") == ""


def test_one_that_is_there_is_gone_to(source: GitUser) -> None:
    source.git("branch", "work")
    assert "branch work" in go_to(source, "work")
    assert on(source) == "work"


def test_no_branch_and_no_commit_are_left_as_well(source: GitUser, tmp_path: Path) -> None:
    source.git("checkout", "-q", "--detach")
    assert "it was on none" in go_to(source, "work")
    bare = GitUser(str(tmp_path / "bare"))
    bare.top.mkdir()
    bare.git("init", "-q")
    go_to(bare, "work")
    assert on(bare) == "work"


def test_what_is_in_the_way_is_named_and_stays(source: GitUser) -> None:
    source.git("switch", "-q", "-c", "work")
    source.write("README.md", "theirs\n")
    source.commit()
    source.git("switch", "-q", "main")
    source.write("README.md", "in the middle of something\n")
    with pytest.raises(RalphError, match="cannot go to branch work"):
        go_to(source, "work")
    assert on(source) == "main"
    assert (source.top / "README.md").read_text() == "in the middle of something\n"


@pytest.mark.parametrize("name", ["-d", "a b", "a..b", "x.lock", "@{-1}", ""])
def test_what_no_branch_can_be_called(source: GitUser, name: str) -> None:
    with pytest.raises(BadConfig, match="no branch can be called"):
        go_to(source, name)
