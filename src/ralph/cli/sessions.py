"""The sessions of one task or one run, in words."""

import os
from collections import Counter
from collections.abc import Sequence

import msgspec

from ralph.cli.screen import Screen
from ralph.cli.task.sections import check_line, cost_of, log_line, looked, model_of, outcome_lines
from ralph.cli.task.telling import titled
from ralph.cli.times import local
from ralph.core.duration import spoken
from ralph.core.errors import Missing, NoSuchTask
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, SessionId, TaskId
from ralph.core.safe_text import one_line
from ralph.core.sections import Given
from ralph.core.spent import Spent
from ralph.core.task import Task
from ralph.ports.history import Check, Run, Session
from ralph.ports.ledger import Asked
from ralph.ports.stints import Stint
from ralph.ports.store import LogEntry, Store
from ralph.ui.wording import denials

SESSIONS = 100
"""A run of a night has hundreds; its newest are what one looks for."""


class Sessions(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, and to whom."""

    sessions: list[Session]
    task: Task | None = None
    run: Run | None = None
    spent: Spent = Spent()
    entries: list[LogEntry] = []
    checks: dict[SessionId, list[Check]] = {}
    """Of each session."""
    stints: dict[SessionId, list[Stint]] = {}
    """The same."""
    names: dict[TaskId, str] = {}
    """What people call the tasks of a run's sessions."""

    @property
    def task_id(self) -> TaskId | None:
        """Set when they are those of a task."""
        return self.task.id if self.task else None

    @property
    def run_id(self) -> RunId | None:
        """Set when they are those of a run."""
        return self.run.id if self.run else None

    @property
    def newest_log(self) -> str:
        """The raw log of the last session, or of the check that is at work on it."""
        if not self.sessions:
            return ""
        last = self.sessions[-1]
        return next((one.log for one in self._open_checks), last.log)

    @property
    def _open_checks(self) -> list[Check]:
        last = self.sessions[-1]
        return [one for one in self.checks.get(last.id, ()) if one.ended_at is None]

    @property
    def is_open(self) -> bool:
        """Is the last session still at work, or somebody who checks it?"""
        if not self.sessions:
            return False
        return self.sessions[-1].ended_at is None or bool(self._open_checks)

    def lines(self, screen: Screen, root: str) -> list[str]:
        """As a person reads it."""
        lines = [screen.bold(self._heading())]
        if self.spent.sessions > 1:
            lines.append(f"cost {self.spent}")
        if not self.sessions and (self.task or self.run):
            lines.append("no session yet")
        for session in self.sessions:
            name = "" if self.task is not None else self.names.get(session.task_id, "")
            checks, stints = self.checks.get(session.id, ()), self.stints.get(session.id, ())
            lines += _session(session, (*stints, *checks), screen, root, name=name)
        if self.entries:
            lines += ["", *(log_line(entry) for entry in self.entries)]
        return lines

    def _heading(self) -> str:
        if self.task is not None:
            return f"{self.task.name}  {self.task.status.value}  {titled(self.task)}"
        run = self.run
        if run is None:
            return "waiting for a run"
        how = f"{run.outcome.value}" if run.outcome else "not ended"
        reason = f": {one_line(run.reason, 160)}" if run.reason else ""
        target, wall = one_line(run.target, 60), f"sandbox {one_line(run.sandbox, 40)}"
        return f"run {run.id}  {target}  {local(run.started_at)}  {wall}  {how}{reason}"


def find_sessions(
    store: Store, name: str | None, attempt: int | None, *, may_wait: bool = False
) -> Sessions:
    """Those of a task, of a run, or of the newest run; `may_wait` for the first one."""
    if name is None:
        newest = store.runs(limit=1)
        if newest:
            return _of_run(store, newest[0], attempt)
        if may_wait:
            return Sessions(sessions=[])
        raise Missing("nothing has run yet", hint="ralph run")
    run = store.run(RunId(name))
    if run is not None:
        return _of_run(store, run, attempt)
    try:
        task = store.find(name)
    except NoSuchTask as error:
        shown = one_line(name, 60)
        raise NoSuchTask(f"no task or run is called {shown}", hint=error.hint) from error
    sessions = _chosen(store.sessions(task=task.id, limit=0 if attempt else SESSIONS), attempt)
    return Sessions(
        task=task,
        sessions=sessions,
        checks=_checks(store, sessions),
        stints=_stints(store, sessions),
        entries=store.logs(task.id, 20),
        spent=store.spent(Asked(task=task.id)),
    )


def _of_run(store: Store, run: Run, attempt: int | None) -> Sessions:
    sessions = _chosen(store.sessions(run=run.id, limit=0 if attempt else SESSIONS), attempt)
    return Sessions(
        run=run,
        sessions=sessions,
        names={one: _name(store, one) for one in {one.task_id for one in sessions}},
        checks=_checks(store, sessions),
        stints=_stints(store, sessions),
        spent=store.spent(Asked(run=run.id)),
    )


def _name(store: Store, task: TaskId) -> str:
    try:
        return store.find(task).name
    except NoSuchTask:
        return task


def _stints(store: Store, sessions: list[Session]) -> dict[SessionId, list[Stint]]:
    return {session.id: store.stints(session.id) for session in sessions}


def _checks(store: Store, sessions: list[Session]) -> dict[SessionId, list[Check]]:
    return {session.id: store.checks(session.id) for session in sessions}


def _chosen(sessions: list[Session], attempt: int | None) -> list[Session]:
    if attempt is None:
        return sessions
    chosen = [session for session in sessions if session.attempt == attempt]
    if not chosen:
        known = ", ".join(sorted({str(session.attempt) for session in sessions})) or "none yet"
        raise Missing(f"there is no attempt {attempt}", hint=f"attempts: {known}")
    return chosen


def _session(
    session: Session,
    others: Sequence[Stint | Check],
    screen: Screen,
    root: str,
    *,
    name: str,
) -> list[str]:
    how = session.ending.ended.value.replace("_", " ") if session.ending else "at work"
    took = f" after {spoken(session.duration_s)}" if session.ended_at else ""
    task = f"{name}  " if name else ""
    stints = [one for one in others if isinstance(one, Stint)]
    paid = f"  {words}" if (words := cost_of(session, stints)) else ""
    agent = " ".join(filter(None, (one_line(session.agent, 40), model_of(session))))
    lines = [
        "",
        f"{task}attempt {session.attempt}  {local(session.started_at)}  {agent}  {how}{took}{paid}",
    ]
    if session.ending and session.ending.detail:
        lines.append(f"  {one_line(session.ending.detail, 200)}")
    if session.given:
        lines.append(f"  told     {', '.join(map(_told, session.given))} tokens")
    if session.ending and session.ending.denied:
        lines.append(f"  denied   {denials(Counter(session.ending.denied))}")
    if session.gates:
        lines.append(f"  gates    {', '.join(map(_gate, session.gates))}")
    for other in others:
        if isinstance(other, Stint):
            word = f"handed over: {one_line(other.reason, 120)}"
        else:
            word = f"{looked(other)} {check_line(other)}"
        lines += [f"  {word}", *_log(other.log, screen, root)]
    lines += [f"  {line}" for line in outcome_lines(session)]
    return lines + _log(session.log, screen, root)


def _log(log: str, screen: Screen, root: str) -> list[str]:
    if not log:
        return []
    path = os.path.join(root, log)
    gone = "" if os.path.exists(path) else f"  ({_why_gone(path)})"
    return [screen.dim(f"  log      {screen.path(path)}{gone}")]


def _why_gone(path: str) -> str:
    from ralph.adapters.library.run_files import group_of, removed_from

    folder, name = os.path.split(path)
    return "removed by [retention]" if group_of(name) in removed_from(folder) else "gone"


def _told(given: Given) -> str:
    of = f" of {given.of:,}" if given.is_cut else ""
    return f"{one_line(given.name, 20)} {given.tokens:,}{of}"


def _gate(result: GateResult) -> str:
    how = "out of time" if result.code is None else f"exit {result.code}"
    return f"{one_line(result.name, 40)} {'passed' if result.passed else f'failed ({how})'}"
