"""Show what is running, what comes next and what is stuck.

For a team it also shows each worker's task, the merge queue and the results. A session's activity
is its last output.

examples:
  ralph status
  ralph status --watch    again and again, until the run ends
"""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from ralph.cli.command import command, flag
from ralph.cli.options import JSON
from ralph.cli.output import TerminalStyle, format_local, print_json, title_of
from ralph.cli.project_access import open_view, project_with_store
from ralph.core.breaker import describe_breaker
from ralph.core.cost import CostSummary
from ralph.core.errors import UsageError
from ralph.core.gate_output import WHOLE_OUTPUT
from ralph.core.ids import RunId, TaskId
from ralph.core.safe_text import one_line
from ralph.core.task import Task, TaskStatus
from ralph.core.times import format_duration, to_iso
from ralph.store.claims import Counts
from ralph.store.runs import Run
from ralph.ui.followed_project import FollowedProject
from ralph.ui.formatting import REASON_WIDTH, count_text, table, text_width, without_colors
from ralph.ui.needs import NeedKind
from ralph.ui.project_view import Overview, TaskInProgress
from ralph.ui.run_view import RunWait
from ralph.ui.team_overview import TeamOverview, WorkerOverview

if TYPE_CHECKING:
    from ralph.ui.terminal import Size

INTERVAL_S = 1.0
UNLISTED = (NeedKind.LOGIN, NeedKind.BRANCH, NeedKind.PLAN, NeedKind.FINDING)
ORDER = tuple(map(TaskStatus, ("done", "in_progress", "pending", "blocked", "failed")))


@command(flag("-w", "--watch", "update it until the run ends"), JSON)
def status(args: Namespace) -> None:
    if args.json and args.watch:
        raise UsageError(
            "--json and --watch do not go together",
            hint="ralph run --json prints events as they happen",
        )
    with project_with_store() as (project, store):
        view, style = open_view(project, store), TerminalStyle(args, project)
        if args.watch:
            watch(FollowedProject(view).refreshed, style)
            return
        state = view.overview()
    if args.json:
        print_json(asdict(state) | {"hold": _hold(state.wait)})
    else:
        print("\n".join(_lines(state, style)))


def watch(
    read: Callable[[], Overview],
    style: TerminalStyle,
    wait: Callable[[], None] = lambda: time.sleep(INTERVAL_S),
) -> None:
    """Show the status until no run is alive; without a terminal, only the first and the last."""
    from ralph.ui.terminal import TOP, can_redraw, terminal_size

    redraws = can_redraw(sys.stdout, os.environ)
    is_first = True
    while True:
        now = read()
        lines = _lines(now, style)
        if redraws:
            # At the end all of it may scroll.
            shown = lines_that_fit(lines, terminal_size(sys.stdout.fileno())) if now.runs else lines
            print(TOP + "\n".join(shown), flush=True)
        elif is_first or not now.runs:
            print(*lines, sep="\n", flush=True)
        if not now.runs:
            return
        is_first = False
        wait()


def lines_that_fit(lines: Sequence[str], size: "Size") -> list[str]:
    """The first of them: a terminal folds what is long, and what is too much makes it scroll."""
    rows = accumulate(
        max(1, ceil(text_width(without_colors(line)) / size.columns)) for line in lines
    )
    return [line for line, row in zip(lines, rows, strict=True) if row < size.lines]


def _hold(wait: RunWait | None) -> str:
    """Why the run waits, and until when; empty if it does not."""
    if wait is None or wait.until is None:
        return wait.reason if wait else ""
    return f"until {format_local(to_iso(wait.until))}: {wait.reason}"


def _lines(state: Overview, style: TerminalStyle) -> list[str]:
    limits = (
        f"{one_line(name, 40)} is out of quota until {format_local(until)}"
        for name, until in state.limited.items()
    )
    breakers = (
        f"breaker of {one_line(slot, 40)}: {describe_breaker(one)}"
        for slot, one in state.breakers.items()
    )
    is_alive = bool(state.runs)
    is_changed = state.state not in ("", "working")
    team = _team_lines(state.team, style, is_alive=is_alive) if state.team else []
    return [
        count_line(state.counts, style),
        *run_lines(state.runs, state.last_run, state.spent),
        *([": ".join(filter(None, (state.state, _hold(state.wait))))] if is_changed else ()),
        *limits,
        *breakers,
        *_time_left(state),
        *_needs(state, style),
        *team,
        *(_working(state.working, style) if not (team and is_alive) else ()),
        *_tasks("next", state.ready, style),
        *_tasks("failed", state.failed, style, state.counts.failed, state.kept),
        *_tasks("blocked", state.blocked, style, state.counts.blocked),
    ]


def _time_left(state: Overview) -> list[str]:
    left = state.time_left
    if left is None or not state.runs:
        return []
    low, high = format_duration(left.low_s), format_duration(left.high_s)
    return [f"{low} to {high} left, judged by {left.judged_by} done tasks"]


def _needs(state: Overview, style: TerminalStyle) -> list[str]:
    """What needs a person and has no section of its own."""
    needs = [one for one in state.needs if one.kind in UNLISTED]
    lines = ["", style.bold("needs you")] if needs else []
    for one in needs:
        lines.append(f"  {one.subject}: {one.reason}")
        lines += [f"    {answer.command}" for answer in one.answers]
    return lines


def _team_lines(team: TeamOverview, style: TerminalStyle, *, is_alive: bool) -> list[str]:
    headers = ("WORKER", "TASK", "TRY", "FOR", "DOES", "DONE", "REJECTED", "BREAKER")
    rows = map(_worker_cells, team.workers)
    lines = [_merges(team), "", *table(rows, headers, width=style.width, color=style.has_colour)]
    for one in team.workers:
        if one.reason and is_alive:
            lines.append(f"{one.slot}: {one_line(one.reason, 200)}")
    return lines


def _merges(team: TeamOverview) -> str:
    words = [count_text(team.merges, "merge"), count_text(team.conflicts, "conflict")]
    if team.deaths:
        words.append(f"{count_text(team.deaths, 'worker')} died")
    turns = [f"{team.merging} merges"] if team.merging else []
    turns += [f"waiting to merge: {', '.join(team.queue)}"] if team.queue else []
    return "; ".join([", ".join(words), *turns])


def _worker_cells(one: WorkerOverview) -> tuple[str, ...]:
    task = f"{one.name} {one.title}" if one.task else "-"
    took = "" if one.elapsed_s is None else format_duration(one.elapsed_s // 1)
    return (
        one.slot,
        one_line(task, 120),
        str(one.attempt) if one.task else "",
        took.replace(".0s", "s"),
        one_line(": ".join(filter(None, (one.stage, one.doing))), 200),
        str(one.accepted),
        str(one.rejected),
        one.breaker.replace("_", " "),
    )


def count_line(counts: Counts, style: TerminalStyle) -> str:
    """`4 tasks: 1 done, …`"""
    if not counts.total:
        return 'no tasks yet; `ralph "what you want"` adds one and does it'
    parts = [
        style.paint_status(f"{number} {status.value.replace('_', ' ')}", status)
        for status in ORDER
        if (number := getattr(counts, status))
    ]
    return f"{count_text(counts.total, 'task')}: {', '.join(parts)}"


def run_lines(
    runs: Sequence[Run], last: Run | None, spent: Mapping[RunId, CostSummary]
) -> list[str]:
    """Lines about the live runs, or about the last one."""

    def cost(run: Run) -> str:
        return f" (cost {spent[run.id]})" if spent[run.id].sessions else ""

    if runs:
        return [
            f"run {run.id} is at work on {one_line(run.target, 60)} with {one_line(run.agent, 40)}"
            f" since {format_local(run.started_at)}, sandbox {one_line(run.sandbox, 40)}{cost(run)}"
            for run in runs
        ]
    if last is None:
        return ["nothing has run yet"]
    if last.outcome is None:
        return [f"run {last.id} died; the next run goes on where it stopped"]
    reason = f": {one_line(last.reason, REASON_WIDTH)}" if last.reason else ""
    ended = format_local(last.ended_at)
    return [f"last run {last.id} ended {ended}, {last.outcome.value}{reason}{cost(last)}"]


def _working(working: Sequence[TaskInProgress], style: TerminalStyle) -> list[str]:
    lines = ["", style.bold("in progress")] if working else []
    for one in working:
        took = f", {format_duration(one.elapsed_s)}" if one.elapsed_s is not None else ""
        stale = "; its run is gone, the next one takes it up again" if one.is_stale else ""
        who = f"{one.slot}, " if one.slot else ""
        facts = f"{who}attempt {one.attempt}{took}{stale}"
        lines.append(f"  {one.task.name}  {title_of(one.task)}  ({facts})")
        if one.log:
            lines.append(f"    {one_line(one.log)}")
    return lines


def _tasks(
    heading: str,
    tasks: Sequence[Task],
    style: TerminalStyle,
    total: int = 0,
    kept: Mapping[TaskId, Sequence[str]] = MappingProxyType({}),
) -> list[str]:
    lines = ["", style.bold(heading)] if tasks else []
    for task in tasks:
        lines.append(f"  {task.name}  {title_of(task)}")
        reason = (task.reason or "").strip().splitlines()
        lines += [f"    {one_line(line, REASON_WIDTH)}" for line in reason[:1]]
        lines += [f"    {one_line(line)}" for line in reason[1:] if line.startswith(WHOLE_OUTPUT)]
        if refs := kept.get(task.id):
            lines.append(f"    its work is {refs[-1]}: ralph task apply {task.name}")
    if tasks and total > len(tasks):
        lines.append(f"  … and {total - len(tasks)} more (ralph task list --status {heading})")
    return lines
