"""Lock files of git: whoever holds one lives, or it is moved aside."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace import locks
from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.locks import (
    CheckoutLock,
    clear_locks,
    find_locks,
    inspect_lock,
    release,
)
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.errors import Busy, CannotWrite
from tests.git_user import GitUser, a_project

KINDS = (
    "index.lock",
    "HEAD.lock",
    "config.lock",
    "packed-refs.lock",
    "shallow.lock",
    "refs/heads/main.lock",
    "refs/heads/feature/x.lock",
    "refs/ralph/tip/main.lock",
    "logs/refs/heads/main.lock",
    "objects/maintenance.lock",
    "objects/info/commit-graph.lock",
    "objects/info/commit-graphs/commit-graph-chain.lock",
    "objects/pack/multi-pack-index.lock",
    "reftable/tables.list.lock",
    "info/sparse-checkout.lock",
    "packed-refs.new",
    "worktrees/other/index.lock",
    "worktrees/other/HEAD.lock",
    "modules/lib/index.lock",
    "modules/libs/deep/refs/heads/main.lock",
    "modules/lib/modules/inner/HEAD.lock",
    f"refs/heads/{'a' * 200}/{'b' * 250}.lock",
)


@pytest.fixture
def hands(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "project")


def leave(hands: GitUser, name: str) -> Path:
    """A lock without a holder."""
    path = hands.top / ".git" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    for module in ("modules/lib", "modules/libs/deep", "modules/lib/modules/inner"):
        if name.startswith(f"{module}/"):
            (hands.top / ".git" / module / "HEAD").touch()
    path.write_text("what the dead had written")
    return path


@pytest.mark.parametrize("name", KINDS)
def test_every_lock_of_a_repository_is_found_and_moved_aside(hands: GitUser, name: str) -> None:
    lock = leave(hands, name)
    (aside,) = clear_locks(str(hands.top / ".git"), since=0.0)
    assert not lock.exists()
    assert Path(aside).read_text() == "what the dead had written"
    assert Path(aside).parent.name == "ralph"
    assert clear_locks(str(hands.top / ".git"), since=0.0) == []


def test_what_is_no_lock_of_gits_stays(hands: GitUser) -> None:
    kept = [
        leave(hands, name)
        for name in ("ralph/run.lock", "ralph/merge.lock", "lfs/x.lock", "hooks/yarn.lock")
    ]
    (hands.top / "yarn.lock").touch()
    hands.git("branch", "unlock")
    assert clear_locks(str(hands.top / ".git"), since=0.0) == []
    assert all(path.exists() for path in kept)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("refs/heads/x.lock", ("update-ref", "refs/heads/x", "HEAD")),
        ("refs/ralph/x.lock", ("update-ref", "refs/ralph/x", "HEAD")),
        ("HEAD.lock", ("symbolic-ref", "HEAD", "refs/heads/other")),
        ("packed-refs.lock", ("pack-refs", "--all")),
        ("packed-refs.new", ("pack-refs", "--all")),
        ("index.lock", ("read-tree", "HEAD")),
        ("config.lock", ("config", "x.y", "z")),
    ],
)
def test_a_git_that_finds_a_stale_lock_does_its_work(
    hands: GitUser, name: str, args: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "YOUNG_S", 0.0)
    lock = leave(hands, name)
    Git(ProcessExecutor(SystemClock()), str(hands.top)).run(*args)
    assert not lock.exists()


def test_a_young_lock_is_given_the_time_that_a_tool_needs(
    hands: GitUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "YOUNG_S", 1000.0)
    monkeypatch.setattr(locks, "UNSEEN_S", 1000.0)
    lock = inspect_lock(str(leave(hands, "index.lock")))
    assert lock is not None
    assert (lock.holder, lock.is_stale) == ("", False)
    assert 0 < lock.left_s <= 1000.0
    assert clear_locks(str(hands.top / ".git")) == []


def test_where_not_every_process_can_be_seen_a_lock_has_to_be_older(
    hands: GitUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "WHOLE_MACHINE", "another one")
    monkeypatch.setattr(locks, "UNSEEN_S", 1000.0)
    lock = inspect_lock(str(leave(hands, "index.lock")))
    assert lock is not None
    assert lock.left_s > locks.YOUNG_S


class Patient(ProcessExecutor):
    """Does something instead of waiting."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__(SystemClock())
        self.meanwhile = meanwhile
        self.waits: list[str] = []

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        del seconds
        self.waits.append(why)
        assert not is_over()
        self.meanwhile()
        is_over()


@contextmanager
def a_commit_with_an_editor(hands: GitUser) -> Iterator[subprocess.Popen[bytes]]:
    """git holds the index, without having its lock open, while a person writes the message."""
    fifo = hands.top.parent / "fifo"
    hands.write("README.md", "changed")
    os.mkfifo(fifo)
    editor = f"cat '{fifo}' >"
    process = subprocess.Popen(
        ["git", "commit", "-a"],
        cwd=hands.top,
        env={**os.environ, "GIT_EDITOR": editor},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with fifo.open("wb") as message:  # opens as soon as the editor reads
        below = psutil.Process(process.pid).children(recursive=True)
        yield process
        message.write(b"By a person\n")
    process.wait()
    for one in below:
        with suppress(psutil.Error):
            one.wait()


def test_a_git_that_waits_for_an_editor_holds_its_lock(hands: GitUser) -> None:
    path = hands.top / ".git/index.lock"
    with a_commit_with_an_editor(hands) as process:
        assert path.exists()
        lock = inspect_lock(str(path), since=0.0)
        assert lock is not None
        assert lock.holder.startswith(f"process {process.pid} (git commit")
        executor = Patient(lambda: None)
        with pytest.raises(Busy, match=f"process {process.pid} "):
            release(str(path), executor)
        assert path.exists()
    assert hands.git("log", "-1", "--format=%s") == "By a person\n"


def test_a_holder_that_ends_in_time_is_waited_for(hands: GitUser) -> None:
    workspace_git = hands.top / ".git"
    lock = (workspace_git / "index.lock").open("wb")

    def ends() -> None:
        lock.close()
        (workspace_git / "index.lock").unlink()

    executor = Patient(ends)
    workspace = UserCheckout(executor, str(hands.top))
    since = workspace.snapshot()
    hands.write("new", "new")
    assert workspace.commit(since, workspace.snapshot(), "Work", frozenset()).commit
    assert len(executor.waits) == 1


def test_a_git_that_was_killed_holds_nothing(hands: GitUser) -> None:
    path = hands.top / ".git/index.lock"
    with a_commit_with_an_editor(hands) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert path.exists()
        (aside,) = clear_locks(str(hands.top / ".git"), since=0.0)
    assert not path.exists()
    assert os.path.exists(aside)


def test_a_git_in_another_repository_holds_nothing_here(hands: GitUser, tmp_path: Path) -> None:
    other = a_project(tmp_path / "elsewhere" / "project")
    path = leave(hands, "index.lock")
    with a_commit_with_an_editor(other):
        lock = inspect_lock(str(path), since=0.0)
        assert lock is not None
        assert lock.is_stale


@pytest.mark.parametrize("options", [(), ("-c", "x.y=z")])
def test_a_git_that_only_reads_holds_nothing(hands: GitUser, options: tuple[str, ...]) -> None:
    """Such as a history in a pager, which a person forgets for days."""
    command = ["git", *options, "cat-file", "--batch"]
    with subprocess.Popen(command, cwd=hands.top, stdin=subprocess.PIPE) as process:
        lock = inspect_lock(str(leave(hands, "index.lock")), since=0.0)
        assert lock is not None
        assert lock.is_stale
        assert process.poll() is None


def test_a_git_in_a_linked_worktree_holds_locks_of_the_repository(
    hands: GitUser, tmp_path: Path
) -> None:
    hands.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked" / "tree"))
    linked = GitUser(str(tmp_path / "linked" / "tree"))
    with a_commit_with_an_editor(linked) as process:
        (own,) = find_locks(str(hands.top / ".git"))
        assert own.endswith("worktrees/tree/index.lock")
        for path in (own, str(leave(hands, "packed-refs.lock"))):
            lock = inspect_lock(path, since=0.0)
            assert lock is not None
            assert f"process {process.pid} " in lock.holder


def test_a_link_in_the_place_of_the_runs_lock_changes_no_file(hands: GitUser) -> None:
    hands.write("theirs", "a person's")
    theirs = hands.top / "theirs"
    path = hands.top / ".git/ralph/run.lock"
    for target in (theirs, Path("/dev/zero")):
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(target)
        lock = CheckoutLock(str(hands.top / ".git"), "run-1")
        with pytest.raises(CannotWrite, match=r"run\.lock"), lock:
            pass
        path.unlink()
    assert theirs.read_text() == "a person's"


def test_a_run_that_died_is_told_from_one_that_ended(hands: GitUser) -> None:
    git_dir = str(hands.top / ".git")
    with CheckoutLock(git_dir, "run-1") as first:
        assert first.died_since > time.time()
        left = shutil.copy2(first.path, hands.top / "left")
    with CheckoutLock(git_dir, "run-2") as second:
        assert second.died_since > time.time()
    shutil.copy2(left, second.path)
    with CheckoutLock(git_dir, "run-3") as third:
        assert third.died_since <= time.time()
