"""The logs of a story pipeline: activity, errors, progress, and a summary for each iteration."""

import os
from collections.abc import Callable
from time import localtime, strftime

from ralph.core.errors import RalphError
from ralph.core.moment import epoch
from ralph.core.safe_text import one_line
from ralph.core.sigils import read_sigils
from ralph.core.task import Task
from ralph.core.transitions import Accepted, GaveUp, Rejected, Released, Struck
from ralph.documents import activity_log, errors_log, guardrails, progress_log
from ralph.documents.activity_log import Iteration, event_line, with_summary
from ralph.documents.progress_log import Checked, Progress, entry, last_words
from ralph.documents.run_summary import RunSummary, render
from ralph.ports.chronicle import Account
from ralph.ports.clock import Clock
from ralph.ports.library import Library
from ralph.workflows.pipeline import Pipeline


def create_missing(library: Library, pipeline: Pipeline, now_s: float) -> None:
    """Make what is not there of the files that sessions are told of. Before a wall is built, since
    behind it no file can be made beside Ralph's own."""
    for path, text in (
        (pipeline.progress, progress_log.fresh(_stamp(now_s))),
        (pipeline.guardrails, guardrails.FRESH),
        (pipeline.errors, errors_log.FRESH),
        (pipeline.activity, activity_log.FRESH),
    ):
        if not library.exists(path):
            library.put(path, text.encode())


def write_summary(
    library: Library, root: str, mode: str, account: Account, clock: Clock
) -> RunSummary:
    """What an iteration came to, in a file beside its log."""
    session = account.session
    ended = epoch(session.ended_at) if session.ended_at else clock.now()
    summary = RunSummary(
        run=session.run_id,
        iteration=account.iteration,
        mode=mode,
        story=_titled(account.task),
        started=_stamp(epoch(session.started_at)),
        ended=_stamp(ended),
        duration_s=session.duration_s,
        status=_status(account),
        log=_seen(session.log, root),
        head_before=session.before.head if session.before else "",
        head_after=account.head,
        commits=account.commits,
        committed=account.committed,
        uncommitted=account.uncommitted,
    )
    path = _seen(_summary_path(session.log), root)
    if library.content(path) is None:
        library.put(path, render(summary).encode())
    return summary


class Summaries:
    """`Chronicle` of a run on tasks: a summary for each iteration, and no logs."""

    def __init__(self, library: Library, root: str, clock: Clock) -> None:
        self.library = library
        self.root = root
        self.clock = clock

    def accepted(self, account: Account) -> str:
        """Nothing of it joins the commit."""
        del account
        return ""

    def iterated(self, account: Account) -> str:
        """The summary."""
        return _safely(lambda: write_summary(self.library, self.root, "run", account, self.clock))


class Logs:
    """`Chronicle` on the files of a pipeline. They are only ever added to."""

    def __init__(
        self,
        *,
        library: Library,
        pipeline: Pipeline,
        clock: Clock,
        mode: str,
        gates: dict[str, str],
    ) -> None:
        self.library = library
        self.pipeline = pipeline
        self.clock = clock
        self.mode = mode
        self.gates = gates
        """The command of each gate."""
        self.after: Callable[[Account], None] = lambda _: None
        """What else is to happen at the end of an iteration."""

    def begin(self, task: Task, iteration: int) -> None:
        """A session is about to begin."""
        self._event(f"ITERATION {iteration} start (mode={self.mode} story={_name(task)})")

    def accepted(self, account: Account) -> str:
        """The progress entry, which joins the commit; and a word about what was left to be
        committed."""
        return _safely(lambda: self._progress(account)) or self._uncommitted(account)

    def _uncommitted(self, account: Account) -> str:
        left = [one for one in account.uncommitted if not one.endswith(self.pipeline.tracked)]
        if self.pipeline.no_commit or self.mode != "build" or not left:
            return ""
        names = ", ".join(one_line(path, 60) for path in left[:5])
        more = f" and {len(left) - 5} more" if len(left) > 5 else ""
        said = f"{_name(account.task)}: the session left uncommitted changes: {names}{more}"
        _safely(lambda: self._event(f"WARNING {said}"))
        return f"{said}; Ralph commits them"

    def _progress(self, account: Account) -> None:
        session, p = account.session, self.pipeline
        message = session.ending.message if session.ending else ""
        said = read_sigils(message)
        told = Progress(
            time=_stamp(self.clock.now()),
            story=_titled(account.task),
            run=session.run_id,
            iteration=account.iteration,
            log=self._seen(session.log),
            summary=self._seen(_summary_path(session.log)),
            commit=account.commits[-1] if account.commits else self._to_be_committed(),
            uncommitted=account.uncommitted if p.no_commit else (),
            checked=tuple(
                Checked(command=self.gates.get(one.name, one.name), passed=one.passed)
                for one in session.gates
            ),
            files=tuple(dict.fromkeys((*account.committed, *account.uncommitted))),
            done=said.journal or last_words(message) or account.verdict.message,
            learned=tuple(one.title or one_line(one.text, 200) for one in said.knowledge),
        )
        fresh = progress_log.fresh(told.time)
        self.library.append(p.progress, entry(told), fresh=fresh)

    def _to_be_committed(self) -> str:
        return "" if self.pipeline.no_commit else "the one that has this entry"

    def iterated(self, account: Account) -> str:
        """The summary, and a line in each log."""
        trouble = _safely(lambda: self._write_down(account))
        self.after(account)
        return trouble

    def _write_down(self, account: Account) -> None:
        session, task, status = account.session, account.task, _status(account)
        summary = write_summary(self.library, self.pipeline.root, self.mode, account, self.clock)
        line = Iteration(
            time=summary.ended,
            run=session.run_id,
            iteration=account.iteration,
            mode=self.mode,
            story=_name(task),
            duration_s=session.duration_s,
            status=status,
        )
        self._summarise(line)
        self._event(f"ITERATION {account.iteration} end (story={_name(task)} status={status})")
        if account.uncommitted and not self.pipeline.no_commit:
            self._event(f"WARNING uncommitted: {', '.join(account.uncommitted[:10])}")
        if status not in ("success", "released"):
            where = f"run={session.run_id} iter={account.iteration} story={_name(task)}"
            message = f"{where}: {status}: {account.verdict.message}"
            self._error(message)

    def _summarise(self, line: Iteration) -> None:
        path = self.pipeline.activity
        try:
            self.library.change(path, lambda text: with_summary(text, line))
        except RalphError:
            # It has grown too long to be taken apart: the line goes to its end.
            text = activity_log.summary_line(line) + "\n"
            self.library.append(path, text, fresh=activity_log.FRESH)

    def _event(self, message: str) -> None:
        line = event_line(_stamp(self.clock.now()), message)
        self.library.append(self.pipeline.activity, line, fresh=activity_log.FRESH)

    def _error(self, message: str) -> None:
        line = event_line(_stamp(self.clock.now()), message)
        self.library.append(self.pipeline.errors, line, fresh=errors_log.FRESH)

    def _seen(self, path: str) -> str:
        return _seen(path, self.pipeline.root)


def _stamp(epoch_s: float) -> str:
    return strftime("%Y-%m-%d %H:%M:%S", localtime(epoch_s))


def _seen(path: str, root: str) -> str:
    """From the project's root, if it is there."""
    return os.path.relpath(path, root) if os.path.isabs(path) else path


def _safely(work: Callable[[], object]) -> str:
    try:
        work()
    except RalphError as error:
        return str(error)
    return ""


def _summary_path(log: str) -> str:
    return f"{os.path.splitext(log)[0]}.md"


def _name(task: Task) -> str:
    return task.alias or task.id


def _titled(task: Task) -> str:
    return f"{_name(task)}: {task.title}"


def _status(account: Account) -> str:
    """In a word."""
    match account.verdict.transition:
        case Accepted():
            return "success"
        case Rejected():
            return "rejected"
        case GaveUp():
            return "failed"
        case Struck():
            return "error"
        case Released():
            return "released"
        case other:
            return type(other).__name__.lower()
