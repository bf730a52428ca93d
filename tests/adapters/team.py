"""A repository with a team's branch in it, for the tests of what the team does there."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.sandbox.checkout_sandbox import NoSandbox
from ralph.adapters.workspace.checkout_setup import CheckoutSetup, DependencyCache
from ralph.adapters.workspace.merge_branch import GitMergeBranch
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.ids import TaskId
from ralph.ports.executor import Command, CommandOutput, CommandRunner
from tests.git_user import GitUser

ONE, TWO, THREE = TaskId("t-000001"), TaskId("t-000002"), TaskId("t-000003")


WRITES = {"checkout", "cherry-pick", "fetch", "init", "rebase", "reset", "update-ref", "-u"}
"""Words of commands that change refs or files, and not just an index of our own."""


def writes(argv: Sequence[str]) -> bool:
    return any(word in WRITES for word in argv)


def everything(argv: Sequence[str]) -> bool:
    return bool(argv)


NO_CACHE = DependencyCache("", (), ())


class Interrupting:
    """Runs commands, and lets something happen before one of those that count."""

    def __init__(
        self,
        before: int,
        act: Callable[[], None],
        counts: Callable[[Sequence[str]], bool] = everything,
    ) -> None:
        self._processes = ProcessExecutor(SystemClock())
        self._before = before
        self._act = act
        self._counts = counts
        self.calls = 0

    def capture(self, command: Command, **how: Any) -> CommandOutput:
        if self._counts(command.argv):
            if self.calls == self._before:
                self._act()
            self.calls += 1
        return self._processes.capture(command, **how)

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        self._processes.wait(why, seconds, is_over)


def a_merge_branch(
    source: GitUser,
    *,
    branch: str = "main",
    project: str = "",
    include: Sequence[str] = (),
    setup: Sequence[str] = (),
    dependency_cache: DependencyCache = NO_CACHE,
    since: str = "",
    executor: CommandRunner | None = None,
    folder: Path | None = None,
) -> GitMergeBranch:
    """As another process would have it."""
    executor = executor or ProcessExecutor(SystemClock())
    root = source.top / project
    return GitMergeBranch(
        UserCheckout(executor, str(root)),
        branch=branch,
        folder=str(folder or folder_of(source)),
        since=since,
        preparation=CheckoutSetup(
            project=str(root),
            include=include,
            setup=setup,
            dependency_cache=dependency_cache,
            env=os.environ,
            executor=ProcessExecutor(SystemClock()),
            checkout_sandbox=NoSandbox(),
        ),
    )


def folder_of(source: GitUser) -> Path:
    """Where the checkouts are."""
    return source.top.parent / "checkouts"


def opened(merge_branch: GitMergeBranch, task: TaskId) -> GitUser:
    """An agent's hands in the task's checkout."""
    return GitUser(merge_branch.open_checkout(task).path)


def work(merge_branch: GitMergeBranch, task: TaskId, path: str, content: str) -> str:
    """One file, committed."""
    inside = opened(merge_branch, task)
    inside.write(path, content)
    return inside.commit(f"Write {path}\n\nRalph-Task: {task}")


def merge(merge_branch: GitMergeBranch, task: TaskId) -> str:
    """As the merge queue does it when nothing is in the way."""
    with merge_branch.merge_lock() as mine:
        assert mine
        rebased = merge_branch.rebase(task)
        assert rebased.conflict is None
        return merge_branch.fast_forward(task, rebased.head)


def refs(hands: GitUser) -> dict[str, str]:
    """Every ref and its commit."""
    listed = hands.git("for-each-ref", "--format=%(refname) %(objectname)")
    return dict(line.split(" ") for line in listed.splitlines())


def state(hands: GitUser) -> tuple[str, str, str]:
    """Head, branch and what `git status` says."""
    return (
        hands.git("rev-parse", "HEAD").strip(),
        hands.git("symbolic-ref", "-q", "--short", "HEAD", check=False).strip(),
        hands.git("status", "--porcelain"),
    )
