"""Killed at any call of git, while checkouts are made, merged or removed, and while the branch
follows: nothing is lost, nothing is done twice."""

import os
import shutil
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.merge_branch import GitMergeBranch
from ralph.ports.executor import Command, CommandOutput
from tests.adapters.team import (
    ONE,
    TWO,
    a_merge_branch,
    everything,
    folder_of,
    merge,
    opened,
    refs,
    state,
    work,
    writes,
)
from tests.git_user import GitUser, a_project

MOST = 200
REF = f"refs/ralph/{TWO}/1"


class CrashingPart:
    """Runs git, and kills its own process at the n-th call that counts."""

    def __init__(self, number: int, *, late: bool, counts: Callable[[Sequence[str]], bool]) -> None:
        self.left = number
        self.late = late
        self.counts = counts
        self.executor = ProcessExecutor(SystemClock())

    def capture(
        self,
        command: Command,
        *,
        timeout_s: float = 120.0,
        tick: Callable[[], bool] | None = None,
    ) -> CommandOutput:
        self.left -= self.counts(command.argv)
        is_last = self.left == 0 and self.counts(command.argv)
        if is_last and not self.late:
            os.kill(os.getpid(), signal.SIGKILL)
        done = self.executor.capture(command, timeout_s=timeout_s, tick=tick)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return done


class Scene:
    """Two tasks that touch the same file; the work of one is merged, that of the other is not."""

    def __init__(self, folder: Path) -> None:
        self.here = folder / "here"
        self.template = folder / "template"
        self.source = a_project(self.here / "source")
        self.start = self.source.git("rev-parse", "HEAD").strip()
        merge_branch = a_merge_branch(self.source)
        work(merge_branch, ONE, "README.md", "# By one\n")
        merge(merge_branch, ONE)
        self.tip = merge_branch.head()
        merge_branch.remove_checkout(ONE)

    def keep(self) -> None:
        shutil.copytree(self.here, self.template, symlinks=True)

    def again(self) -> None:
        # At the same place: checkouts know where they borrow from.
        shutil.rmtree(self.here)
        shutil.copytree(self.template, self.here, symlinks=True)


def was_killed(
    scene: Scene, deed: Callable[[GitMergeBranch], object], mortal: CrashingPart
) -> bool:
    """Do it in a process of its own; did that die?"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 3
        try:
            deed(a_merge_branch(scene.source, executor=mortal))  # type: ignore[arg-type]
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "it failed instead of dying"
    return False


def deaths(
    scene: Scene,
    deed: Callable[[GitMergeBranch], object],
    counts: Callable[[Sequence[str]], bool],
) -> Iterator[GitMergeBranch]:
    """Everything once for each call, after the process that made the call was killed."""
    scene.keep()
    times = (True,) if counts is writes else (False, True)
    for late in times:
        for number in range(1, MOST):
            scene.again()
            if not was_killed(scene, deed, CrashingPart(number, late=late, counts=counts)):
                assert number > 1, "git was not called at all"
                break
            merge_branch = a_merge_branch(scene.source)
            merge_branch.clean_up_after_crash()
            yield merge_branch
        else:
            pytest.fail("it never came to its end")


both = pytest.mark.parametrize(
    "counts",
    [
        pytest.param(writes, id="writes"),
        pytest.param(
            everything, id="everything", marks=(pytest.mark.soak, pytest.mark.timeout(1200))
        ),
    ],
)
Counts = Callable[[Sequence[str]], bool]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@both
def test_while_a_checkout_is_made(scene: Scene, counts: Counts) -> None:
    for merge_branch in deaths(scene, lambda merge_branch: merge_branch.open_checkout(TWO), counts):
        inside = opened(merge_branch, TWO)
        assert state(inside) == (scene.tip, f"ralph/{TWO}", "")
        assert inside.files()["README.md"] == ("file", b"# By one\n")
        names = {path.name for path in folder_of(scene.source).iterdir()}
        assert names == {TWO, f"{TWO}.ready"}
        assert refs(inside).keys() == {f"refs/heads/ralph/{TWO}"}


def begun(scene: Scene, path: str, content: str) -> str:
    """A second task that was begun before the first was merged."""
    merge_branch = a_merge_branch(scene.source)
    inside = opened(merge_branch, TWO)
    inside.git("reset", "-q", "--hard", scene.start)
    scene.source.git("update-ref", f"refs/ralph/base/{TWO}", scene.start)
    work(merge_branch, TWO, "first", "first")
    return work(merge_branch, TWO, path, content)


@both
def test_while_work_is_merged(scene: Scene, counts: Counts) -> None:
    begun(scene, "two", "two")
    for merge_branch in deaths(scene, lambda merge_branch: merge(merge_branch, TWO), counts):
        if not merge_branch.is_merged(TWO):
            merge(merge_branch, TWO)
        listed = scene.source.git("log", "--format=%s", f"{scene.start}..{merge_branch.head()}")
        assert listed.split("\n")[:-1] == ["Write two", "Write first", "Write README.md"]
        inside = opened(merge_branch, TWO)
        assert state(inside) == (merge_branch.head(), f"ralph/{TWO}", "")
        assert refs(inside).keys() == {f"refs/heads/ralph/{TWO}"}


@both
def test_while_a_conflict_is_found(scene: Scene, counts: Counts) -> None:
    head = begun(scene, "README.md", "# By two\n")
    for merge_branch in deaths(scene, lambda merge_branch: merge_branch.rebase(TWO), counts):
        assert not merge_branch.is_merged(TWO)
        assert merge_branch.rebase(TWO).conflict is not None
        assert state(opened(merge_branch, TWO)) == (head, f"ralph/{TWO}", "")


@both
def test_while_both_sides_are_put_together(scene: Scene, counts: Counts) -> None:
    head = begun(scene, "README.md", "# By two\n")
    inside = opened(a_merge_branch(scene.source), TWO)
    inside.write("loose", "loose")
    for merge_branch in deaths(
        scene, lambda merge_branch: merge_branch.merge_uncommitted(TWO, REF), counts
    ):
        conflict = merge_branch.merge_uncommitted(TWO, REF)
        assert conflict.files == ("README.md",)
        assert inside.git("rev-parse", "HEAD").strip() == scene.tip
        assert "<<<<<<<" in (inside.top / "README.md").read_text()
        assert (inside.top / "first").read_text() == "first"
        assert (inside.top / "loose").read_text() == "loose"
        assert head in scene.source.git("rev-list", REF).split()


@both
def test_while_a_task_starts_over(scene: Scene, counts: Counts) -> None:
    head = begun(scene, "README.md", "# By two\n")
    inside = opened(a_merge_branch(scene.source), TWO)
    inside.write("loose", "loose")
    for merge_branch in deaths(
        scene, lambda merge_branch: merge_branch.reset_checkout(TWO, REF), counts
    ):
        merge_branch.reset_checkout(TWO, REF)
        assert state(inside) == (scene.tip, f"ralph/{TWO}", "")
        assert scene.source.git("show", f"{REF}:loose") == "loose"
        assert head in scene.source.git("rev-list", REF).split()


@both
def test_while_a_checkout_is_removed(scene: Scene, counts: Counts) -> None:
    head = begun(scene, "README.md", "# By two\n")
    inside = opened(a_merge_branch(scene.source), TWO)
    inside.write("loose", "loose")
    for merge_branch in deaths(
        scene, lambda merge_branch: merge_branch.remove_checkout(TWO), counts
    ):
        merge_branch.remove_checkout(TWO)
        assert not list(folder_of(scene.source).iterdir())
        kept = f"refs/ralph/kept/{TWO}/files"
        assert scene.source.git("show", f"{kept}:loose") == "loose"
        assert head in scene.source.git("rev-list", kept).split()
        assert f"refs/ralph/base/{TWO}" not in refs(scene.source)


@both
def test_while_the_branch_follows(scene: Scene, counts: Counts) -> None:
    scene.source.write("mine.log", "ignored")
    for merge_branch in deaths(
        scene, lambda merge_branch: merge_branch.update_user_checkout(), counts
    ):
        assert merge_branch.update_user_checkout() == ""
        assert state(scene.source) == (scene.tip, "main", "")
        assert scene.source.files()["README.md"] == ("file", b"# By one\n")
        assert (scene.source.top / "mine.log").read_text() == "ignored"
        assert not [ref for ref in refs(scene.source) if "following" in ref]
        assert not (scene.source.top / ".git/index.lock").exists()


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_git_that_dies_in_the_middle_of_a_rebase(scene: Scene, times: int) -> None:
    begun(scene, "two", "two")
    inside = opened(a_merge_branch(scene.source), TWO)
    head = inside.git("rev-parse", "HEAD").strip()
    doom, count = inside.top.parent / "doom", inside.top.parent / "count"
    doom.write_text(
        f"#!/bin/sh\necho x >> '{count}'\n"
        f"[ \"$(wc -l < '{count}')\" -ne {times} ] || kill -9 $PPID\ncat\n"
    )
    doom.chmod(0o755)
    (inside.top / ".git/info/attributes").write_text("* filter=doom\n")
    inside.git("config", "filter.doom.smudge", str(doom))
    with pytest.raises(Exception, match="git"):
        a_merge_branch(scene.source).rebase(TWO)
    (inside.top / ".git/info/attributes").unlink()
    merge_branch = a_merge_branch(scene.source)
    assert not merge_branch.is_merged(TWO)
    assert state(inside) == (head, f"ralph/{TWO}", "")
    merge(merge_branch, TWO)
    assert {"first", "two"} <= inside.files().keys()
    assert isinstance(inside, GitUser)


def test_a_file_that_was_only_touched_is_in_nobodys_way(scene: Scene) -> None:
    os.utime(scene.source.top / "README.md", (1, 1))
    assert a_merge_branch(scene.source).update_user_checkout() == ""
    assert scene.source.files()["README.md"] == ("file", b"# By one\n")
