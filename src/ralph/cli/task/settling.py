"""Changing the state of several tasks, one after the other."""

from argparse import Namespace
from collections.abc import Callable

from ralph.cli.opening import the_store
from ralph.cli.task.naming import find_all
from ralph.cli.task.telling import tell, tell_claimed
from ralph.core.errors import RalphError
from ralph.core.task import Task
from ralph.ports.store import Graph
from ralph.wiring.project import Project


def settle(
    args: Namespace, change: Callable[[Graph, Task], Task], project: Project | None = None
) -> int:
    """Change each task; one that cannot be changed does not keep the others from it.

    All names are looked up before the first change. With several tasks every refusal is said,
    and the first one gives the exit code.
    """
    changed: list[Task] = []
    refused: list[RalphError] = []
    with the_store(project) as store:
        for task in find_all(store, args.tasks):
            try:
                changed.append(change(store, task))
            except RalphError as error:
                refused.append(error)
        if args.json:
            tell(store, changed, as_json=True)
        else:
            for task in changed:
                if not tell_claimed(task):
                    tell(store, [task])
    for other in refused[1:]:
        _also(other)
    if refused:
        raise refused[0]
    return 0


def _also(error: RalphError) -> None:
    from ralph.cli.dispatch import complain
    from ralph.core.safe_text import one_line

    complain(one_line(str(error)), one_line(error.hint))
