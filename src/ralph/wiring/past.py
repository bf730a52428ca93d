"""The past of a person's branch, to be looked at and taken back."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from ralph.wiring.project import Project

if TYPE_CHECKING:
    from ralph.ports.past import Past


@contextmanager
def the_past(project: Project) -> "Iterator[Past]":
    """The branch that the project is on, while no run is at work there."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.adapters.workspace.git import Git, find_top
    from ralph.adapters.workspace.lock import CheckoutLock
    from ralph.adapters.workspace.past import GitPast

    with ExitStack() as stack:
        executor = Processes(SystemClock())
        stack.callback(executor.close)
        git = Git(executor, find_top(executor, project.root))
        stack.enter_context(CheckoutLock(git.git_dir, "undo"))
        yield GitPast(git)
