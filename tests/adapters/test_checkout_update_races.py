"""A person uses git before any one of Ralph's own git calls: nothing that they made is lost."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.ports.executor import Command, CommandOutput
from tests.adapters.team import ONE, TWO, Interrupting, a_merge_branch, merge, refs, work
from tests.git_user import GitUser, a_project


def commit(source: GitUser) -> None:
    source.write("by a person", "1")
    source.git("add", "by a person", check=False)
    source.git("commit", "-q", "-m", "one", check=False)
    source.git("commit", "-q", "--allow-empty", "-m", "two", check=False)


def amend(source: GitUser) -> None:
    source.git("commit", "-q", "--amend", "--allow-empty", "-m", "amended", check=False)


def go_back(source: GitUser) -> None:
    source.git("reset", "-q", "--hard", "HEAD~1", check=False)


def rebase(source: GitUser) -> None:
    source.git("rebase", "-q", "side", check=False)


def switch(source: GitUser) -> None:
    source.git("switch", "-q", "side", check=False)


def commit_elsewhere(source: GitUser) -> None:
    """Without the index, as another program does it."""
    tree, head = source.git("rev-parse", "main^{tree}", "main").split()
    made = source.git("commit-tree", tree, "-p", head, "-m", "made of objects").strip()
    source.git("update-ref", "refs/heads/main", made, head, check=False)


ACTS = (commit, amend, go_back, rebase, switch, commit_elsewhere)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> GitUser:
    """A tip that is ahead of the person's branch."""
    source = a_project(tmp_path_factory.mktemp("built") / "source")
    source.commit("a second one")
    source.git("switch", "-q", "-c", "side")
    source.write("side", "side")
    source.commit("on the side")
    source.git("switch", "-q", "main")
    merge_branch = a_merge_branch(source)
    for task, path in ((ONE, "one"), (TWO, "two")):
        work(merge_branch, task, path, "built")
        merge(merge_branch, task)
        merge_branch.remove_checkout(task)
        if task == ONE:
            assert merge_branch.update_user_checkout() == ""
    return source


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_the_branch_only_goes_forward_whatever_a_person_does_meanwhile(
    tmp_path: Path, built: GitUser, act: Callable[[GitUser], None]
) -> None:
    tip = refs(built)["refs/ralph/tip/main"]
    before, calls = 0, 1
    while before < calls:
        source = GitUser(str(tmp_path / str(before) / "source"))
        shutil.copytree(built.top, source.top, symlinks=True)
        theirs: list[str] = []

        def acting(source: GitUser = source, theirs: list[str] = theirs) -> None:
            act(source)
            theirs.append(refs(source)["refs/heads/main"])

        executor = Interrupting(before, acting)
        a_merge_branch(source, executor=executor).update_user_checkout()
        calls, before = executor.calls, before + 1
        assert theirs, act
        for commit_ in (theirs[0], tip):
            holding = source.git("for-each-ref", "--contains", commit_, "--format=%(refname)")
            assert holding, f"{act.__name__} before call {before}: {commit_} is lost"
        source.git("merge-base", "--is-ancestor", theirs[0], "main")
        assert "two" not in source.git("status", "--porcelain"), f"before call {before}"


@pytest.mark.parametrize("path", ["README.md", "two"])
def test_what_a_person_writes_or_stages_meanwhile_stays_theirs(
    tmp_path: Path, built: GitUser, path: str
) -> None:
    before, calls = 0, 1
    while before < calls:
        source = GitUser(str(tmp_path / str(before) / "source"))
        shutil.copytree(built.top, source.top, symlinks=True)
        source.write("src/app.py", "staged before")
        source.git("add", "-A")

        def acting(source: GitUser = source) -> None:
            source.write(path, "theirs")
            source.git("add", path, check=False)

        executor = Interrupting(before, acting)
        reason = a_merge_branch(source, executor=executor).update_user_checkout()
        calls, before = executor.calls, before + 1
        assert (source.top / path).read_text() == "theirs", f"before call {before}: {reason}"
        assert "M  src/app.py" in source.git("status", "--porcelain")
        if path == "README.md":
            assert reason == "" or "index.lock" in reason, f"before call {before}"


def test_a_person_who_commits_all_the_time_is_no_reason_to_give_up(
    tmp_path: Path, built: GitUser
) -> None:
    source = GitUser(str(tmp_path / "source"))
    shutil.copytree(built.top, source.top, symlinks=True)

    class Committing(ProcessExecutor):
        def capture(self, command: Command, **how: Any) -> CommandOutput:
            source.git("commit", "-q", "--allow-empty", "-m", "again", check=False)
            return super().capture(command, **how)

    executor = Committing(SystemClock())
    assert a_merge_branch(source, executor=executor).update_user_checkout() == ""
    assert "two" in source.git("ls-tree", "--name-only", "main")
