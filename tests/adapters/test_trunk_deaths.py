"""Killed at any call of git, while checkouts are made, merged or removed, and while the branch
follows: nothing is lost, nothing is done twice."""

import os
import shutil
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.workspace.trunk import SharedBranch
from ralph.ports.executor import Captured
from ralph.testing.hands import Hands, a_project
from tests.adapters.team import ONE, TWO, a_trunk, folder_of, merge, opened, refs, state, work

MOST = 200
REF = f"refs/ralph/{TWO}/1"
WRITES = {"checkout", "cherry-pick", "fetch", "init", "rebase", "reset", "update-ref", "-u"}
"""Words of commands that change refs or files, and not just an index of our own."""


class Mortal:
    """Runs git, and kills its own process at the n-th call that counts."""

    def __init__(self, number: int, *, late: bool, counts: Callable[[Sequence[str]], bool]) -> None:
        self.left = number
        self.late = late
        self.counts = counts
        self.executor = Processes(SystemClock())

    def capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 120.0,
    ) -> Captured:
        self.left -= self.counts(argv)
        is_last = self.left == 0 and self.counts(argv)
        if is_last and not self.late:
            os.kill(os.getpid(), signal.SIGKILL)
        done = self.executor.capture(argv, cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return done


def writes(argv: Sequence[str]) -> bool:
    return any(word in WRITES for word in argv)


def everything(argv: Sequence[str]) -> bool:
    return bool(argv)


class Scene:
    """Two tasks that touch the same file; the work of one is merged, that of the other is not."""

    def __init__(self, folder: Path) -> None:
        self.here = folder / "here"
        self.template = folder / "template"
        self.source = a_project(self.here / "source")
        self.start = self.source.git("rev-parse", "HEAD").strip()
        trunk = a_trunk(self.source)
        work(trunk, ONE, "README.md", "# By one\n")
        merge(trunk, ONE)
        self.tip = trunk.tip()
        trunk.close(ONE)

    def keep(self) -> None:
        shutil.copytree(self.here, self.template, symlinks=True)

    def again(self) -> None:
        # At the same place: checkouts know where they borrow from.
        shutil.rmtree(self.here)
        shutil.copytree(self.template, self.here, symlinks=True)


def was_killed(scene: Scene, deed: Callable[[SharedBranch], object], mortal: Mortal) -> bool:
    """Do it in a process of its own; did that die?"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 3
        try:
            deed(a_trunk(scene.source, executor=mortal))
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
    deed: Callable[[SharedBranch], object],
    counts: Callable[[Sequence[str]], bool],
) -> Iterator[SharedBranch]:
    """Everything once for each call, after the process that made the call was killed."""
    scene.keep()
    times = (True,) if counts is writes else (False, True)
    for late in times:
        for number in range(1, MOST):
            scene.again()
            if not was_killed(scene, deed, Mortal(number, late=late, counts=counts)):
                assert number > 1, "git was not called at all"
                break
            trunk = a_trunk(scene.source)
            trunk.tidy()
            yield trunk
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
    for trunk in deaths(scene, lambda trunk: trunk.open(TWO), counts):
        inside = opened(trunk, TWO)
        assert state(inside) == (scene.tip, f"ralph/{TWO}", "")
        assert inside.files()["README.md"] == ("file", b"# By one\n")
        names = {path.name for path in folder_of(scene.source).iterdir()}
        assert names == {TWO, f"{TWO}.ready"}
        assert refs(inside).keys() == {f"refs/heads/ralph/{TWO}"}


def begun(scene: Scene, path: str, content: str) -> str:
    """A second task that was begun before the first was merged."""
    trunk = a_trunk(scene.source)
    inside = opened(trunk, TWO)
    inside.git("reset", "-q", "--hard", scene.start)
    scene.source.git("update-ref", f"refs/ralph/base/{TWO}", scene.start)
    work(trunk, TWO, "first", "first")
    return work(trunk, TWO, path, content)


@both
def test_while_work_is_merged(scene: Scene, counts: Counts) -> None:
    begun(scene, "two", "two")
    for trunk in deaths(scene, lambda trunk: merge(trunk, TWO), counts):
        if not trunk.is_merged(TWO):
            merge(trunk, TWO)
        listed = scene.source.git("log", "--format=%s", f"{scene.start}..{trunk.tip()}")
        assert listed.split("\n")[:-1] == ["Write two", "Write first", "Write README.md"]
        inside = opened(trunk, TWO)
        assert state(inside) == (trunk.tip(), f"ralph/{TWO}", "")
        assert refs(inside).keys() == {f"refs/heads/ralph/{TWO}"}


@both
def test_while_a_conflict_is_found(scene: Scene, counts: Counts) -> None:
    head = begun(scene, "README.md", "# By two\n")
    for trunk in deaths(scene, lambda trunk: trunk.rebase(TWO), counts):
        assert not trunk.is_merged(TWO)
        assert trunk.rebase(TWO).conflict is not None
        assert state(opened(trunk, TWO)) == (head, f"ralph/{TWO}", "")


@both
def test_while_both_sides_are_put_together(scene: Scene, counts: Counts) -> None:
    head = begun(scene, "README.md", "# By two\n")
    inside = opened(a_trunk(scene.source), TWO)
    inside.write("loose", "loose")
    for trunk in deaths(scene, lambda trunk: trunk.side_by_side(TWO, REF), counts):
        conflict = trunk.side_by_side(TWO, REF)
        assert conflict.files == ("README.md",)
        assert inside.git("rev-parse", "HEAD").strip() == scene.tip
        assert "<<<<<<<" in (inside.top / "README.md").read_text()
        assert (inside.top / "first").read_text() == "first"
        assert (inside.top / "loose").read_text() == "loose"
        assert head in scene.source.git("rev-list", REF).split()


@both
def test_while_a_task_starts_over(scene: Scene, counts: Counts) -> None:
    head = begun(scene, "README.md", "# By two\n")
    inside = opened(a_trunk(scene.source), TWO)
    inside.write("loose", "loose")
    for trunk in deaths(scene, lambda trunk: trunk.start_over(TWO, REF), counts):
        trunk.start_over(TWO, REF)
        assert state(inside) == (scene.tip, f"ralph/{TWO}", "")
        assert scene.source.git("show", f"{REF}:loose") == "loose"
        assert head in scene.source.git("rev-list", REF).split()


@both
def test_while_a_checkout_is_removed(scene: Scene, counts: Counts) -> None:
    head = begun(scene, "README.md", "# By two\n")
    inside = opened(a_trunk(scene.source), TWO)
    inside.write("loose", "loose")
    for trunk in deaths(scene, lambda trunk: trunk.close(TWO), counts):
        trunk.close(TWO)
        assert not list(folder_of(scene.source).iterdir())
        kept = f"refs/ralph/kept/{TWO}/files"
        assert scene.source.git("show", f"{kept}:loose") == "loose"
        assert head in scene.source.git("rev-list", kept).split()
        assert f"refs/ralph/base/{TWO}" not in refs(scene.source)


@both
def test_while_the_branch_follows(scene: Scene, counts: Counts) -> None:
    scene.source.write("mine.log", "ignored")
    for trunk in deaths(scene, lambda trunk: trunk.follow(), counts):
        assert trunk.follow() == ""
        assert state(scene.source) == (scene.tip, "main", "")
        assert scene.source.files()["README.md"] == ("file", b"# By one\n")
        assert (scene.source.top / "mine.log").read_text() == "ignored"
        assert not [ref for ref in refs(scene.source) if "following" in ref]
        assert not (scene.source.top / ".git/index.lock").exists()


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_git_that_dies_in_the_middle_of_a_rebase(scene: Scene, times: int) -> None:
    begun(scene, "two", "two")
    inside = opened(a_trunk(scene.source), TWO)
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
        a_trunk(scene.source).rebase(TWO)
    (inside.top / ".git/info/attributes").unlink()
    trunk = a_trunk(scene.source)
    assert not trunk.is_merged(TWO)
    assert state(inside) == (head, f"ralph/{TWO}", "")
    merge(trunk, TWO)
    assert {"first", "two"} <= inside.files().keys()
    assert isinstance(inside, Hands)
