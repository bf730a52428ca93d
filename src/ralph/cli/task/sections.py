"""The parts of a page about a task."""

from collections.abc import Mapping, Sequence

from ralph.cli.screen import Screen
from ralph.cli.task.telling import titled
from ralph.cli.times import local
from ralph.core.duration import spoken
from ralph.core.ids import SessionId
from ralph.core.role import Role
from ralph.core.safe_text import block, one_line
from ralph.core.spent import Spent, dollars, one_session
from ralph.core.task import Task
from ralph.ports.history import Check, Session
from ralph.ports.stints import Stint
from ralph.ports.store import LogEntry

SHOWN = 20
DESCRIPTION = 20_000
"""Longer descriptions are cut on the screen; `--json` has all of it."""


def fields(
    task: Task, feature: str | None, parent: Task | None, spent: Spent, screen: Screen
) -> list[str]:
    """What is known about the task itself."""
    tries = f"attempt {task.attempt}, {task.retry_count} of {task.max_retries} retries used"
    known = {
        "status": screen.status(task.status),
        "alias": one_line(task.alias or ""),
        "parent": f"{parent.name}  {titled(parent)}" if parent else "",
        "feature": one_line(feature or ""),
        "priority": str(task.priority),
        "tries": f"{tries}, strikes {task.strikes}" if task.strikes else tries,
        "cost": str(spent) if spent.sessions else "",
        "claimed by": one_line(task.claimed_by or ""),
        "verified": one_line(task.verification_status or ""),
        "review": one_line(task.review or ""),
        "change": "" if task.needs_change else "none needed",
        "files": one_line(", ".join(task.files), 2000),
        "reason": _indented(block(task.reason or "")),
        "created": local(task.created_at),
        "updated": local(task.updated_at),
    }
    return [f"{name:<11} {value}" for name, value in known.items() if value]


def _indented(text: str) -> str:
    return text.strip().replace("\n", "\n" + " " * 12)


def description(task: Task, screen: Screen) -> list[str]:
    """The description, cut where it would flood the screen."""
    if not task.description:
        return []
    shown = block(task.description[:DESCRIPTION])
    if len(task.description) > DESCRIPTION:
        shown += f"\n… and {len(task.description) - DESCRIPTION} more characters (--json has all)"
    return ["", screen.bold("description"), shown]


def related(screen: Screen, heading: str, tasks: Sequence[Task], limit: int = SHOWN) -> list[str]:
    """Other tasks, below a heading."""
    if not tasks:
        return []
    shown = tasks[:limit] if limit else tasks
    lines = [f"  {task.name}  {screen.status(task.status, 11)}  {titled(task)}" for task in shown]
    if len(tasks) > len(shown):
        lines.append(f"  … and {len(tasks) - len(shown)} more")
    return ["", screen.bold(heading), *lines]


def attempts(
    screen: Screen,
    sessions: Sequence[Session],
    checks: Mapping[SessionId, Sequence[Check]],
    stints: Mapping[SessionId, Sequence[Stint]],
) -> list[str]:
    """Each attempt: how it went, what it cost, what came of it."""
    if not sessions:
        return []
    lines = ["", screen.bold("attempts")]
    for session in sessions:
        lines.append(f"  {attempt_line(session, stints.get(session.id, ()))}")
        lines += [f"     {looked(one)} {check_line(one)}" for one in checks.get(session.id, ())]
        lines += [f"     {line}" for line in outcome_lines(session)]
    return lines


def outcome_lines(session: Session) -> list[str]:
    """What an attempt came to: its commits, and what was decided about it."""
    lines = []
    if session.commits:
        lines.append(f"commits  {' '.join(commit[:12] for commit in session.commits)}")
    if session.verdict:
        said = session.verdict.removeprefix(f"attempt {session.attempt}: ")
        lines.append(f"verdict  {one_line(said, 200)}")
    return lines


def attempt_line(session: Session, stints: Sequence[Stint] = ()) -> str:
    """How an attempt went, in one line."""
    how = session.ending.ended.value.replace("_", " ") if session.ending else "running"
    took = f"  {spoken(session.duration_s)}" if session.ended_at else ""
    detail = session.ending.detail if session.ending else ""
    why = f"  {one_line(detail, 120)}" if detail else ""
    agent = " ".join(filter(None, (one_line(session.agent, 20), model_of(session))))
    paid = f"  {words}" if (words := cost_of(session, stints)) else ""
    return f"{session.attempt}  {local(session.started_at)}  {agent}  {how}{took}{paid}{why}"


def looked(check: Check) -> str:
    """What was done to the work, in a column."""
    return f"{'reviewed' if check.role is Role.REVIEW else 'checked':<8}"


def check_line(check: Check) -> str:
    """Who looked at the work of an attempt, and what came of it, in one line."""
    ending = check.ending
    if check.passed is not None:
        how = "passed" if check.passed else "failed"
    else:
        how = ending.ended.value.replace("_", " ") if ending else "at work"
    took = f" after {spoken(check.duration_s)}" if check.ended_at else ""
    paid = f"  {words}" if (words := cost_of(check)) else ""
    said = check.reason or (ending.detail if ending else "")
    why = f"  {one_line(said, 200)}" if said else ""
    agent = " ".join(filter(None, (one_line(check.agent, 40), model_of(check))))
    return f"{agent}  {how}{took}{paid}{why}"


def model_of(session: Session | Check) -> str:
    """What it ran on, else what was asked for."""
    return one_line((session.ending.model if session.ending else "") or session.model, 60)


def cost_of(session: Session | Check, stints: Sequence[Stint] = ()) -> str:
    """What it has cost, once it has ended; of a handed-over attempt, all its sessions."""
    ending = session.ending
    if ending is None:
        return ""
    if stints:
        endings = [one.ending for one in (*stints, session) if one.ending is not None]
        total = Spent()
        for one in endings:
            total += one_session(one.cost_usd, estimated=one.estimated)
        return str(total)
    words = dollars(ending.cost_usd, estimated=ending.estimated)
    return "cost unknown" if ending.cost_usd is None else words


def log(screen: Screen, entries: Sequence[LogEntry]) -> list[str]:
    """The newest lines of the task's log."""
    if not entries:
        return []
    return ["", screen.bold("log"), *(f"  {log_line(entry)}" for entry in entries)]


def log_line(entry: LogEntry) -> str:
    """One line of a task's log."""
    return f"{local(entry.timestamp)}  {one_line(entry.message)}"
