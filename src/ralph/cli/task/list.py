"""List tasks by priority, then age.

Shows what is open (pending, in progress, blocked) unless asked for more.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json, at_least

if TYPE_CHECKING:
    from ralph.core.ids import TaskId
    from ralph.core.target import Target
    from ralph.core.task import Task
    from ralph.ports.store import Filter, Store

EXAMPLES = """
ralph task list
ralph task list --ready --limit 5
ralph task list --feature login --status failed --status blocked
ralph task list --all --json
"""

ROWS = 50
"""More than that scrolls away."""
STATUSES = ("pending", "in_progress", "done", "blocked", "failed")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--feature", metavar="FEATURE", help="only tasks of this feature")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--status",
        metavar="STATUS",
        choices=STATUSES,
        action="append",
        help=f"only these (may be repeated): {', '.join(STATUSES)}",
    )
    which.add_argument("--ready", action="store_true", help="only what could be claimed now")
    which.add_argument("--all", action="store_true", help="settled tasks too")
    parser.add_argument(
        "--limit", metavar="N", type=at_least(0), help=f"at most N (default {ROWS}, 0 for all)"
    )
    parser.add_argument(
        "--offset", metavar="N", type=at_least(0), default=0, help="leave out the first N"
    )
    add_json(parser, "print an array of tasks, all of them unless --limit is given")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store

    project = the_project()
    with the_store(project) as store:
        which, target = _which(args, store)
        if args.json:
            from ralph.cli.as_json import show_array, task_objects

            show_array(task_objects(store, store.tasks(which)))
            return 0
        from ralph.cli.screen import Screen

        tasks = store.tasks(which)
        if not tasks:
            return _say_none(args)
        screen = Screen(args, project)
        print("\n".join(_table(store, tasks, screen.width, color=screen.has_colour)))
        if which.limit and len(tasks) == which.limit:
            _say_more(store, which, target)
    return 0


def _which(args: Namespace, store: "Store") -> "tuple[Filter, Target]":
    from ralph.core.errors import Missing
    from ralph.core.target import Everything, OneFeature
    from ralph.core.task import OPEN, Status
    from ralph.ports.store import Filter

    feature = store.feature(args.feature) if args.feature else None
    if args.feature and feature is None:
        raise Missing(f"there is no feature {args.feature}", hint="ralph feature list")
    statuses = frozenset(map(Status, args.status or ()))
    if not (statuses or args.ready or args.all):
        statuses = OPEN
    limit = args.limit if args.limit is not None else 0 if args.json else ROWS
    which = Filter(
        statuses=statuses,
        feature=feature.id if feature else None,
        ready=args.ready,
        limit=limit,
        offset=args.offset,
    )
    return which, OneFeature(feature.id, feature.name) if feature else Everything()


def _table(store: "Store", tasks: "list[Task]", width: int, *, color: bool) -> list[str]:
    from ralph.cli.task.tree import shown_status
    from ralph.ui.tables import table

    blockers = store.blocker_ids([task.id for task in tasks])
    shown = {task.id: task for task in tasks}
    rows = [
        (
            task.id,
            shown_status(store, task).value,
            str(task.priority),
            _title(task),
            _waits(store, shown, blockers.get(task.id, ()), task),
        )
        for task in tasks
    ]
    return table(rows, ("ID", "STATUS", "PRIO", "TITLE", "WAITS FOR"), width=width, color=color)


def _title(task: "Task") -> str:
    title = task.title[:500]
    return f"{task.alias}: {title}" if task.alias else title


def _waits(
    store: "Store", shown: "dict[TaskId, Task]", blockers: "tuple[TaskId, ...]", task: "Task"
) -> str:
    """The blockers that are not done; a settled task waits for none."""
    from ralph.core.task import OPEN, Status

    if task.status not in OPEN:
        return ""
    found = (shown.get(one) or store.find(one) for one in blockers)
    names = [one.name for one in found if one.status is not Status.DONE]
    return " ".join(names[:3]) + (f" +{len(names) - 3}" if len(names) > 3 else "")


def _say_none(args: Namespace) -> int:
    """On standard error: a count of lines should be a count of tasks."""
    import sys

    is_plain = not (args.status or args.ready or args.all or args.feature or args.offset)
    print("no open tasks (--all shows settled ones)" if is_plain else "none", file=sys.stderr)
    return 0


def _say_more(store: "Store", which: "Filter", target: "Target") -> None:
    """How many there are that were not shown; on standard error, since it is not a task."""
    import sys

    if which.ready:
        from msgspec.structs import replace

        after = replace(which, limit=1, offset=which.offset + which.limit)
        more = "more are ready" if store.tasks(after) else ""
    else:
        counts = store.counts(target)
        total = sum(getattr(counts, status) for status in which.statuses) or counts.total
        left = total - which.offset - which.limit
        more = f"{left} more" if left > 0 else ""
    if more:
        print(f"… {more} (--limit, --offset, or --json for all)", file=sys.stderr)
