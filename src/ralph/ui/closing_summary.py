"""The closing summary of a run: results, cost, logs, next steps."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from shlex import quote
from typing import Final, NamedTuple

from ralph.core.events import RunEnded
from ralph.core.run import STOPPED, RunOutcome
from ralph.core.safe_text import one_line
from ralph.core.task import TaskStatus
from ralph.core.times import format_duration
from ralph.ui.event_text import BAD, DETAIL, GOOD, NOTE, WARNING, MessageTone, effort_facts
from ralph.ui.formatting import cost_text, count_text, denials, first_line
from ralph.ui.run_view import RunView, SettledTask, WaitingTask
from ralph.ui.team_view import TeamView

LISTED: Final = 10
NOTHING_OPEN: Final = frozenset(
    {RunOutcome.COMPLETE, RunOutcome.COMPLETE_WITH_FAILURES, RunOutcome.NO_PLAN}
)
HEADLINES: Final = {
    RunOutcome.COMPLETE: (GOOD, "complete"),
    RunOutcome.COMPLETE_WITH_FAILURES: (BAD, "complete, with failed tasks"),
    RunOutcome.FAILURE: (BAD, "failed"),
    RunOutcome.BLOCKED: (BAD, "blocked: nothing can start"),
    RunOutcome.NO_PLAN: (WARNING, "nothing to do"),
    RunOutcome.LIMIT_REACHED: (WARNING, "limit reached"),
    RunOutcome.PAUSED: (WARNING, "paused"),
    RunOutcome.INTERRUPTED: (WARNING, "interrupted"),
    RunOutcome.ERROR: (BAD, "ended by an error"),
}


class SummaryLine(NamedTuple):
    """A line of text, safe to show, with its tone."""

    tone: MessageTone
    text: str
    path: str = ""
    """The file that the line links to, on a terminal that knows links."""


def closing_summary(
    ended: RunEnded, run_view: RunView, *, with_done: bool = True
) -> list[SummaryLine]:
    if run_view.is_step and ended.outcome is RunOutcome.COMPLETE:
        return []
    done = [settled for settled in run_view.finished if settled.status is TaskStatus.DONE]
    waits = _waiting_tasks(run_view, ended.outcome)
    # A screen that was attached later has not seen all of the team's work.
    team = run_view.team if run_view.run is not None else TeamView()
    tone, words = HEADLINES[ended.outcome]
    nothing = "there are no tasks" if ended.outcome is RunOutcome.NO_PLAN else ""
    reason = first_line(ended.reason) or nothing
    if ended.outcome is RunOutcome.INTERRUPTED:
        words, reason = f"{words} {reason}".strip(), "nothing is lost"
    figures = [
        f"in all: {ended.done} done",
        f"{ended.failed} failed",
        *([f"{ended.blocked} blocked"] if ended.blocked else []),
        f"this run: {count_text(ended.attempts, 'attempt')}",
        count_text(ended.commits, "commit"),
        format_duration(ended.duration_s),
        cost_text(ended.spent),
    ]
    paid = f"  paid by {' and '.join(run_view.accounts)}"
    steps = _next(ended, run_view.failed, waits, run_view.again, team.branch)
    if ended.catch_up:
        steps = [one_line(ended.catch_up, 300), *steps]
    return [
        SummaryLine(DETAIL, ""),
        SummaryLine(tone, f"{words}: {reason}" if reason else words),
        SummaryLine(DETAIL, f"  {' · '.join(figures)}"),
        *([SummaryLine(DETAIL, paid)] if ended.attempts and run_view.accounts else []),
        *_team(team),
        *_tasks(done if with_done else (), ended.done, GOOD, "✓", "done"),
        *_tasks(run_view.failed, ended.failed, BAD, "✗", "failed"),
        *_waiting(waits),
        *_not_permitted(run_view.denied),
        SummaryLine(DETAIL, f"  logs  {one_line(run_view.logs, 300)}", run_view.logs),
        *([SummaryLine(DETAIL, "  more  ralph report")] if ended.attempts else []),
        *(
            SummaryLine(NOTE, f"  {'    ' if n else 'next'}  {step}")
            for n, step in enumerate(steps)
        ),
    ]


def _waiting_tasks(run_view: RunView, outcome: RunOutcome) -> list[WaitingTask]:
    """Tasks that cannot start; after another outcome only those that wait for a person."""
    if outcome in NOTHING_OPEN:
        return []
    waits = [one._replace(on=tuple(map(run_view.name_of, one.on))) for one in run_view.waits()]
    return [one for one in waits if outcome is RunOutcome.BLOCKED or one.is_blocked]


def _team(team: TeamView) -> Iterator[SummaryLine]:
    if not team.exists:
        return
    facts = [count_text(team.merges, "merge")]
    if team.conflicts:
        facts.append(count_text(team.conflicts, "conflict"))
    if team.deaths:
        facts.append(f"{count_text(team.deaths, 'worker')} died")
    yield SummaryLine(DETAIL, f"  {' · '.join(facts)}")
    rows = [row for row, _ in team.rows()]
    widest = max(len(row.name) for row in rows)
    for row in rows[:LISTED]:
        text = f"    {row.name.ljust(widest)}  {row.done} done · {row.failed} not accepted"
        text += f" · {format_duration(row.busy_s)} at work"
        text += f" · breaker open: {row.breaker}" if row.breaker else ""
        yield SummaryLine(DETAIL, text)
    if len(rows) > LISTED:
        yield SummaryLine(DETAIL, f"    and {len(rows) - LISTED} more workers")


def _tasks(
    tasks: Collection[SettledTask], total: int, tone: MessageTone, mark: str, word: str
) -> Iterator[SummaryLine]:
    shown = [*tasks][-LISTED:]
    for settled in shown:
        facts = effort_facts(settled)
        effort = f" ({', '.join(facts)})" if facts else ""
        why = f": {settled.reason}" if settled.reason else ""
        name = one_line(settled.name or settled.task_id, 40)
        text = f"  {mark} {name} {one_line(settled.title, 72)}{effort}"
        yield SummaryLine(tone, f"{text}{why}")
    if shown and total > len(shown):
        yield SummaryLine(DETAIL, f"    and {total - len(shown)} more {word}")


def _waiting(waits: Sequence[WaitingTask]) -> Iterator[SummaryLine]:
    for wait in waits[:LISTED]:
        on = one_line(", ".join(wait.on[:5]), 120) or "a person"
        more = f" and {len(wait.on) - 5} more" if len(wait.on) > 5 else ""
        name = f"{one_line(wait.task, 40)} {one_line(wait.title, 72)}"
        how = f"is blocked: {first_line(wait.reason)}" if wait.reason else f"waits for {on}{more}"
        yield SummaryLine(WARNING, f"  ○ {name} {how}")
    if len(waits) > LISTED:
        yield SummaryLine(DETAIL, f"    and {len(waits) - LISTED} more wait")


def _not_permitted(denied: Mapping[str, int]) -> Iterator[SummaryLine]:
    """Name refused tool calls: an agent goes on without them, and its work may be poor for that."""
    if denied:
        calls = count_text(sum(denied.values()), "tool call")
        were = "was" if calls == "1 tool call" else "were"
        see = "`ralph logs` shows them"
        yield SummaryLine(WARNING, f"  ! {calls} {were} not permitted: {denials(denied)}; {see}")


def _next(
    ended: RunEnded,
    failed: Collection[SettledTask],
    waits: Sequence[WaitingTask],
    again: str,
    branch: str,
) -> list[str]:
    steps = [again]
    match ended.outcome:
        case RunOutcome.BLOCKED:
            task = _first_task_to_look_at(failed, waits)
            is_blocked = task in {wait.task for wait in waits if wait.is_blocked}
            remedies = {wait.cause: wait.remedy for wait in waits}
            usual = "task unblock" if is_blocked else "task retry"
            return _fix_steps(task, again, remedies.get(task or "") or usual)
        case RunOutcome.COMPLETE if ended.commits:
            # A person may be on another branch than the one that a team builds.
            where = f" {quote(one_line(branch, 120))}" if branch else ""
            # Commits that a session made itself name their task in a note. Without the star, git
            # warns where there is none.
            steps = [f"git log --notes='ralph*' -{ended.commits}{where}"]
        case RunOutcome.COMPLETE:
            steps = ["ralph status"]
        case RunOutcome.COMPLETE_WITH_FAILURES | RunOutcome.FAILURE:
            steps = _fix_steps(_first_task_to_look_at(failed, ()), again)
        case RunOutcome.NO_PLAN:
            steps = ['ralph task add "TITLE"', again]
        case RunOutcome.PAUSED if ended.reason not in (STOPPED, ""):
            steps = [f"{again}   once that is fixed"]
        case RunOutcome.LIMIT_REACHED | RunOutcome.INTERRUPTED | RunOutcome.PAUSED:
            steps = [f"{again}   goes on where this ended"]
        case RunOutcome.ERROR:
            steps = ["ralph doctor", again]
    return [*steps, *(f"ralph task unblock {one_line(one.task, 40)}" for one in waits[:LISTED])]


def _first_task_to_look_at(
    failed: Collection[SettledTask], waits: Sequence[WaitingTask]
) -> str | None:
    """The task to look at first: what most of the others wait for."""
    names = [name for wait in waits for name in ((wait.cause,) if wait.cause else wait.on)]
    if names:
        return max(names, key=names.count)
    if failed:
        # A parent fails because of a task below it, and that task has a log.
        tried = [one for one in failed if one.attempt]
        last = (tried or [*failed])[-1]
        return last.name or last.task_id
    return next((wait.task for wait in waits if wait.is_blocked), None)


def _fix_steps(task: str | None, again: str, remedy: str = "task retry") -> list[str]:
    if task is None:
        return ["ralph task list --all", again]
    name = one_line(task, 40)
    look = [] if remedy == "run" else [f"ralph logs {name}"]
    return [*look, f"ralph {remedy} {name} && {again}"]
