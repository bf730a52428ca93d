"""The closing account: what happened, what it cost, where to look, what to do next."""

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Final, NamedTuple

from ralph.core.duration import spoken
from ralph.core.events import RunEnded
from ralph.core.outcome import Outcome
from ralph.core.safe_text import one_line
from ralph.core.task import Status
from ralph.ui.board import Board, Settled, Wait
from ralph.ui.story import Tone, effort_facts
from ralph.ui.team import Team
from ralph.ui.wording import cost, denials, first_line, many

LISTED: Final = 10
NOTHING_OPEN: Final = frozenset({Outcome.COMPLETE, Outcome.COMPLETE_WITH_FAILURES, Outcome.NO_PLAN})


class Line(NamedTuple):
    """A line of text, safe to show, and how it is meant."""

    tone: Tone
    text: str
    path: str = ""
    """What it leads to, where a terminal knows links."""


def account(ended: RunEnded, board: Board, *, with_done: bool = True) -> list[Line]:
    """The whole account of a run that a board has followed."""
    done = [settled for settled in board.finished if settled.status is Status.DONE]
    return account_of(
        ended,
        done=done if with_done else (),
        failed=tuple(board.failed),
        waits=_named(board, ended.outcome),
        logs=board.logs,
        again=board.again,
        denied=board.denied,
        accounts=board.accounts,
        # Whoever came later has not seen all of it.
        team=board.team if board.run is not None else None,
    )


def _named(board: Board, outcome: Outcome) -> list[Wait]:
    """What cannot start; where something else ended the run, only what waits for a person."""
    if outcome in NOTHING_OPEN:
        return []
    of = board.names.of
    waits = [one._replace(on=tuple(map(of, one.on))) for one in board.waits()]
    return [one for one in waits if outcome is Outcome.BLOCKED or one.is_blocked]


def account_of(
    ended: RunEnded,
    *,
    done: Sequence[Settled] = (),
    failed: Sequence[Settled] = (),
    waits: Sequence[Wait] = (),
    logs: str = ".ralph/runs",
    again: str = "ralph run",
    denied: Mapping[str, int] = {},
    accounts: Sequence[str] = (),
    team: Team | None = None,
) -> list[Line]:
    """The account from values alone."""
    tone = tone_of(ended.outcome)
    return [
        Line(Tone.DETAIL, ""),
        Line(tone, _headline(ended)),
        Line(Tone.DETAIL, f"  {_figures(ended)}"),
        *_paid(ended, accounts),
        *_team(team),
        *_tasks(done, ended.done, Tone.GOOD, "✓", "done"),
        *_tasks(failed, ended.failed, Tone.BAD, "✗", "failed"),
        *_waiting(waits),
        *_not_permitted(denied),
        Line(Tone.DETAIL, f"  logs  {one_line(logs, 300)}", logs),
        *_steps(_next(ended, failed, waits, again, team.branch if team is not None else "")),
    ]


def tone_of(outcome: Outcome) -> Tone:
    """Is it good news?"""
    match outcome:
        case Outcome.COMPLETE:
            return Tone.GOOD
        case Outcome.FAILURE | Outcome.BLOCKED | Outcome.COMPLETE_WITH_FAILURES | Outcome.ERROR:
            return Tone.BAD
        case Outcome.NO_PLAN | Outcome.LIMIT_REACHED | Outcome.PAUSED | Outcome.INTERRUPTED:
            return Tone.WARNING


def _headline(ended: RunEnded) -> str:
    is_empty = ended.outcome is Outcome.NO_PLAN
    words = {
        Outcome.COMPLETE: "complete",
        Outcome.COMPLETE_WITH_FAILURES: "complete, with failed tasks",
        Outcome.FAILURE: "failed",
        Outcome.BLOCKED: "blocked: nothing can start",
        Outcome.NO_PLAN: "nothing to do",
        Outcome.LIMIT_REACHED: "limit reached",
        Outcome.PAUSED: "paused",
        Outcome.INTERRUPTED: "interrupted: nothing is lost",
        Outcome.ERROR: "ended by an error",
    }[ended.outcome]
    reason = first_line(ended.reason) or ("there are no tasks" if is_empty else "")
    return f"{words}: {reason}" if reason else words


def _figures(ended: RunEnded) -> str:
    figures = [
        f"{ended.done} done",
        f"{ended.failed} failed",
        *([f"{ended.blocked} blocked"] if ended.blocked else []),
        many(ended.attempts, "attempt"),
        many(ended.commits, "commit"),
        spoken(ended.duration_s),
        cost(ended.spent),
    ]
    return " · ".join(figures)


def _paid(ended: RunEnded, accounts: Sequence[str]) -> Iterator[Line]:
    if ended.attempts and accounts:
        yield Line(Tone.DETAIL, f"  paid by {' and '.join(accounts)}")


def _team(team: Team | None) -> Iterator[Line]:
    if team is None or not team.is_there:
        return
    facts = [many(team.merges, "merge")]
    if team.conflicts:
        facts.append(many(team.conflicts, "conflict"))
    if team.deaths:
        facts.append(f"{many(team.deaths, 'worker')} died")
    yield Line(Tone.DETAIL, f"  {' · '.join(facts)}")
    rows = [seat for seat, _ in team.rows()]
    widest = max(len(seat.name) for seat in rows)
    for seat in rows[:LISTED]:
        told = f"{seat.done} done · {seat.failed} not accepted · {spoken(seat.busy_s)} at work"
        told += f" · breaker open: {seat.breaker}" if seat.breaker else ""
        yield Line(Tone.DETAIL, f"    {seat.name.ljust(widest)}  {told}")
    if len(rows) > LISTED:
        yield Line(Tone.DETAIL, f"    and {len(rows) - LISTED} more workers")


def _tasks(
    tasks: Sequence[Settled], total: int, tone: Tone, mark: str, word: str
) -> Iterator[Line]:
    for settled in tasks[-LISTED:]:
        facts = effort_facts(settled)
        effort = f" ({', '.join(facts)})" if facts else ""
        why = f": {settled.reason}" if settled.reason else ""
        name = one_line(settled.name or settled.task_id, 40)
        text = f"  {mark} {name} {one_line(settled.title, 72)}{effort}"
        yield Line(tone, f"{text}{why}")
    shown = len(tasks[-LISTED:])
    if shown and total > shown:
        yield Line(Tone.DETAIL, f"    and {total - shown} more {word}")


def _waiting(waits: Sequence[Wait]) -> Iterator[Line]:
    for wait in waits[:LISTED]:
        on = one_line(", ".join(wait.on[:5]), 120) or "a person"
        more = f" and {len(wait.on) - 5} more" if len(wait.on) > 5 else ""
        name = f"{one_line(wait.task, 40)} {one_line(wait.title, 72)}"
        how = f"is blocked: {first_line(wait.reason)}" if wait.reason else f"waits for {on}{more}"
        yield Line(Tone.WARNING, f"  ○ {name} {how}")
    if len(waits) > LISTED:
        yield Line(Tone.DETAIL, f"    and {len(waits) - LISTED} more wait")


def _not_permitted(denied: Mapping[str, int]) -> Iterator[Line]:
    """An agent goes on without what it may not do, and nobody wonders why the work is poor."""
    if denied:
        calls = many(sum(denied.values()), "tool call")
        were = "was" if calls == "1 tool call" else "were"
        yield Line(
            Tone.WARNING,
            f"  ! {calls} {were} not permitted: {denials(denied)};"
            " see docs/how-to/choose-an-agent.md",
        )


def _steps(steps: Sequence[str]) -> Iterator[Line]:
    for index, step in enumerate(steps):
        yield Line(Tone.NOTE, f"  {'    ' if index else 'next'}  {step}")


def _next(
    ended: RunEnded, failed: Sequence[Settled], waits: Sequence[Wait], again: str, branch: str
) -> list[str]:
    steps = _next_by_outcome(ended, failed, waits, again, branch)
    if ended.outcome is Outcome.BLOCKED:
        return steps
    back = [f"ralph task unblock {one_line(one.task, 40)}" for one in waits[:LISTED]]
    return [*steps, *back]


def _next_by_outcome(
    ended: RunEnded, failed: Sequence[Settled], waits: Sequence[Wait], again: str, branch: str
) -> list[str]:
    match ended.outcome:
        case Outcome.COMPLETE if ended.commits:
            # A person may be on another branch than the one that a team builds.
            where = f" {quote(one_line(branch, 120))}" if branch else ""
            return [f"git log --oneline -{ended.commits}{where}"]
        case Outcome.COMPLETE:
            return ["ralph status"]
        case Outcome.COMPLETE_WITH_FAILURES | Outcome.FAILURE:
            return _mend(_culprit(failed, ()), again)
        case Outcome.BLOCKED:
            culprit = _culprit(failed, waits)
            is_blocked = culprit in {wait.task for wait in waits if wait.is_blocked}
            remedies = {wait.cause: wait.remedy for wait in waits}
            usual = "task unblock" if is_blocked else "task retry"
            return _mend(culprit, again, remedies.get(culprit or "") or usual)
        case Outcome.NO_PLAN:
            return ['ralph task add "TITLE"', again]
        case Outcome.LIMIT_REACHED | Outcome.INTERRUPTED:
            return [f"{again}   goes on where this ended"]
        case Outcome.PAUSED:
            return [f"{again}   once that is mended"]
        case Outcome.ERROR:
            return ["ralph doctor", again]


def _culprit(failed: Sequence[Settled], waits: Sequence[Wait]) -> str | None:
    """The task to look at first: what most of the others wait for."""
    names = [name for wait in waits for name in ((wait.cause,) if wait.cause else wait.on)]
    if names:
        return max(names, key=names.count)
    if failed:
        # A parent fails because of a task below it: that one has something to tell.
        tried = [one for one in failed if one.attempts]
        last = (tried or failed)[-1]
        return last.name or last.task_id
    return next((wait.task for wait in waits if wait.is_blocked), None)


def _mend(task: str | None, again: str, remedy: str = "task retry") -> list[str]:
    if task is None:
        return ["ralph task list --all", again]
    name = one_line(task, 40)
    look = [] if remedy == "run" else [f"ralph logs {name}"]
    return [*look, f"ralph {remedy} {name} && {again}"]
