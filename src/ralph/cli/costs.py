"""Show what sessions have cost, by run, task, agent, model or day.

A cost is what the agent reported, or (with a ~) worked out from its tokens and `[prices]`. What
nobody knows is counted as unknown, never as nothing.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json, at_least

if TYPE_CHECKING:
    from ralph.core.ids import TaskId
    from ralph.ports.ledger import Asked
    from ralph.ports.store import Store

EXAMPLES = """
ralph costs
ralph costs --by model --since 2026-11-01
ralph costs --by task --since today
ralph costs --task t-4f2a1b --by run
ralph costs --by day --json
"""

WAYS = ("run", "task", "agent", "model", "day")
AGO = {"today": 0, "yesterday": 1}
ROWS = 50
"""More than that scrolls away."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--by",
        metavar="WHAT",
        choices=WAYS,
        default="run",
        help="run, task, agent, model or day (default run)",
    )
    parser.add_argument("--run", metavar="RUN", help="only the sessions of this run")
    parser.add_argument("--task", metavar="TASK", help="only this task and all below it")
    parser.add_argument(
        "--since", metavar="DAY", help="only from this day on: 2026-11-15, today or yesterday"
    )
    parser.add_argument(
        "--limit", metavar="N", type=at_least(0), help=f"at most N (default {ROWS}, 0 for all)"
    )
    add_json(parser, "print all sums as JSON unless --limit is given")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.ports.ledger import Asked, By

    project = the_project()
    limit = args.limit if args.limit is not None else 0 if args.json else ROWS
    with the_store(project) as store:
        asked = _asked(args, store)
        total = store.spent(asked)
        # One more than is shown tells whether there are more.
        found = store.costs(By(args.by), asked, limit + 1 if limit else 0)
        shown = found[:limit] if limit else found
        if args.json:
            from ralph.cli.as_json import show
            from ralph.cli.cost_table import as_object

            sums = [{args.by: key or None} | as_object(spent) for key, spent in shown]
            show({"by": args.by, "costs": sums, "total": as_object(total)})
            return 0
        if not total.sessions:
            print("no session has ended yet" if asked == Asked() else "no such session")
            return 0
        from ralph.cli.cost_table import lines
        from ralph.cli.screen import Screen

        print("\n".join(lines(args.by, shown, total, store, Screen(args, project))))
    if len(found) > len(shown):
        import sys

        print("… there are more (--limit, or --json for all)", file=sys.stderr)
    return 0


def _asked(args: Namespace, store: "Store") -> "Asked":
    from ralph.core.errors import Missing
    from ralph.core.ids import RunId
    from ralph.ports.ledger import Asked

    run = RunId(args.run) if args.run is not None else None
    if run is not None and store.run(run) is None:
        from ralph.core.safe_text import one_line

        newest = ", ".join(one.id for one in store.runs(limit=3)) or "none yet"
        raise Missing(f"there is no run {one_line(run, 60)}", hint=f"the newest: {newest}")
    since = None if args.since is None else _moment(args.since)
    task = None if args.task is None else _task(args.task, store)
    return Asked(run=run, task=task, since=since)


def _task(name: str, store: "Store") -> "TaskId":
    from ralph.core.errors import NoSuchTask
    from ralph.core.ids import TaskId
    from ralph.ports.ledger import Asked

    try:
        return store.find(name).id
    except NoSuchTask:
        # What was paid for stays on record when its task is deleted.
        if store.spent(Asked(task=TaskId(name))).sessions:
            return TaskId(name)
        raise


def _moment(day: str) -> str:
    """The first moment of a day, where this machine is."""
    import time
    from datetime import date

    from ralph.core.errors import UsageError
    from ralph.core.moment import iso

    try:
        if day in AGO:
            year, month, number, *_ = time.localtime()
        else:
            at = date.fromisoformat(day)
            year, month, number = at.year, at.month, at.day
        # The zeroth of a month is the last of the one before.
        return iso(time.mktime((year, month, number - AGO.get(day, 0), 0, 0, 0, 0, 0, -1)))
    except (ValueError, OverflowError) as error:
        hint = "write it as 2026-11-15, today or yesterday"
        raise UsageError(f"{day!r} is not a day", hint=hint) from error
