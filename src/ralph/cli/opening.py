"""Finding the project and opening its store, the same way for every command."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ralph.core.safe_text import one_line
from ralph.ports.store import Store
from ralph.wiring.project import Project, find_project, find_project_if_any, open_store


def the_project(flags: Mapping[str, object] | None = None) -> Project:
    """The project around the current directory; what is odd about its settings is said."""
    return _told(find_project(flags))


def the_project_if_any(flags: Mapping[str, object] | None = None) -> Project:
    """The same, for commands that work everywhere: without one, the environment is all there is."""
    return _told(find_project_if_any(flags))


def _told(project: Project) -> Project:
    for warning in project.loaded.warnings:
        warn(warning)
    return project


def warn(warning: str) -> None:
    """A line for the person, apart from what the command prints."""
    print(f"ralph: warning: {one_line(warning)}", file=sys.stderr)


@contextmanager
def the_store(project: Project | None = None) -> Iterator[Store]:
    """The project's store, closed at the end."""
    store = open_store(project or the_project())
    try:
        yield store
    finally:
        store.close()
