"""The logs of a story pipeline: activity, errors, progress, and a summary of each iteration."""

import os
from collections.abc import Callable, Mapping
from time import localtime, strftime
from typing import Final

from ralph.core.errors import RalphError
from ralph.core.message_tags import read_message_tags
from ralph.core.safe_text import first_few_paths, multi_line, one_line
from ralph.core.task import Task
from ralph.core.times import from_iso
from ralph.core.transitions import Accepted, GaveUp, Struck
from ralph.documents import guardrails, log_files
from ralph.documents.log_files import event_line, final_message_text, listed, with_summary
from ralph.ports.clock import Clock
from ralph.ports.project_files import IterationReport, ProjectFiles
from ralph.prompts import prompt
from ralph.workflows.story_pipeline import StoryPipeline

STATUS_WORDS: Final[Mapping[type, str]] = {Accepted: "success", GaveUp: "failed", Struck: "error"}
"""The status of an iteration by its transition; that of others is the transition's name."""


def create_log_files(project_files: ProjectFiles, pipeline: StoryPipeline, now_s: float) -> None:
    """Make the log files that are not there. Called before the sandbox is built, since a sandboxed
    session can make no file beside Ralph's own."""
    for path, text in (
        (pipeline.progress, log_files.fresh_progress_log(_stamp(now_s))),
        (pipeline.guardrails, guardrails.FRESH),
        (pipeline.errors, log_files.FRESH_ERRORS_LOG),
        (pipeline.activity, log_files.FRESH_ACTIVITY_LOG),
    ):
        if not project_files.exists(path):
            project_files.write(path, text.encode())


def summary_line(account: IterationReport, mode: str, ended: str) -> str:
    """`- 2026-03-01 12:00:00 | run=… | iter=1 | mode=build | story=US-001 | …`"""
    fields = {
        "run": account.session.run_id,
        "iter": str(account.iteration),
        "mode": mode,
        "story": account.task.name,
        "duration": f"{account.session.duration_s:.0f}s",
        "status": _status(account),
    }
    # A bar in a value would read as the next field.
    pairs = (f"{name}={one_line(value).replace('|', '/')}" for name, value in fields.items())
    return " | ".join([f"- {ended}", *pairs])


def summary_text(account: IterationReport, mode: str, ended: str, root: str) -> str:
    session, task = account.session, account.task
    facts = {
        "run": session.run_id,
        "iteration": str(account.iteration),
        "mode": mode,
        "story": f"{task.name}: {task.title}",
        "started": _stamp(from_iso(session.started_at)),
        "ended": ended,
        "duration": f"{session.duration_s:.0f}s",
        "status": _status(account),
        "log": _relative_path(session.log, root),
        "before": (session.before.head if session.before else "") or "none",
        "after": account.head or "none",
    }
    return prompt("iteration_summary").format(
        **{name: one_line(value) for name, value in facts.items()},
        commits="\n".join(listed(account.commits)),
        committed="\n".join(listed(account.committed)),
        uncommitted="\n".join(listed(account.uncommitted)),
    )


def write_summary(
    project_files: ProjectFiles, root: str, mode: str, account: IterationReport, clock: Clock
) -> str:
    """Write the summary of an iteration beside its log, once. Returns its line for other logs."""
    session = account.session
    ended = _stamp(from_iso(session.ended_at) if session.ended_at else clock.now())
    path = _relative_path(_summary_path(session.log), root)
    if project_files.read_bytes(path) is None:
        project_files.write(path, summary_text(account, mode, ended, root).encode())
    return summary_line(account, mode, ended)


def progress_entry(
    account: IterationReport, pipeline: StoryPipeline, gates: Mapping[str, str], time: str
) -> str:
    """An accepted attempt in the progress log. `gates` are the commands by their names."""
    session = account.session
    message = session.ending.message if session.ending else ""
    tags = read_message_tags(message)
    coming = "none" if pipeline.no_commit else "the one that has this entry"
    passed = {True: "PASS", False: "FAIL"}
    checks = [
        f"  - Command: {one_line(gates.get(one.name, one.name))} -> {passed[one.passed]}"
        for one in session.gates
    ]
    status = ["- Post-commit status: clean"]
    if pipeline.no_commit and account.uncommitted:
        status = ["- Post-commit status:", *listed(account.uncommitted, "  ")]
    done = tags.journal or final_message_text(message) or account.verdict.message or "not said"
    files = [*dict.fromkeys((*account.committed, *account.uncommitted))]
    learned = [one.title or one_line(one.text, 200) for one in tags.knowledge]
    return prompt("progress_entry").format(
        time=time,
        story=one_line(f"{account.task.name}: {account.task.title}"),
        run=session.run_id,
        iteration=account.iteration,
        log=one_line(_relative_path(session.log, pipeline.root)),
        summary=one_line(_relative_path(_summary_path(session.log), pipeline.root)),
        commit=one_line(account.commits[-1]) if account.commits else coming,
        status="\n".join(status),
        checks="\n".join(checks) or "  - none",
        files="\n".join(listed(files, "  ")),
        # Indented: headings in an agent's words must not become the log's.
        done="\n".join(f"  {line}".rstrip() for line in multi_line(done).strip().splitlines()),
        learnings="\n".join(listed(learned, "  ")),
    )


class SummaryLog:
    """The iteration log of a run on tasks: only a summary of each iteration."""

    def __init__(self, project_files: ProjectFiles, root: str, clock: Clock) -> None:
        self.project_files = project_files
        self.root = root
        self.clock = clock

    def log_accepted(self, account: IterationReport) -> str:
        del account
        return ""

    def log_iteration(self, account: IterationReport) -> str:
        return _safely(
            lambda: write_summary(self.project_files, self.root, "run", account, self.clock)
        )


class PipelineLog:
    def __init__(
        self,
        *,
        project_files: ProjectFiles,
        pipeline: StoryPipeline,
        clock: Clock,
        mode: str,
        gates: dict[str, str],
    ) -> None:
        self.project_files = project_files
        self.pipeline = pipeline
        self.clock = clock
        self.mode = mode
        self.gates = gates
        self.after: Callable[[IterationReport], None] = lambda _: None

    def begin(self, task: Task, iteration: int) -> None:
        self._event(f"ITERATION {iteration} start (mode={self.mode} story={task.name})")

    def log_accepted(self, account: IterationReport) -> str:
        """Write the progress entry, which joins the commit; return a warning about what is left."""
        return _safely(lambda: self._progress(account)) or self._uncommitted(account)

    def _uncommitted(self, account: IterationReport) -> str:
        left = [one for one in account.uncommitted if not one.endswith(self.pipeline.tracked)]
        if self.pipeline.no_commit or self.mode != "build" or not left:
            return ""
        names = first_few_paths(left)
        said = f"{account.task.name}: the session left uncommitted changes: {names}"
        _safely(lambda: self._event(f"WARNING {said}"))
        return f"{said}; Ralph commits them"

    def _progress(self, account: IterationReport) -> None:
        now = _stamp(self.clock.now())
        entry = progress_entry(account, self.pipeline, self.gates, now)
        fresh = log_files.fresh_progress_log(now)
        self.project_files.append(self.pipeline.progress, entry, fresh=fresh)

    def log_iteration(self, account: IterationReport) -> str:
        trouble = _safely(lambda: self._write(account))
        self.after(account)
        return trouble

    def _write(self, account: IterationReport) -> None:
        session, task, status = account.session, account.task, _status(account)
        root, files = self.pipeline.root, self.project_files
        self._summarise(write_summary(files, root, self.mode, account, self.clock))
        self._event(f"ITERATION {account.iteration} end (story={task.name} status={status})")
        if account.uncommitted and not self.pipeline.no_commit:
            self._event(f"WARNING uncommitted: {', '.join(account.uncommitted[:10])}")
        if status not in ("success", "released"):
            where = f"run={session.run_id} iter={account.iteration} story={task.name}"
            message = f"{where}: {status}: {account.verdict.message}"
            self._append(self.pipeline.errors, message, log_files.FRESH_ERRORS_LOG)

    def _summarise(self, line: str) -> None:
        path = self.pipeline.activity
        try:
            self.project_files.change(path, lambda text: with_summary(text, line))
        except RalphError:
            # The log has grown too long to be parsed: the line goes to its end.
            fresh = log_files.FRESH_ACTIVITY_LOG
            self.project_files.append(path, line + "\n", fresh=fresh)

    def _event(self, message: str) -> None:
        self._append(self.pipeline.activity, message, log_files.FRESH_ACTIVITY_LOG)

    def _append(self, path: str, message: str, fresh: str) -> None:
        self.project_files.append(path, event_line(_stamp(self.clock.now()), message), fresh=fresh)


def _stamp(epoch_s: float) -> str:
    return strftime("%Y-%m-%d %H:%M:%S", localtime(epoch_s))


def _relative_path(path: str, root: str) -> str:
    return os.path.relpath(path, root) if os.path.isabs(path) else path


def _safely(work: Callable[[], object]) -> str:
    try:
        work()
    except RalphError as error:
        return str(error)
    return ""


def _summary_path(log: str) -> str:
    return f"{os.path.splitext(log)[0]}.md"


def _status(account: IterationReport) -> str:
    kind = type(account.verdict.transition)
    return STATUS_WORDS.get(kind, kind.__name__.lower())
