"""What is said after tasks have changed: their state now, one line each."""

from collections.abc import Sequence

from ralph.core.safe_text import one_line
from ralph.core.task import Status, Task
from ralph.ports.store import Graph

TITLE_WIDTH = 80


def tell(store: Graph, tasks: Sequence[Task], *, as_json: bool = False) -> None:
    """One line for each task, or an array of them."""
    if as_json:
        from ralph.cli.as_json import show_array, task_objects

        show_array(task_objects(store, tasks))
        return
    for task in tasks:
        print(f"{task.name}: {task.status.value}  {titled(task)}")


def tell_claimed(task: Task) -> bool:
    """Inside a session a task that stays in progress was not settled but claimed."""
    if task.status is not Status.IN_PROGRESS:
        return False
    print(f"{task.name}: claim recorded; Ralph will judge it")
    return True


def titled(task: Task) -> str:
    """Its title, safe to show and short."""
    return one_line(task.title, TITLE_WIDTH)
