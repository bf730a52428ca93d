"""Commands that list tasks: by priority, and below their parents."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence

from ralph.cli.command import command, exclusive, flag, option
from ralph.cli.options import at_least, json_option, limit_of, limit_option
from ralph.cli.output import TerminalStyle, print_json_array, print_table, task_objects
from ralph.cli.project_access import project_with_store
from ralph.core.errors import Missing
from ralph.core.graph import shown_statuses
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.core.task import OPEN, Feature, Task, TaskStatus
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.ui.formatting import TreeRow, tree

ROWS = 50
TREE_ROWS = 500
STATUSES = ("pending", "in_progress", "done", "blocked", "failed")


@command(
    option("--feature", "FEATURE", "only tasks of this feature"),
    exclusive(
        option("--status", "only these (may be repeated)", choices=STATUSES, action="append"),
        flag("--ready", "only what could be claimed now"),
        flag("--all", "settled tasks too"),
    ),
    limit_option(ROWS),
    option("--offset", "N", "leave out the first N", type=at_least(0), default=0),
    json_option("print an array of tasks, all of them unless --limit is given"),
)
def list_tasks(args: Namespace) -> None:
    """List tasks by priority, then age.

    Shows what is open (pending, in progress, blocked) unless asked for more.

    examples:
      ralph task list
      ralph task list --ready --limit 5
      ralph task list --feature login --status failed --status blocked
      ralph task list --all --json
    """
    limit = limit_of(args, ROWS)
    with project_with_store() as (project, store):
        # One more than is shown tells whether there are more.
        found = store.tasks.select(_filter(args, store, limit + 1 if limit else 0))
        tasks = found[: limit or None]
        if args.json:
            print_json_array(task_objects(store, tasks))
        elif tasks:
            _print_tasks(store, tasks, TerminalStyle(args, project))
            if len(found) > len(tasks):
                print("… there are more (--limit, --offset, or --json for all)", file=sys.stderr)
        else:
            # On standard error: a count of lines should be a count of tasks.
            is_plain = not (args.status or args.ready or args.all or args.feature or args.offset)
            said = "no open tasks (--all shows settled ones)" if is_plain else "none"
            print(said, file=sys.stderr)


def find_feature(args: Namespace, store: Store) -> Feature | None:
    """The feature that `--feature` names."""
    feature = store.features.get(args.feature) if args.feature else None
    if args.feature and feature is None:
        raise Missing(f"there is no feature {args.feature}", hint="ralph feature list")
    return feature


def _filter(args: Namespace, store: Store, limit: int) -> TaskFilter:
    feature = find_feature(args, store)
    statuses = frozenset(map(TaskStatus, args.status or ()))
    if not (statuses or args.ready or args.all):
        statuses = OPEN
    return TaskFilter(
        statuses=statuses,
        feature=feature.id if feature else None,
        without=frozenset(store.tasks.planning()),
        ready=args.ready,
        limit=limit,
        offset=args.offset,
    )


def _print_tasks(store: Store, tasks: list[Task], style: TerminalStyle) -> None:
    blockers = store.tasks.blocker_ids([task.id for task in tasks])
    listed = {task.id: task for task in tasks}

    def row(task: Task) -> tuple[str, ...]:
        title = f"{task.alias}: {task.title[:500]}" if task.alias else task.title[:500]
        waits_for = _waits_for(store, listed, blockers.get(task.id, ()), task)
        return task.id, store.screens.shown_status(task).value, str(task.priority), title, waits_for

    print_table(style, ("ID", "STATUS", "PRIO", "TITLE", "WAITS FOR"), map(row, tasks))


def _waits_for(
    store: Store, listed: Mapping[TaskId, Task], blockers: Sequence[TaskId], task: Task
) -> str:
    """The blockers that are not done; none for a settled task."""
    if task.status not in OPEN:
        return ""
    found = (listed.get(one) or store.tasks.find(one) for one in blockers)
    names = [one.name for one in found if one.status is not TaskStatus.DONE]
    return " ".join(names[:3]) + (f" +{len(names) - 3}" if len(names) > 3 else "")


@command(
    option("task", "TASK", "only this one and its parts", nargs="?"),
    limit_option(TREE_ROWS, "at most N tasks"),
    json_option("print an array, parents first, each with its derived_status"),
)
def show_tree(args: Namespace) -> None:
    """Show tasks below their parents.

    A parent's status follows from the tasks below it.

    examples:
      ralph task tree
      ralph task tree t-4f2a1b
      ralph task tree --limit 0
    """
    limit = limit_of(args, TREE_ROWS)
    with project_with_store() as (project, store):
        root = store.tasks.find(args.task).id if args.task else None
        # One more than is shown tells whether there are more.
        tasks = store.tasks.subtree(root, limit + 1 if limit else 0)
        is_cut = bool(limit) and len(tasks) > limit
        planning = store.tasks.planning() if root is None else {}
        tasks = [task for task in tasks if task.id not in planning][: limit or None]
        if args.json:
            statuses = shown_statuses(tasks, is_cut=is_cut)
            print_json_array(
                found | {"derived_status": statuses[found["id"]]}
                for found in task_objects(store, tasks)
            )
            return
    print_tree(tasks, TerminalStyle(args, project), is_cut=is_cut)
    if is_cut:
        print(f"… and more than these {limit} (--limit N, 0 for all)", file=sys.stderr)


def print_tree(tasks: Sequence[Task], style: TerminalStyle, *, is_cut: bool = False) -> None:
    """Print tasks below their parents. They come parents first; `is_cut`: some are missing."""
    statuses = shown_statuses(tasks, is_cut=is_cut)
    rows = (
        TreeRow(task.id, task.parent_id, _label(task, statuses[task.id]), statuses[task.id])
        for task in tasks
    )
    print("\n".join(tree(rows, width=style.width, color=style.has_colour)) or "no tasks")


def _label(task: Task, status: TaskStatus) -> str:
    alias = f"{task.alias}: " if task.alias else ""
    return f"{task.id}  {status.value}  {alias}{one_line(task.title, 500)}"
