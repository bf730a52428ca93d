"""The private checkouts of a project, and how to remove them while no run is at work."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from ralph.wiring.project import Project

if TYPE_CHECKING:
    from ralph.adapters.workspace.census import Found
    from ralph.adapters.workspace.rooms import Rooms
    from ralph.ports.executor import Captures


def checkouts_of(project: Project) -> str:
    """The folder in which they are."""
    return os.path.join(project.state, "checkouts")


def clear_stale_locks(project: Project, since: float) -> list[str]:
    """Move aside what dead gits have left in the repository and in the private checkouts; return
    where it is now. `since` says when the last run began, if it died."""
    from ralph.adapters.workspace.locks import clear_locks

    return [aside for place in git_dirs(project) for aside in clear_locks(place, since)]


def git_dirs(project: Project) -> list[str]:
    """Where locks of git can be: in the repository, and in the private checkouts."""
    from ralph.adapters.workspace.layout import layout, top_of

    top, folder = top_of(project.root), checkouts_of(project)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    private = (os.path.join(folder, name, ".git") for name in names)
    found = [] if top is None else [layout(top).common_dir]
    return [*found, *(path for path in private if os.path.isdir(path) and not os.path.islink(path))]


def found_checkouts(project: Project) -> "list[Found]":
    """All that there are."""
    from ralph.adapters.workspace.census import census

    return census(checkouts_of(project))


@contextmanager
def the_rooms(project: Project) -> "Iterator[Rooms]":
    """The checkouts of tasks, while no run is at work. Agents wrote what is in them, so git works
    behind the wall."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.adapters.workspace.in_place import InPlace
    from ralph.adapters.workspace.lock import CheckoutLock
    from ralph.adapters.workspace.rooms import Rooms
    from ralph.wiring.programs import outside
    from ralph.wiring.walls import a_sandbox, ground_of, our_git, wall_of

    with ExitStack() as stack:
        executor = Processes(SystemClock())
        stack.callback(executor.close)
        ground = ground_of(project)
        git: Captures = outside(ground, executor)
        source = InPlace(git, project.root)
        lock = stack.enter_context(CheckoutLock(source.git_dir, "clean"))
        clear_stale_locks(project, lock.died_since)
        if project.loaded.config.sandbox.mode != "off":
            wall = stack.enter_context(wall_of(ground, *a_sandbox(ground, executor)))
            git = our_git(executor, wall, project.state)
            source = InPlace(git, project.root)
        yield Rooms(git, source, checkouts_of(project))
