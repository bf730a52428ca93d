"""The state of a project at a glance, gathered at a cost that does not grow with the graph."""

import time
from collections.abc import Mapping

import msgspec

from ralph.cli.living import living_runs
from ralph.cli.screen import Screen
from ralph.cli.task.telling import titled
from ralph.cli.times import local, since
from ralph.core.breaker import Breaker, Tolerance, remembered, told
from ralph.core.duration import spoken
from ralph.core.ids import RunId, WorkerId
from ralph.core.moment import iso
from ralph.core.order import Schedule
from ralph.core.safe_text import one_line
from ralph.core.spent import Spent
from ralph.core.target import Everything
from ralph.core.task import Status, Task
from ralph.ports.claims import Counts
from ralph.ports.history import Run
from ralph.ports.ledger import Asked
from ralph.ports.store import Filter, Store

STUCK = 5


class Working(msgspec.Struct, frozen=True, kw_only=True):
    """A task in somebody's hands."""

    task: Task
    attempt: int
    elapsed_s: float | None
    log: str
    is_stale: bool
    """No run that lives holds it."""
    seat: str = ""
    """Whose it is, where a team is at work."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What `ralph status` knows."""

    counts: Counts
    runs: list[Run]
    """Those that live."""
    working: list[Working]
    ready: list[Task]
    """What would be claimed next."""
    failed: list[Task]
    blocked: list[Task]
    last_run: Run | None
    spent: dict[RunId, Spent]
    """What these runs have cost."""
    limited: dict[str, str]
    """Their agents that are out of quota, and until when."""
    breakers: dict[str, Breaker]
    """By worker, those that are not closed."""

    def lines(self, screen: Screen) -> list[str]:
        """As a person reads it."""
        return [
            count_words(self.counts, screen),
            *run_lines(self.runs, self.last_run, self.spent),
            *(
                f"{one_line(name, 40)} is out of quota until {local(until)}"
                for name, until in self.limited.items()
            ),
            *(
                f"breaker of {one_line(seat, 40)}: {told(one)}"
                for seat, one in self.breakers.items()
            ),
            *_working(self.working, screen),
            *_tasks("next", self.ready, screen),
            *_tasks("failed", self.failed, screen, self.counts.failed),
            *_tasks("blocked", self.blocked, screen, self.counts.blocked),
        ]


def look(store: Store, tolerance: Tolerance) -> State:
    """Ask the store for the little that is shown."""
    runs = living_runs(store)
    newest = store.runs(limit=1)
    # Whoever started a run of one worker, or sits in a team.
    crews: dict[WorkerId | None, str] = {
        one.worker: one.seat for run in runs for one in store.crew(run.id)
    }
    in_team = len({seat for seat in crews.values() if seat})
    now = time.time()
    upcoming = store.next_ready(Everything(), Schedule.PRIORITY)
    return State(
        counts=store.counts(Everything()),
        runs=runs,
        working=[
            _in_hand(store, task, now, crews)
            for task in _some(store, Status.IN_PROGRESS, max(STUCK, in_team))
        ],
        ready=[upcoming] if upcoming else [],
        failed=_some(store, Status.FAILED, STUCK),
        blocked=_some(store, Status.BLOCKED, STUCK),
        last_run=newest[0] if newest else None,
        spent={run.id: store.spent(Asked(run=run.id)) for run in (*runs, *newest)},
        limited={
            run.agent: iso(until)
            for run in (*runs, *newest)
            if (until := store.limited_until(run.agent)) is not None
        },
        breakers={
            seat: one
            for seat, one in store.breakers().items()
            # What a run would not count any more is no news.
            if not remembered(one, tolerance, now).is_closed
        },
    )


def _some(store: Store, status: Status, limit: int) -> list[Task]:
    return store.tasks(Filter(statuses=frozenset({status}), limit=limit))


def _in_hand(store: Store, task: Task, now: float, crews: Mapping[WorkerId | None, str]) -> Working:
    session = store.session(task.id, task.attempt)
    return Working(
        task=task,
        attempt=task.attempt,
        elapsed_s=since(session.started_at, now) if session else None,
        log=session.log if session else "",
        is_stale=task.claimed_by not in crews,
        seat=crews.get(task.claimed_by, ""),
    )


def count_words(counts: Counts, screen: Screen) -> str:
    """`4 tasks: 1 done, …`"""
    if not counts.total:
        return "no tasks yet; `ralph task add TITLE` adds one"
    parts = [
        screen.paint(f"{number} {status.value.replace('_', ' ')}", screen.colour(status))
        for status in (
            Status.DONE,
            Status.IN_PROGRESS,
            Status.PENDING,
            Status.BLOCKED,
            Status.FAILED,
        )
        if (number := getattr(counts, status))
    ]
    return f"{counts.total} {'task' if counts.total == 1 else 'tasks'}: {', '.join(parts)}"


def run_lines(runs: list[Run], last: Run | None, spent: dict[RunId, Spent]) -> list[str]:
    """Those at work, else how the last one ended."""
    if runs:
        return [
            f"run {run.id} is at work on {one_line(run.target, 60)} with {one_line(run.agent, 40)}"
            f" since {local(run.started_at)}, sandbox {one_line(run.sandbox, 40)}"
            f"{_cost(spent[run.id])}"
            for run in runs
        ]
    if last is None:
        return ["nothing has run yet"]
    if last.outcome is None:
        return [f"run {last.id} died; called again, it goes on where it stopped"]
    reason = f": {one_line(last.reason, 120)}" if last.reason else ""
    cost = _cost(spent[last.id])
    return [f"last run {last.id} ended {local(last.ended_at)}, {last.outcome.value}{reason}{cost}"]


def _cost(spent: Spent) -> str:
    return f" (cost {spent})" if spent.sessions else ""


def _working(working: list[Working], screen: Screen) -> list[str]:
    lines = ["", screen.bold("in progress")] if working else []
    for one in working:
        took = f", {spoken(one.elapsed_s)}" if one.elapsed_s is not None else ""
        stale = "; its run is gone, the next one takes it up again" if one.is_stale else ""
        who = f"{one.seat}, " if one.seat else ""
        facts = f"{who}attempt {one.attempt}{took}{stale}"
        lines.append(f"  {one.task.name}  {titled(one.task)}  ({facts})")
        if one.log:
            lines.append(f"    {one_line(one.log)}")
    return lines


def _tasks(heading: str, tasks: list[Task], screen: Screen, total: int = 0) -> list[str]:
    if not tasks:
        return []
    lines = ["", screen.bold(heading)]
    for task in tasks:
        lines.append(f"  {task.name}  {titled(task)}")
        if task.reason:
            lines.append(f"    {one_line(task.reason.strip().partition(chr(10))[0], 160)}")
    if total > len(tasks):
        lines.append(f"  … and {total - len(tasks)} more (ralph task list --status {heading})")
    return lines
