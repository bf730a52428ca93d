"""Use git in a project and in its private checkouts while no run works there."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from shutil import which

from ralph.adapters.workspace.branch_history import GitBranchHistory
from ralph.adapters.workspace.branches_behind import branches_behind
from ralph.adapters.workspace.commit_diffs import ONLY_GIT, GitCommitDiffs
from ralph.adapters.workspace.git import ANY, Git, find_top
from ralph.adapters.workspace.locks import (
    CheckoutLock,
    GitLock,
    clear_locks,
    find_locks,
    inspect_lock,
)
from ralph.adapters.workspace.task_checkouts import FoundCheckout, TaskCheckouts, list_checkouts
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.config.project import Project
from ralph.core.errors import Missing, RalphError
from ralph.files import names_in
from ralph.git_layout import find_layout, top_of
from ralph.ports.executor import CommandRunner
from ralph.ports.merge_branch import BranchBehind
from ralph.ports.workspace import BranchHistory, ChangeReader
from ralph.store.store import Store
from ralph.wiring.processes import open_executor
from ralph.wiring.project_sandbox import ProjectSandbox, search_path, unsandboxed_runner
from ralph.wiring.sandbox import open_checkout_sandbox, sandboxed_git
from ralph.workflows.task_diff import diff_arguments


def clear_stale_locks(project: Project, since: float) -> list[str]:
    """Move aside what dead gits have left in the repository and in the private checkouts; return
    where it is now. `since` says when the last run began, if it died."""
    return [aside for place in git_dirs(project) for aside in clear_locks(place, since)]


def git_locks(project: Project) -> list[GitLock]:
    """The locks that gits hold or have left in the repository and in the private checkouts."""
    paths = (path for place in git_dirs(project) for path in find_locks(place))
    return [lock for lock in map(inspect_lock, paths) if lock is not None]


def git_dirs(project: Project) -> list[str]:
    """Where locks of git can be: in the repository, and in the private checkouts."""
    top, folder = top_of(project.root), project.checkouts
    private = (os.path.join(folder, name, ".git") for name in names_in(folder))
    found = [] if top is None else [find_layout(top).common_dir]
    return [*found, *(path for path in private if os.path.isdir(path) and not os.path.islink(path))]


def found_checkouts(project: Project) -> list[FoundCheckout]:
    return list_checkouts(project.checkouts)


@contextmanager
def _open_git(project: Project, purpose: str, *more: str) -> Iterator[CommandRunner]:
    """Ralph's own git, under the lock of the checkout. Agents wrote what is in there, so git works
    in the sandbox; `more` are folders of the repository that it may write."""
    with ExitStack() as stack:
        executor = stack.enter_context(open_executor())
        git: CommandRunner = unsandboxed_runner(project, executor)
        source = UserCheckout(git, project.root)
        lock = stack.enter_context(CheckoutLock(source.git.git_dir, purpose))
        clear_stale_locks(project, lock.died_since)
        if project.has_sandbox:
            checkout_sandbox = stack.enter_context(
                open_checkout_sandbox(ProjectSandbox(project=project), executor)
            )
            common_dir = find_layout(source.top).common_dir
            others = (os.path.join(common_dir, name) for name in more)
            git = sandboxed_git(executor, checkout_sandbox, project.state, *others)
        yield git


@contextmanager
def open_task_checkouts(project: Project) -> Iterator[TaskCheckouts]:
    with _open_git(project, "clean") as git:
        yield TaskCheckouts(UserCheckout(git, project.root), project.checkouts)


@contextmanager
def open_branch_history(project: Project) -> Iterator[BranchHistory]:
    """The branch that the project is on."""
    with _open_git(project, "undo", "worktrees") as git:
        yield GitBranchHistory(Git(git, find_top(git, project.root)))


@contextmanager
def open_changes(project: Project) -> Iterator[ChangeReader]:
    """What commits have changed; it only reads, also while a run works."""
    with open_executor() as executor:
        yield GitCommitDiffs(unsandboxed_runner(project, executor), project.root)


def find_branches_behind(project: Project, top: str) -> list[BranchBehind]:
    """The branches that lack what a team has built on them; it only reads."""
    with suppress(RalphError), open_executor() as executor:  # the rest of the screen is worth more
        return branches_behind(Git(unsandboxed_runner(project, executor), top))
    return []


def show_diff(
    project: Project, store: Store, name: str, attempt: int | None, options: Sequence[str]
) -> None:
    """Replace this process by the git that shows what a task, or one attempt at it, has changed;
    return if that is nothing."""
    with open_executor() as executor:
        runner = unsandboxed_runner(project, executor)
        git = Git(runner, find_top(runner, project.root))
        arguments = diff_arguments(store, GitBranchHistory(git), name, attempt)
        if not arguments:
            return
        command, *objects = arguments
        for each in objects:
            if git.ask("cat-file", "-e", each, ok=ANY).code != 0:
                raise Missing(
                    f"git no longer has {each[:10]}, which is what the attempt left",
                    hint=f"git for-each-ref 'refs/ralph/{name}' lists what was kept",
                )
    store.close()
    program = which("git", path=search_path(project)) or "git"
    sys.stdout.flush()
    os.execv(program, [program, "-C", git.top, command, *ONLY_GIT, *options, *objects, "--"])
