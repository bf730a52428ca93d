"""One frame of the live screen: its rows, an agent's actions, waits."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.style import Style
from rich.text import Text

from ralph.core.safe_text import multi_line, one_line
from ralph.core.times import format_duration
from ralph.ui.agent_activity import Activity, ActivityKind, AgentAction
from ralph.ui.event_text import SAFE
from ralph.ui.formatting import (
    cost_text,
    count_text,
    dollars,
    excerpt,
    format_countdown,
    format_time,
    without_colors,
)
from ralph.ui.run_view import GateState, RunView, RunWait
from ralph.ui.team_view import TaskProgress, TaskStage, TeamView, WorkerRow
from ralph.ui.terminal import Size, link_to

SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
WIDEST: Final = 112
"""Lines that run across a very wide window are hard to read."""
WAIT_ROWS: Final = 4
ROWS_AND_STYLE: Final = {
    ActivityKind.TOOL: (1, "dim"),
    ActivityKind.NOTE: (1, "yellow"),
    ActivityKind.RETRY: (1, "yellow"),
    ActivityKind.DENIED: (1, "red"),
    ActivityKind.THINKING: (3, "dim italic"),
    ActivityKind.ERROR: (5, "red"),
    ActivityKind.PROBLEM: (5, "red"),
    ActivityKind.TEXT: (6, ""),
}
"""How many rows an action has at most, and their style."""
LONG_S: Final = 5.0
"""A tool that takes longer shows how long."""


def usable_width(columns: int) -> int:
    """The width to draw in: the last column stays free, or some terminals wrap."""
    return max(10, min(WIDEST, columns - 1))


def align_right(left: Text, facts: Iterable[str], width: int) -> Text:
    """One line with the facts at its right edge; as many of the last of them as there is room."""
    shown = [fact for fact in facts if fact]
    while shown:
        right = Text(" · ".join(shown), style="dim")
        room = width - right.cell_len - 2
        if room >= min(16, left.cell_len):
            left.truncate(room, overflow="ellipsis", pad=True)
            return Text.assemble(left, "  ", right)
        shown = shown[1:]
    left.truncate(width, overflow="ellipsis")
    return left


def whole_seconds(seconds: float) -> str:
    """`12s`, `3m 12s`"""
    return format_duration(max(0.0, seconds) // 1).replace(".0s", "s")


class LineBudget:
    """How many lines are left. What comes first gets its lines first."""

    def __init__(self, lines: int) -> None:
        self.left = lines

    def grant(self, wanted: int, *, least: int = 1) -> int:
        """So many of them, as far as there are any; none where that is less than `least`."""
        granted = min(wanted, self.left)
        if granted < least:
            return 0
        self.left -= granted
        return granted


def agent_rows(activity: Activity, width: int, lines: int, now: float) -> list[Text]:
    """The newest actions that fit, in the order in which they happened."""
    rows: list[Text] = []
    for action in reversed(activity.actions):
        if len(rows) >= lines:
            break
        rows = _rows(action, width, lines - len(rows), now) + rows
    return rows


def _rows(action: AgentAction, width: int, lines: int, now: float) -> list[Text]:
    """The rows of one action. Those that are too wide are cut with the whole frame."""
    most, style = ROWS_AND_STYLE[action.kind]
    lines = min(most, lines)
    match action.kind:
        case ActivityKind.TOOL:
            return [_tool(action, width, now)]
        case ActivityKind.NOTE | ActivityKind.RETRY:
            return [Text(f"! {one_line(action.text, width)}", style)]
        case ActivityKind.DENIED:
            refused = ("not permitted", "bold red")
            return [Text.assemble(refused, "  ", (one_line(action.text), style))]
        case ActivityKind.ERROR | ActivityKind.PROBLEM:
            rows = excerpt(fold_text(without_colors(action.text), width - 2), lines)
            # A mark, since not every terminal has a red.
            return [Text(f"{'  ' if n else '✗ '}{row}", style) for n, row in enumerate(rows)]
        case ActivityKind.TEXT | ActivityKind.THINKING:
            rows = fold_text(action.text[-lines * width :], width)[-lines:]
            return [Text(row, style) for row in rows]


def _tool(action: AgentAction, width: int, now: float) -> Text:
    row = Text.assemble((action.tool, "bold cyan" if action.call else "cyan"))
    row.append(f"  {one_line(action.text, width)}", style="dim")
    if action.call:
        took = now - action.since if action.since is not None else 0.0
        still = f" … {whole_seconds(took)}" if took >= LONG_S else " …"
        row.truncate(max(8, width - len(still)), overflow="ellipsis")
        row.append(still, style="cyan")
    return row


def fold_text(text: str, width: int) -> list[str]:
    """The lines of a text that say something, folded at words to a number of columns."""
    rows: list[str] = []
    width = max(4, width)
    for line in multi_line(text.replace("\r\n", "\n")).expandtabs(4).splitlines():
        if line.strip():
            rows.extend(_fold_line(line.rstrip(), width))
    return rows


def _fold_line(line: str, width: int) -> list[str]:
    if cell_len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())][: width // 2]
    rows, row = [], indent
    # Spaces stay where they are: two or more separate a command from what is said about it.
    for gap, word in re.findall(r"(\s*)(\S+)", line.strip()):
        before = gap
        for piece in chop_cells(word, width - len(indent)):
            longer = f"{row}{before}{piece}"
            if cell_len(longer) > width:
                rows.append(row)
                longer = piece
            row, before = longer, ""
    return [*rows, row]


def waiting_rows(wait: RunWait, now: float, width: int, lines: int) -> list[Text]:
    """A headline and, where there is room, up to so many lines below it."""
    if wait.until is None:
        first, *rest = fold_text(f"‖ paused: {wait.reason}", width)[: max(1, lines)]
        head = Text(first)
        head.stylize("bold yellow", 0, len("‖ paused"))
        return [head, *map(Text, rest)]
    head = Text.assemble((f"◷ {waiting_text(wait, now)}", "bold yellow"))
    if lines < 2:
        head.append(f": {wait.reason}")
        return [head]
    reason = fold_text(wait.reason, width - 4)[: lines - 1]
    hint = fold_text(SAFE, width - 4)[: lines - len(reason)]
    rows = [*(Text(row) for row in reason), *(Text(row, style="dim") for row in hint)]
    return [head, *(Text.assemble("  ", ("│", "dim"), " ", row) for row in rows)]


def waiting_text(wait: RunWait, now: float) -> str:
    """`waiting: goes on at 14:05, in 23:10`"""
    if wait.until is None or wait.until <= now:
        return "waiting: goes on now"
    left = format_countdown(wait.until - now + 0.999)
    return f"waiting: goes on at {format_time(wait.until, now)}, in {left}"


QUIET_S: Final = 60.0
"""A silence that is worth a word."""
MOST_ACTIONS: Final = 6
"""Rows for the actions of one agent of a team; its log has the rest."""
ELSEWHERE: Final = (
    " · in another terminal: ralph pause, ralph status",
    " · elsewhere: ralph pause, ralph status",
    " · elsewhere: ralph pause",
    "",
)
GATE_MARKS: Final = {
    GateState.PLANNED: ("·", "dim"),
    GateState.RUNNING: ("…", "cyan"),
    GateState.PASSED: ("✓", "green"),
    GateState.FAILED: ("✗", "red"),
}


def live_frame(run_view: RunView, now: float, size: Size, beat: int) -> list[Text]:
    """The lines of the region. Their number changes only with the window and the work."""
    width = usable_width(size.columns)
    # Header, bar and task have a line each; some permanent lines stay visible above them.
    room = LineBudget(size.lines - 3 - (7 if size.lines >= 20 else 1))
    hints, log = room.grant(1), room.grant(1)
    if run_view.team.exists:
        # The task's own line is not needed.
        room.left += 1
        upcoming = room.grant(min(4, size.lines // 10))
        has_gap = room.left >= 3 + 2 * len(run_view.team.workers)
        air = [Text()] if has_gap and room.grant(3) else []
        work = _team_rows(run_view, now, width, room, beat)
    else:
        work, upcoming, air = _single_task(run_view, now, size, room, beat)
    lines = [
        *air,
        _header(run_view, now, width),
        _bar(run_view, width),
        *air,
        *work,
        *_upcoming(run_view, width, upcoming),
        *air,
        *[_log(run_view, width)][:log],
        *[Text(_keys(run_view, width), style="dim")][:hints],
    ]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _keys(run_view: RunView, width: int) -> str:
    """What Ctrl-C does now."""
    current = run_view.current
    if run_view.interrupted():
        return "stopping · Ctrl-C again ends the run at once"
    words = f"{run_view.asked} asked for · " if run_view.asked else ""
    if current is not None and not current.is_judged:
        words += "Ctrl-C asks, twice ends the run"
    else:
        words += "Ctrl-C ends the run"
    return next(words + more for more in ELSEWHERE if len(words + more) <= width or not more)


def _single_task(
    run_view: RunView, now: float, size: Size, room: LineBudget, beat: int
) -> tuple[list[Text], int, list[Text]]:
    """The rows of the current task; how many lines the next tasks get; an empty line, if there is
    room."""
    width = usable_width(size.columns)
    is_working = run_view.wait is None
    gates = room.grant(1 if run_view.gates and is_working else 0)
    has_agent_rows = run_view.current is not None or bool(run_view.activity.actions)
    most = min(16, max(3, size.lines // 5 + 1, size.lines // 2 - 8))
    agent = room.grant(most if has_agent_rows and is_working else 0, least=2)
    held = room.grant(WAIT_ROWS if run_view.wait else 0, least=2)
    upcoming = room.grant(min(6, max(3, size.lines // 7)))
    air = [Text()] if room.grant(3, least=3) else []
    current = run_view.current
    waits_for = _agent_name(current) if current is not None and not current.is_judged else ""
    work = [
        *_headline(run_view, now, width, held, beat),
        *_agent(run_view.activity, waits_for, now, width, agent, indent="  "),
        *[_gates(run_view)][:gates],
    ]
    return work, upcoming, air


def _header(run_view: RunView, now: float, width: int) -> Text:
    left = Text("Ralph", style="bold")
    if run_view.run is not None:
        agent = (run_view.current and run_view.current.agent) or run_view.agent
        sandbox = one_line(run_view.run.sandbox, 40)
        for word in (one_line(run_view.run.target, 60), agent, run_view.activity.model):
            if word:
                left.append(f" · {word}", style="not bold")
        left.append(" · ", style="not bold")
        # A missing sandbox gets a colour.
        if sandbox == "off":
            left.append("sandbox off", style="not bold yellow")
        else:
            left.append(sandbox, style="not bold")
    elapsed = "" if run_view.started is None else whole_seconds(now - run_view.started)
    return align_right(left, (elapsed, _spend(run_view)), width)


def _spend(run_view: RunView) -> str:
    spent = run_view.spent
    if not spent.sessions:
        return ""
    if 0 < spent.unknown < spent.sessions:
        # The closing summary has room for the whole sentence; here it would push the clock away.
        return f"at least {dollars(spent.known_usd, estimated=spent.estimated > 0)}"
    return cost_text(spent)


def _bar(run_view: RunView, width: int) -> Text:
    counts = run_view.counts
    words = Text(f"{counts.done} of {counts.total} done", style="bold")
    for number, word, style in (
        (counts.failed, "failed", "red"),
        (counts.blocked, "blocked", "yellow"),
    ):
        if number:
            words.append(" · ", style="not bold dim")
            words.append(f"{number} {word}", style=f"not bold {style}")
    if run_view.denied:
        words.append(f" · {run_view.denied.total()} not permitted", style="not bold yellow")
    if run_view.warned:
        words.append(f" · {count_text(run_view.warned, 'warning')}", style="not bold yellow")
    length = width - words.cell_len - 2
    if length < 8:
        return words
    done = round(length * counts.done / counts.total) if counts.total else 0
    failed = round(length * counts.failed / counts.total) if counts.total else 0
    return Text.assemble(
        ("━" * done, "green"),
        ("━" * min(failed, length - done), "red"),
        ("─" * (length - done - failed), "dim"),
        "  ",
        words,
    )


def _headline(run_view: RunView, now: float, width: int, held: int, beat: int) -> list[Text]:
    if run_view.wait is not None:
        return waiting_rows(run_view.wait, now, width, held)
    spinner = SPINNER[beat % len(SPINNER)]
    if run_view.current is None:
        words = "choosing the next task" if run_view.run else "starting"
        if run_view.run and GateState.RUNNING in run_view.gates.values():
            words = "taking the baseline: which gates pass before the work"
        return [Text.assemble((spinner, "cyan"), f" {words}")]
    current = run_view.current
    name = run_view.name_of(current.task_id)
    left = Text.assemble((spinner, "cyan"), " ", (name, "cyan"), " ")
    left.append(current.title, style="bold")
    stage = "judging" if current.is_judged else ""
    return [align_right(left, _task_facts(current, stage, now), width)]


def _task_facts(task: TaskProgress, stage: str, now: float) -> Iterator[str]:
    activity = task.activity
    quiet = now - activity.last_output_at if activity.last_output_at is not None else 0.0
    if quiet >= QUIET_S and task.stage is TaskStage.WORKING and not activity.is_in_tool:
        yield f"quiet for {whole_seconds(quiet)}"
    if task.retry_count:
        yield f"retry {task.retry_count}"
    elif task.attempt > 1:
        yield f"attempt {task.attempt}"
    yield stage
    if task.since is not None:
        yield whole_seconds(now - task.since)


def _agent(
    activity: Activity, waits_for: str, now: float, width: int, lines: int, *, indent: str
) -> list[Text]:
    """The agent's newest actions, on a fixed number of lines."""
    rows = agent_rows(activity, width - len(indent) - 2, lines, now)
    if not rows and waits_for:
        rows = [Text(f"waiting for {waits_for}", style="dim")][:lines]
    rows += [Text()] * (lines - len(rows))
    return [Text.assemble(indent, ("│", "dim"), " ", row) for row in rows]


def _gates(run_view: RunView) -> Text:
    text = Text("  gates ", style="dim")
    for name, state in run_view.gates.items():
        mark, style = GATE_MARKS[state]
        text.append(f" {one_line(name, 30)} ", style="not dim")
        text.append(mark, style=f"not dim {style}" if style != "dim" else style)
        if name in run_view.was_red:
            text.append(" (red before)", style="yellow")
        text.append(" ")
    return text


def _upcoming(run_view: RunView, width: int, lines: int) -> list[Text]:
    titles = run_view.upcoming() if lines else []
    pending = max(run_view.counts.pending, len(titles))
    fits = pending <= lines and pending == len(titles)
    shown = titles if fits else titles[: lines - 1]
    rows = [Text.assemble(("○", "dim"), f" {one_line(title, width)}") for title in shown]
    if shown and pending > len(shown):
        rows.append(Text(f"  and {pending - len(shown)} more", style="dim"))
    return rows


def _log(run_view: RunView, width: int) -> Text:
    path = run_view.current.log if run_view.current and run_view.current.log else run_view.logs
    root = run_view.run.checkout if run_view.run else ""
    whole = os.path.abspath(os.path.join(root, path))
    inside = bool(root) and whole.startswith(os.path.join(root, ""))
    shown = one_line(os.path.relpath(whole, root) if inside else whole)
    if len(shown) > width - 5:
        shown = "…" + shown[-(width - 6) :]
    return Text.assemble(("log  ", "dim"), (shown, Style(dim=True, link=link_to(whole))))


def _team_rows(
    run_view: RunView, now: float, width: int, room: LineBudget, beat: int
) -> list[Text]:
    """As many workers as there is room for; those with a task first if there is too little."""
    waits = waiting_rows(run_view.wait, now, width, room.grant(2)) if run_view.wait else []
    rows = run_view.team.rows()
    shown = room.grant(len(rows))
    lines = [*waits, *[_queue(run_view.team)][: room.grant(1)]]
    left_out = 0
    if shown < len(rows):
        rows = sorted(rows, key=lambda row: row[1] is None)
        rows, left_out = rows[: max(0, shown - 1)], len(rows) - max(0, shown - 1)
    # Rows that come and go with every task would make the whole screen jump.
    present = sum(worker.worker is not None for worker, _ in rows)
    each = min(MOST_ACTIONS, room.left // present) if present else 0
    room.grant(each * present)
    for worker, task in rows:
        lines.append(_worker_row(run_view, (worker, task), now, width, beat))
        if worker.worker is None:
            continue
        if task is None:
            lines += [Text()] * each
        else:
            waits_for = _agent_name(task) if task.stage is TaskStage.WORKING else ""
            lines += _agent(task.activity, waits_for, now, width, each, indent="    ")
    if left_out and shown:
        lines.append(Text(f"  and {left_out} more workers", style="dim"))
    return lines


def _agent_name(task: TaskProgress) -> str:
    return task.agent or "the agent"


def _queue(team: TeamView) -> Text:
    facts = [f"{team.merges} merged"]
    if team.conflicts:
        facts.append(f"{team.conflicts} in conflict")
    if team.merging is not None:
        facts.append(f"{team.merging.worker} merges")
    if waiting := [task.worker for task in team.queue]:
        facts.append(f"{', '.join(waiting)} next")
    if team.deaths:
        facts.append(f"{team.deaths} died")
    return Text(" · ".join(facts), style="dim")


def _worker_row(
    run_view: RunView, row: tuple[WorkerRow, TaskProgress | None], now: float, width: int, beat: int
) -> Text:
    worker, task = row
    name = worker.name.ljust(max(map(len, run_view.team.workers)))
    if task is None:
        gone = f"has left: {worker.left}" if worker.worker is None else "waits for work"
        idle = f"breaker open: {worker.breaker}" if worker.breaker else gone
        return Text(f"  {name}  {idle}", style="yellow" if worker.breaker else "dim")
    left = Text.assemble((SPINNER[beat % len(SPINNER)], "cyan"), " ", (name, "bold"), "  ")
    left.append(f"{task.name} ", style="cyan")
    left.append(task.title)
    return align_right(left, _task_facts(task, task.doing, now), width)
