"""All rounds of review about a task, out of the store, and the file that shows them."""

from ralph.core.review import Matter
from ralph.core.task import Task
from ralph.documents.review_file import drawn, path_of
from ralph.ports.library import Library
from ralph.ports.store import Store


def matter_of(store: Store, task: Task) -> Matter:
    """Everything that was said about the work of a task."""
    rounds = (one.review for one in store.reviews(task.id))
    return Matter(
        rounds=tuple(one for one in rounds if one is not None),
        dismissals=tuple(store.dismissals(task.id)),
    )


def file_of(store: Store, task: Task) -> str:
    """Where people read it."""
    return path_of(task, store.names_of([task.id]).get(task.id, task.id))


def write_file(store: Store, library: Library, task: Task) -> str:
    """Draw it again, from what the store knows; return where it is."""
    path, text = file_of(store, task), drawn(task, matter_of(store, task))
    library.change(path, lambda _: text)
    return path
