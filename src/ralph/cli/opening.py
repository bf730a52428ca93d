"""Finding the project and opening its store, the same way for every command."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ralph.core.safe_text import one_line
from ralph.ports.store import Store
from ralph.wiring import Project, find_project, open_store


def the_project(flags: Mapping[str, object] | None = None) -> Project:
    """The project around the current directory; what is odd about its settings is said."""
    project = find_project(flags)
    for warning in project.loaded.warnings:
        print(f"ralph: warning: {one_line(warning)}", file=sys.stderr)
    return project


@contextmanager
def the_store(project: Project | None = None) -> Iterator[Store]:
    """The project's store, closed at the end."""
    store = open_store(project or the_project())
    try:
        yield store
    finally:
        store.close()
