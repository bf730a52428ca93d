"""Show what happened in the sessions of a task or a run.

Without a name: of the newest run. Shows each session's ending, gates, checks, commits and the path
of its raw log; then the last lines of the newest session's output.

examples:
  ralph logs
  ralph logs t-4f2a1b
  ralph logs t-4f2a1b --attempt 2 -n 200
  ralph logs -f
"""

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from ralph.cli.command import command, flag, option
from ralph.cli.options import at_least, json_option
from ralph.cli.output import TerminalStyle, format_local, print_json_array, session_object, title_of
from ralph.cli.project_access import open_view, project_with_store
from ralph.core.brief_sections import SectionUsage
from ralph.core.cost import CostSummary, session_cost
from ralph.core.errors import Missing, NoSuchTask, UsageError
from ralph.core.ids import RunId, TaskId
from ralph.core.safe_text import multi_line, one_line
from ralph.core.session_events import SessionRole
from ralph.core.task import Task
from ralph.core.times import format_duration
from ralph.store.costs import CostFilter
from ralph.store.runs import Run
from ralph.store.sessions import Session, WorkCheck
from ralph.store.store import Store
from ralph.store.tasks import LogEntry
from ralph.ui.attempt_view import Attempt, attempts_of, chain_text, gate_text
from ralph.ui.formatting import REASON_WIDTH, cost_text, denials

SESSIONS = 100
"""A run of a night has hundreds; its newest are what a person looks for."""


@command(
    option("name", "TASK|RUN", "a task or a run", nargs="?"),
    flag("-f", "--follow", "continue with new output"),
    flag("--raw", "print the raw log's bytes as they are, control characters and all"),
    option("--attempt", "N", "only this attempt", type=at_least(1)),
    option("-n", "--lines", "N", "lines of the log (default 20)", type=at_least(0), default=20),
    json_option("print the sessions as a JSON array"),
)
def logs(args: Namespace) -> int:
    from ralph.cli.session_output import show_session

    if args.json and args.follow:
        raise UsageError(
            "--json and --follow do not go together",
            hint="ralph run --json prints events as they happen",
        )
    with project_with_store() as (project, store):
        after = store.events.last_seq() if args.follow else 0
        found = find_sessions(store, args.name, args.attempt, may_wait=args.follow)
        style = TerminalStyle(args, project)
        if args.json:
            print_json_array(session_object(store, one) for one in found.sessions)
        else:
            print("\n".join(_lines(store, found, style, project.root)))
            if args.lines and (log := _newest_log(store, found.sessions)):
                path = os.path.join(project.root, log)
                show_session(path, args.lines, style.paint, raw=args.raw)
        if not args.follow:
            return 0
        from ralph.cli.log_follow import LogFollower

        follower = LogFollower(
            open_view(project, store),
            task=found.task.id if found.task else None,
            # Without a name it goes on with all that happens, also in runs that are still to come.
            run=found.run.id if found.run and args.name else None,
            raw=args.raw,
            paint=style.paint,
        )
        return follower.follow(after)


class SessionList(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions of a task or a run."""

    sessions: list[Session] = []
    task: Task | None = None
    run: Run | None = None


def _newest_log(store: Store, sessions: Sequence[Session]) -> str:
    """The raw log of the last session, or of the check that is at work on it."""
    if not sessions:
        return ""
    checks = store.checks.of_session(sessions[-1].id)
    return next((one.log for one in checks if one.ended_at is None), sessions[-1].log)


def _lines(store: Store, found: SessionList, style: TerminalStyle, root: str) -> Iterator[str]:
    task, run = found.task, found.run
    yield style.bold(_heading(task, run))
    if task is None and run is None:
        return
    asked = CostFilter(task=task.id if task else None, run=run.id if run else None)
    spent = store.costs.total(asked)
    if spent.sessions > 1:
        yield f"cost {spent}"
    if not found.sessions:
        yield "no session yet"
    for attempt in attempts_of(store, found.sessions):
        name = "" if task is not None else _name(store, attempt.session.task_id)
        yield from _attempt_lines(attempt, style, root=root, name=name)
    if task is not None and (entries := store.tasks.logs(task.id, 20)):
        yield ""
        yield from map(log_line, entries)


def _heading(task: Task | None, run: Run | None) -> str:
    if task is not None:
        return f"{task.name}  {task.status.value}  {title_of(task)}"
    if run is None:
        return "waiting for a run"
    how = f"{run.outcome.value}" if run.outcome else "not ended"
    reason = f": {one_line(run.reason, REASON_WIDTH)}" if run.reason else ""
    target, sandbox = one_line(run.target, 60), f"sandbox {one_line(run.sandbox, 40)}"
    return f"run {run.id}  {target}  {format_local(run.started_at)}  {sandbox}  {how}{reason}"


def find_sessions(
    store: Store, name: str | None, attempt: int | None, *, may_wait: bool = False
) -> SessionList:
    """Find the sessions of a task, a run or the newest run; `may_wait`: there may be none yet."""
    limit = 0 if attempt else SESSIONS
    if name is None:
        run = next(iter(store.runs.newest(limit=1)), None)
    else:
        run = store.runs.get(RunId(name))
    if run is not None:
        sessions = store.sessions.select(run=run.id, limit=limit)
        return SessionList(sessions=_chosen(sessions, attempt), run=run)
    if name is None and may_wait:
        return SessionList()
    if name is None:
        raise Missing("nothing has run yet", hint="ralph run")
    try:
        task = store.tasks.find(name)
    except NoSuchTask as error:
        shown = one_line(name, 60)
        raise NoSuchTask(f"no task or run is called {shown}", hint=error.hint) from error
    sessions = store.sessions.select(task=task.id, limit=limit)
    return SessionList(sessions=_chosen(sessions, attempt), task=task)


def _name(store: Store, task: TaskId) -> str:
    found = store.tasks.get(task)
    return task if found is None else found.name


def _chosen(sessions: list[Session], attempt: int | None) -> list[Session]:
    if attempt is None:
        return sessions
    chosen = [session for session in sessions if session.attempt == attempt]
    if not chosen:
        known = ", ".join(sorted({str(session.attempt) for session in sessions})) or "none yet"
        raise Missing(f"there is no attempt {attempt}", hint=f"attempts: {known}")
    return chosen


def _attempt_lines(
    attempt: Attempt, style: TerminalStyle, *, root: str, name: str
) -> Iterator[str]:
    session = attempt.session
    took = f" after {format_duration(session.duration_s)}" if session.ended_at else ""
    task = f"{name}  " if name else ""
    yield ""
    yield (
        f"{task}attempt {session.attempt}  {format_local(session.started_at)}"
        f"  {_agent(session, 40)}  {attempt.how}{took}{_cost(attempt.spent)}"
    )
    if session.ending and session.ending.detail:
        yield f"  {one_line(session.ending.detail, REASON_WIDTH)}"
    if session.given:
        yield f"  brief    {', '.join(map(_given, session.given))} tokens"
    if session.ending and session.ending.denied:
        yield f"  denied   {denials(Counter(session.ending.denied))}"
    if session.gates:
        yield f"  gates    {', '.join(map(gate_text, session.gates))}"
    for gate in session.gates:
        if not gate.passed:
            yield from (f"           {line}" for line in multi_line(gate.output).splitlines())
            yield from _log(gate.log, style, root)
    for segment in attempt.segments:
        yield f"  handed over: {one_line(segment.reason, 120)}"
        yield from _log(segment.log, style, root)
    for check in attempt.checks:
        yield f"  {check_line(check)}"
        yield from _log(check.log, style, root)
    yield from (f"  {line}" for line in outcome_lines(attempt))
    if attempt.kept:
        yield f"  kept     {attempt.kept}"
    yield from _log(session.log, style, root)


def _log(log: str, style: TerminalStyle, root: str) -> Iterator[str]:
    if log:
        path = os.path.join(root, log)
        gone = "" if os.path.exists(path) else f"  ({_why_gone(path)})"
        yield style.dim(f"  log      {style.path(path)}{gone}")


def _why_gone(path: str) -> str:
    from ralph.wiring.retention import was_removed

    return "removed by [retention]" if was_removed(path) else "gone"


def _given(given: SectionUsage) -> str:
    of = f" of {given.of:,}" if given.is_cut else ""
    return f"{one_line(given.name, 20)} {given.tokens:,}{of}"


def attempt_line(attempt: Attempt) -> str:
    """How an attempt went, in one line."""
    session = attempt.session
    how = attempt.how if session.ending else "running"
    took = f"  {format_duration(session.duration_s)}" if session.ended_at else ""
    detail = session.ending.detail if session.ending else ""
    why = f"  {one_line(detail, REASON_WIDTH)}" if detail else ""
    started, agent = format_local(session.started_at), _agent(session, 20)
    return f"{session.attempt}  {started}  {agent}  {how}{took}{_cost(attempt.spent)}{why}"


def outcome_lines(attempt: Attempt) -> Iterator[str]:
    """The commits of an attempt, its chain of evidence and its verdict."""
    session = attempt.session
    if session.commits:
        yield f"commits  {' '.join(commit[:12] for commit in session.commits)}"
    if session.ending:
        yield f"evidence {chain_text(attempt.evidence)}"
    if session.verdict:
        said = session.verdict.removeprefix(f"attempt {session.attempt}: ")
        yield f"verdict  {one_line(said, REASON_WIDTH)}"


def check_line(check: WorkCheck) -> str:
    """Which agent checked the work of an attempt, and what came of it, in one line."""
    ending = check.ending
    if check.passed is not None:
        how = "passed" if check.passed else "failed"
    else:
        how = ending.ended.value.replace("_", " ") if ending else "at work"
    took = f" after {format_duration(check.duration_s)}" if check.ended_at else ""
    said = check.reason or (ending.detail if ending else "")
    why = f"  {one_line(said, REASON_WIDTH)}" if said else ""
    cost = _cost(session_cost(ending.cost_usd, estimated=ending.estimated)) if ending else ""
    what = "reviewed" if check.role is SessionRole.REVIEW else "checked"
    return f"{what:<8} {_agent(check, 40)}  {how}{took}{cost}{why}"


def log_line(entry: LogEntry) -> str:
    return f"{format_local(entry.timestamp)}  {one_line(entry.message)}"


def _agent(session: Session | WorkCheck, width: int) -> str:
    """The agent and the model that it ran on, or else the one that was requested."""
    model = (session.ending.model if session.ending else "") or session.model
    return " ".join(filter(None, (one_line(session.agent, width), one_line(model, 60))))


def _cost(spent: CostSummary) -> str:
    """The cost of all ended sessions of an attempt."""
    return f"  {cost_text(spent)}" if spent.sessions else ""
