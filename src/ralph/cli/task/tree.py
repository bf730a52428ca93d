"""Show tasks below their parents.

A parent shows what goes on below it.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json, at_least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ralph.cli.screen import Screen
    from ralph.core.ids import TaskId
    from ralph.core.task import Status, Task
    from ralph.ports.store import Store

EXAMPLES = """
ralph task tree
ralph task tree t-4f2a1b
ralph task tree --limit 0
"""

ROWS = 500


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", nargs="?", help="only this one and its parts")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=at_least(0),
        help=f"at most N tasks (default {ROWS}, 0 for all)",
    )
    add_json(parser, "print an array, parents first, each with its derived_status")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store

    project = the_project()
    limit = args.limit if args.limit is not None else 0 if args.json else ROWS
    with the_store(project) as store:
        root = store.find(args.task).id if args.task else None
        # One more than is shown tells whether there are more.
        tasks = store.subtree(root, limit + 1 if limit else 0)
        is_cut = bool(limit) and len(tasks) > limit
        tasks = tasks[:limit] if limit else tasks
        statuses = derived(tasks, is_cut=is_cut)
        if args.json:
            from ralph.cli.as_json import show_array, task_objects

            show_array(
                found | {"derived_status": statuses[found["id"]]}
                for found in task_objects(store, tasks)
            )
            return 0
    from ralph.cli.screen import Screen

    show_tree(tasks, Screen(args, project), statuses)
    if is_cut:
        import sys

        print(f"… and more than these {limit} (--limit N, 0 for all)", file=sys.stderr)
    return 0


def show_tree(
    tasks: "Sequence[Task]", screen: "Screen", statuses: "dict[TaskId, Status] | None" = None
) -> None:
    """Print them below their parents. Tasks come parents first."""
    from ralph.ui.tables import Branch, tree

    shown = derived(tasks, is_cut=False) if statuses is None else statuses
    branches = (
        Branch(task.id, task.parent_id, _label(task, shown[task.id]), shown[task.id])
        for task in tasks
    )
    lines = tree(branches, width=screen.width, color=screen.has_colour)
    print("\n".join(lines) or "no tasks")


def _label(task: "Task", status: "Status") -> str:
    from ralph.core.safe_text import one_line

    alias = f"{task.alias}: " if task.alias else ""
    return f"{task.id}  {status.value}  {alias}{one_line(task.title, 500)}"


def derived(tasks: "Sequence[Task]", *, is_cut: bool) -> "dict[TaskId, Status]":
    """What each task shows, children before parents. Tasks come parents first."""
    from ralph.core.graph import derived_status

    below: dict[TaskId, list[Status]] = {}
    shown: dict[TaskId, Status] = {}
    for task in reversed(tasks):
        children = below.get(task.id, [])
        if is_cut and children:
            # Some of its children may not be here, so that the others are done proves nothing.
            children = [*children, task.status]
        shown[task.id] = derived_status(task.status, children)
        if task.parent_id is not None:
            below.setdefault(task.parent_id, []).append(shown[task.id])
    return shown


def shown_status(store: "Store", task: "Task") -> "Status":
    """What one task shows: work below a parent shows through."""
    from ralph.core.task import Status

    if task.status is not Status.PENDING or not store.children(task.id):
        return task.status
    return derived(store.subtree(task.id), is_cut=False)[task.id]
