"""What git cannot read it leaves out of its answers, often without a word: Ralph believes such an
answer only when it has come twice."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.branch_history import lost_commits
from ralph.adapters.workspace.checkout_update import BranchHead
from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.git_index import read_status
from ralph.adapters.workspace.git_objects import GitObjects
from tests.git_user import GitUser, a_project

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")

FAILS = """\
#!/bin/sh
if [ -e '{mark}' ]; then exec {git} "$@"; fi
touch '{mark}'
exec strace -f -qq -o /dev/null \\
  -e trace={call} -e inject={call}:error={error}:when={when} {git} "$@"
"""
"""The first git in which a system call fails, the others as they are."""
CALLS = {
    "openat": ("EIO", "ENOMEM"),
    "read": ("EIO",),
    "newfstatat": ("EIO",),
    "getdents64": ("EIO",),
}
MOST = 60
"""System calls of one kind in one git."""
Question = Callable[[Git, str], object]


def unlocked() -> nullcontext[bool]:
    return nullcontext(enter_result=True)


QUESTIONS: dict[str, Question] = {
    "a ref": lambda git, _: GitObjects(git).read_ref("refs/ralph/x"),
    "the head": lambda git, _: GitObjects(git).read_ref("HEAD"),
    "a branch": lambda git, _: GitObjects(git).branch_ref(),
    "an ancestor": lambda git, head: GitObjects(git).contains(head, f"{head}~1"),
    "reachable": lambda git, head: GitObjects(git).is_reachable(head),
    "positions": lambda git, _: BranchHead(git, "main", unlocked).positions(),
    "the status": lambda git, _: read_status(git),
    "lost commits": lambda git, head: lost_commits(git, [head]),
    "changes": lambda git, head: GitObjects(git).differences(git.empty_tree, head),
}
SHARES = [pytest.param(7, id="some"), pytest.param(1, marks=pytest.mark.soak, id="all")]


@pytest.fixture
def hands(tmp_path: Path) -> GitUser:
    made = a_project(tmp_path / "project")
    made.write("more", "more")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "more")
    for name in ("ralph/x", "ralph/tip/main", "ralph/followed/main"):
        made.git("update-ref", f"refs/{name}", "HEAD")
    made.write("new", "new")
    return made


def failures(step: int) -> Iterator[tuple[str, str, int]]:
    every = [
        (call, error, when)
        for call, errors in CALLS.items()
        for error in errors
        for when in range(1, MOST)
    ]
    yield from every[::step]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("step", SHARES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_one_call_that_fails_changes_no_answer(
    hands: GitUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, step: int
) -> None:
    ask, git = QUESTIONS[question], shutil.which("git")
    head = hands.git("rev-parse", "HEAD").strip()
    executor = ProcessExecutor(SystemClock())
    executor.wait = lambda *_: None  # type: ignore[method-assign]
    expected = ask(Git(executor, str(hands.top)), head)
    script, mark = tmp_path / "bin" / "git", tmp_path / "mark"
    script.parent.mkdir()
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    for call, error, when in failures(step):
        if (question, call) == ("the status", "getdents64"):
            continue  # files of a folder that cannot be listed: only a second look would find them
        mark.unlink(missing_ok=True)
        script.write_text(FAILS.format(mark=mark, git=git, call=call, error=error, when=when))
        script.chmod(0o755)
        asked = Git(executor, str(hands.top), env={**os.environ, "PATH": path})
        assert ask(asked, head) == expected, f"{call} {error} {when}"
