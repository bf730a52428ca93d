"""Show what sessions have cost, by run, task, agent, model or day.

A cost is what the agent reported, or (with a ~) computed from its tokens and `[prices]`. An unknown
cost is shown as unknown, never as zero.

examples:
  ralph costs
  ralph costs --by model --since 2026-11-01
  ralph costs --by task --since today
  ralph costs --task t-4f2a1b --by run
"""

import sys
from argparse import Namespace
from typing import Any

from msgspec.structs import asdict

from ralph.cli.command import command, option
from ralph.cli.options import json_option, limit_of, limit_option
from ralph.cli.output import TerminalStyle, print_json, print_table
from ralph.cli.project_access import project_with_store
from ralph.core.cost import CostSummary
from ralph.core.errors import NoSuchTask, UsageError
from ralph.core.ids import TaskId
from ralph.core.times import to_iso
from ralph.store.costs import CostFilter, CostGrouping
from ralph.store.store import Store

DAYS_AGO = {"today": 0, "yesterday": 1}
TOKENS = ("input_tokens", "cached_tokens", "output_tokens")
HEADERS = ("SESSIONS", "INPUT", "CACHED", "OUTPUT", "COST")
TITLE_WIDTH = 60
ROWS = 50


@command(
    option("--by", "one row for each (default run)", choices=list(CostGrouping), default="run"),
    option("--run", "RUN", "only the sessions of this run"),
    option("--task", "TASK", "only this task and all below it"),
    option("--since", "DAY", "only from this day on: 2026-11-15, today or yesterday"),
    limit_option(ROWS),
    json_option("print all sums as JSON unless --limit is given"),
)
def costs(args: Namespace) -> None:
    limit = limit_of(args, ROWS)
    with project_with_store() as (project, store):
        wanted = _filter(args, store)
        total = store.costs.total(wanted)
        # One more than is shown tells whether there are more.
        found = store.costs.sums(CostGrouping(args.by), wanted, limit + 1 if limit else 0)
        shown = found[:limit] if limit else found
        if args.json:
            sums = [{args.by: key or None} | _object(spent) for key, spent in shown]
            print_json({"by": args.by, "costs": sums, "total": _object(total)})
            return
        if not total.sessions:
            print("no session has ended yet" if wanted == CostFilter() else "no such session")
            return
        headers: tuple[str, ...] = (args.by.upper(), *HEADERS)
        rows = [(key or "unknown", *_cells(spent)) for key, spent in shown]
        rows.append(("total", *_cells(total)))
        if args.by == "task":
            headers = (*headers, "TITLE")
            titles = [*(_title(store, key) for key, _ in shown), ""]
            rows = [(*row, title) for row, title in zip(rows, titles, strict=True)]
        print_table(TerminalStyle(args, project), headers, rows)
    if len(found) > len(shown):
        print("… there are more (--limit, or --json for all)", file=sys.stderr)


def _cells(spent: CostSummary) -> tuple[str, ...]:
    tokens = (f"{getattr(spent, name):,}" if spent.counted else "unknown" for name in TOKENS)
    return (str(spent.sessions), *tokens, str(spent))


def _object(spent: CostSummary) -> dict[str, Any]:
    """A sum as JSON: `cost_usd` is null where part of it is unknown."""
    total = {"cost_usd": spent.total_usd, "known_usd": spent.known_usd}
    return total | asdict(spent) | ({} if spent.counted else dict.fromkeys(TOKENS))


def _title(store: Store, task: str) -> str:
    found = store.tasks.get(TaskId(task))
    return "(deleted)" if found is None else found.title[:TITLE_WIDTH]


def _filter(args: Namespace, store: Store) -> CostFilter:
    run = None if args.run is None else store.runs.find(args.run).id
    since = None if args.since is None else _beginning_of(args.since)
    task = None if args.task is None else _task_id(args.task, store)
    return CostFilter(run=run, task=task, since=since)


def _task_id(name: str, store: Store) -> TaskId:
    try:
        return store.tasks.find(name).id
    except NoSuchTask:
        # What was paid for stays on record when its task is deleted.
        if store.costs.total(CostFilter(task=TaskId(name))).sessions:
            return TaskId(name)
        raise


def _beginning_of(day: str) -> str:
    """The start of a day in this machine's time zone."""
    from datetime import UTC, date, datetime, time, timedelta

    try:
        if day in DAYS_AGO:
            today = datetime.now(UTC).astimezone().date()
            first = today - timedelta(days=DAYS_AGO[day])
        else:
            first = date.fromisoformat(day)
        return to_iso(datetime.combine(first, time()).timestamp())
    except (ValueError, OverflowError) as error:
        hint = "write it as 2026-11-15, today or yesterday"
        raise UsageError(f"{day!r} is not a day", hint=hint) from error
