"""The head of the terminal view: the project, its run, progress, budget and the time left."""

from typing import Final

from rich.text import Text

from ralph.core.run import RunOutcome
from ralph.core.safe_text import one_line
from ralph.core.task import TaskStatus
from ralph.store.runs import Run
from ralph.ui.formatting import cost_text, dollars, first_line, format_time, parse_time
from ralph.ui.live_frame import align_right, waiting_text
from ralph.ui.project_view import Overview, Spending
from ralph.ui.watch.task_tree import MARKS

BAR: Final = (16, 24, 40)
"""Columns of the bar in a narrow, a usual and a wide window."""
WIDE: Final = 100
"""From here on words stand beside the marks."""
ORDER: Final = (
    TaskStatus.DONE,
    TaskStatus.IN_PROGRESS,
    TaskStatus.PENDING,
    TaskStatus.BLOCKED,
    TaskStatus.FAILED,
)


def header(state: Overview, project: str, run: Run | None, width: int, now: float) -> Text:
    """Two lines, and a third one while the run waits."""
    rows = [_first(state, project, run, width, now), _second(state, width)]
    if state.wait is not None:
        head = "paused" if state.wait.until is None else waiting_text(state.wait, now)
        rows.append(Text(f"‖ {head}: {state.wait.reason}", "yellow"))
    return Text("\n").join(rows)


def _first(state: Overview, project: str, run: Run | None, width: int, now: float) -> Text:
    left = Text.assemble(("ralph", "bold cyan"), "  ", (one_line(project, 40), "bold"), "  ")
    left.append(*_state(state, run, now))
    facts = [format_time(now, now)]
    if state.team is not None and state.runs:
        present = sum(one.is_present for one in state.team.workers)
        facts.insert(0, f"{present} of {len(state.team.workers)} workers")
    if state.runs:
        facts.insert(0, one_line(state.runs[0].target, 40))
    return align_right(left, facts, width)


def _state(state: Overview, run: Run | None, now: float) -> tuple[str, str]:
    if run is None and state.runs:
        words = state.state or "working"
        return words, "cyan" if words == "working" else "yellow"
    last = run or state.last_run
    if last is None:
        return "nothing has run yet", "dim"
    name = f"run {last.id}" if run is not None else "last run"
    if any(one.id == last.id for one in state.runs):
        return f"{name}: {state.state or 'working'}", "cyan"
    if last.outcome is None:
        return f"{name} died; ralph run goes on", "yellow"
    ended = format_time(parse_time(last.ended_at), now)
    if last.outcome is RunOutcome.COMPLETE:
        return f"{name} complete {ended}", "green"
    return f"{name} {last.outcome.value} {ended}: {first_line(last.reason)}", "yellow"


def _second(state: Overview, width: int) -> Text:
    counts, is_wide = state.counts, width >= WIDE
    bar = BAR[is_wide + (width >= 2 * WIDE - 40)]
    full = round(bar * counts.done / counts.total) if counts.total else 0
    left = Text.assemble(("━" * full, "green"), ("─" * (bar - full), "dim"))
    left.append(f" {counts.done}/{counts.total} done")
    for status in ORDER[1:]:
        if number := getattr(counts, status.value):
            mark, style = MARKS[status]
            word = f" {status.value.replace('_', ' ')}" if is_wide else f" {mark}"
            left.append("  ").append(f"{number}{word}", style)
    facts = [_time_left(state), _money(state.spending)]
    while left.cell_len + len(" · ".join(filter(None, facts))) + 2 > width and facts:
        facts.pop(0)
    return align_right(left, facts, width)


def _money(spending: Spending) -> str:
    """What the newest run has cost, of what it may."""
    if not spending.run.sessions:
        return ""
    limit = spending.run_limit_usd
    of = f" of {dollars(limit)}" if limit and spending.run.known_usd else ""
    return f"{cost_text(spending.run)}{of}"


def _time_left(state: Overview) -> str:
    left = state.time_left
    if left is None or not state.runs:
        return ""
    low, high = (_rough(seconds) for seconds in (left.low_s, left.high_s))
    return f"{low} left" if low == high else f"{low} to {high} left"


def _rough(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes}m" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02}m"
