"""A person uses git before any one of Ralph's own git calls: nothing that they made is lost."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.ports.executor import Captured
from ralph.testing.hands import Hands, a_project
from tests.adapters.team import ONE, TWO, a_trunk, merge, refs, work


class Interrupting:
    """Runs commands, and lets a person act before one of them."""

    def __init__(self, before: int, act: Callable[[], None]) -> None:
        self._processes = Processes(SystemClock())
        self._before = before
        self._act = act
        self.calls = 0

    def capture(self, argv: Sequence[str], **how: Any) -> Captured:
        if self.calls == self._before:
            self._act()
        self.calls += 1
        return self._processes.capture(argv, **how)

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        self._processes.wait(why, seconds, is_over)


def commit(source: Hands) -> None:
    source.write("by a person", "1")
    source.git("add", "by a person", check=False)
    source.git("commit", "-q", "-m", "one", check=False)
    source.git("commit", "-q", "--allow-empty", "-m", "two", check=False)


def amend(source: Hands) -> None:
    source.git("commit", "-q", "--amend", "--allow-empty", "-m", "amended", check=False)


def go_back(source: Hands) -> None:
    source.git("reset", "-q", "--hard", "HEAD~1", check=False)


def rebase(source: Hands) -> None:
    source.git("rebase", "-q", "side", check=False)


def switch(source: Hands) -> None:
    source.git("switch", "-q", "side", check=False)


def commit_elsewhere(source: Hands) -> None:
    """Without the index, as another program does it."""
    tree, head = source.git("rev-parse", "main^{tree}", "main").split()
    made = source.git("commit-tree", tree, "-p", head, "-m", "made of objects").strip()
    source.git("update-ref", "refs/heads/main", made, head, check=False)


ACTS = (commit, amend, go_back, rebase, switch, commit_elsewhere)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Hands:
    """A tip that is ahead of the person's branch."""
    source = a_project(tmp_path_factory.mktemp("built") / "source")
    source.commit("a second one")
    source.git("switch", "-q", "-c", "side")
    source.write("side", "side")
    source.commit("on the side")
    source.git("switch", "-q", "main")
    trunk = a_trunk(source)
    for task, path in ((ONE, "one"), (TWO, "two")):
        work(trunk, task, path, "built")
        merge(trunk, task)
        trunk.close(task)
        if task == ONE:
            assert trunk.follow() == ""
    return source


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_the_branch_only_goes_forward_whatever_a_person_does_meanwhile(
    tmp_path: Path, built: Hands, act: Callable[[Hands], None]
) -> None:
    tip = refs(built)["refs/ralph/tip/main"]
    before, calls = 0, 1
    while before < calls:
        source = Hands(str(tmp_path / str(before) / "source"))
        shutil.copytree(built.top, source.top, symlinks=True)
        theirs: list[str] = []

        def acting(source: Hands = source, theirs: list[str] = theirs) -> None:
            act(source)
            theirs.append(refs(source)["refs/heads/main"])

        executor = Interrupting(before, acting)
        a_trunk(source, executor=executor).follow()
        calls, before = executor.calls, before + 1
        assert theirs, act
        for commit_ in (theirs[0], tip):
            holding = source.git("for-each-ref", "--contains", commit_, "--format=%(refname)")
            assert holding, f"{act.__name__} before call {before}: {commit_} is lost"
        source.git("merge-base", "--is-ancestor", theirs[0], "main")
        assert "two" not in source.git("status", "--porcelain"), f"before call {before}"
