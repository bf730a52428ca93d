"""The past of a person's branch, to be looked at and taken back."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from ralph.wiring.project import Project

if TYPE_CHECKING:
    from ralph.ports.executor import Captures
    from ralph.ports.past import Past


@contextmanager
def the_past(project: Project) -> "Iterator[Past]":
    """The branch that the project is on, while no run is at work there. Agents wrote what is in the
    checkout, so git works behind the wall here as well."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.adapters.workspace.git import Git, find_top
    from ralph.adapters.workspace.layout import layout
    from ralph.adapters.workspace.lock import CheckoutLock
    from ralph.adapters.workspace.past import GitPast
    from ralph.wiring.checkouts import clear_stale_locks
    from ralph.wiring.programs import outside
    from ralph.wiring.walls import a_sandbox, ground_of, our_git, wall_of

    with ExitStack() as stack:
        executor = Processes(SystemClock())
        stack.callback(executor.close)
        ground = ground_of(project)
        top = find_top(outside(ground, executor), project.root)
        first = Git(outside(ground, executor), top)
        lock = stack.enter_context(CheckoutLock(first.git_dir, "undo"))
        clear_stale_locks(project, lock.died_since)
        git: Captures = executor
        if project.loaded.config.sandbox.mode != "off":
            wall = stack.enter_context(wall_of(ground, *a_sandbox(ground, executor)))
            others = os.path.join(layout(top).common_dir, "worktrees")
            git = our_git(executor, wall, project.state, others)
        yield GitPast(Git(git, top))
