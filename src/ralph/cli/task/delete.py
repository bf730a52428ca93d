"""Delete tasks, everything below them and their edges."""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json, add_yes
from ralph.cli.task.naming import add_tasks

if TYPE_CHECKING:
    from ralph.core.ids import TaskId
    from ralph.core.task import Task

EXAMPLES = """
ralph task delete t-4f2a1b
ralph task delete US-001 US-002 --yes
"""

SHOWN = 20


def arguments(parser: ArgumentParser) -> None:
    add_tasks(parser)
    add_yes(parser)
    add_json(parser, "print the ids that went as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_store
    from ralph.cli.task.naming import find_all
    from ralph.core.task import Status

    with the_store() as store:
        tasks = find_all(store, args.tasks)
        going = {task.id: task for root in tasks for task in store.subtree(root.id)}
        busy = [task.id for task in going.values() if task.status is Status.IN_PROGRESS]
        if not args.yes:
            _show(list(going.values()), busy)
        make_sure(args, f"deleting {_many(len(going))}")
        gone: list[TaskId] = []
        for task in tasks:
            # One of them may be part of another that is gone already.
            if task.id not in gone:
                gone += store.delete_task(task.id)
    if busy:
        print(f"ralph: the running session of {_some(busy)} will be stopped", file=sys.stderr)
    if args.json:
        from ralph.cli.as_json import show

        show(gone)
    else:
        print(f"deleted {_many(len(gone))}")
    return 0


def _show(tasks: "list[Task]", busy: "list[TaskId]") -> None:
    """What would go; on standard error, since it is part of the question."""
    from ralph.cli.task.telling import titled
    from ralph.core.errors import UsageError

    for task in tasks[:SHOWN]:
        print(f"{task.id}  {task.status.value:<11}  {titled(task)}", file=sys.stderr)
    if len(tasks) > SHOWN:
        print(f"… and {len(tasks) - SHOWN} more", file=sys.stderr)
    if busy:
        raise UsageError(
            f"task {_some(busy)} is in progress, so deleting it stops the running session",
            hint="add --yes if you mean it",
        )


def _some(names: "list[TaskId]") -> str:
    return ", ".join(names[:SHOWN])


def _many(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"
