"""The report of a run: what was asked, what is done and what proves it, and what needs a person.

All of it is what Ralph judged. What an agent said of its own work is not in it.
"""

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.cost import CostSummary
from ralph.core.errors import Missing
from ralph.core.ids import RunId, TaskId
from ralph.core.run import Subtree, describe_target
from ralph.core.safe_text import one_line
from ralph.core.task import OPEN, Task, TaskStatus
from ralph.core.times import format_duration, to_iso
from ralph.core.verdict import AttemptVerdict
from ralph.ports.workspace import ChangeReader, FileChange
from ralph.store.claims import Counts
from ralph.store.costs import CostFilter, CostGrouping
from ralph.store.runs import Run
from ralph.store.screens import SessionBar
from ralph.ui.attempt_view import Attempt, Evidence, EvidenceState, chain_text
from ralph.ui.formatting import cost_text, count_text, first_line, format_time, parse_time
from ralph.ui.needs import Need
from ralph.ui.project_view import Graph, Overview, ProjectView

MOST_TASKS: Final = 200
"""Of each kind; a longer report is not read."""
MOST_FILES: Final = 100
MARGIN_S: Final = 86_400.0
"""A commit may look older than its run, since clocks differ."""
MOST_BARS: Final = 2000
MOST_NEXT: Final = 12


class ReportedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that the run worked on, and the attempt that decided about it."""

    id: TaskId
    name: str
    title: str
    status: TaskStatus
    reason: str = ""
    attempts: int = 0
    """Those of this run."""
    evidence: tuple[Evidence, ...] = ()
    """Of the accepted attempt, else of the last one."""
    note: str = ""
    """How it was done, where no attempt of this run was accepted."""
    agent: str = ""
    model: str = ""
    spent: CostSummary = CostSummary()
    duration_s: float = 0.0
    """Of its sessions."""
    commits: tuple[str, ...] = ()
    """Of a done task, those that are on a branch."""
    kept: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    run: Run
    is_alive: bool
    asked: str
    """The target, and what it says."""
    counts: Counts
    """Of all tasks, now."""
    done: tuple[ReportedTask, ...] = ()
    failed: tuple[ReportedTask, ...] = ()
    unsettled: tuple[ReportedTask, ...] = ()
    """What the run began and did not finish."""
    needs: tuple[Need, ...] = ()
    spent: CostSummary = CostSummary()
    by_agent: tuple[tuple[str, CostSummary], ...] = ()
    elapsed_s: float = 0.0
    worked_s: float = 0.0
    """By all sessions together."""
    files: tuple[FileChange, ...] = ()
    next: tuple[str, ...] = ()
    """The commands to go on with."""
    bars: tuple[SessionBar, ...] = ()
    graph: Graph = Graph()


def read_report(view: ProjectView, name: str | None, changes: ChangeReader, now: float) -> Report:
    """The report of a run, by default the newest that does not plan or validate. Missing if there
    is none."""
    run = _find_run(view, name)
    overview = view.overview(most_needs=MOST_TASKS)
    bars = tuple(view.bars(run.id, limit=MOST_BARS))

    def reported(*statuses: TaskStatus) -> tuple[ReportedTask, ...]:
        tasks = view.store.screens.run_tasks(run.id, {*statuses}, MOST_TASKS)
        return tuple(_task(view, run.id, task) for task in tasks)

    done, failed = reported(TaskStatus.DONE), reported(TaskStatus.FAILED)
    unsettled = reported(*OPEN)
    done = _with_landed(done, run, changes)
    commits = [commit for one in done for commit in one.commits]
    ended = parse_time(run.ended_at)
    last = max((parse_time(bar.ended_at) or now for bar in bars), default=now)
    is_alive = any(one.id == run.id for one in overview.runs)
    end = ended if ended is not None else now if is_alive else last
    started = parse_time(run.started_at)
    return Report(
        run=run,
        is_alive=is_alive,
        asked=_asked(view, run),
        counts=overview.counts,
        done=done,
        failed=failed,
        unsettled=unsettled,
        needs=overview.needs,
        spent=view.store.costs.total(CostFilter(run=run.id)),
        by_agent=tuple(view.store.costs.sums(CostGrouping.AGENT, CostFilter(run=run.id))),
        elapsed_s=max(0.0, end - started) if started is not None else 0.0,
        worked_s=sum(one.duration_s for one in (*done, *failed, *unsettled)),
        files=tuple(changes.stat(commits)) if commits else (),
        next=_next(overview, len(commits), is_alive=is_alive),
        bars=bars,
        graph=view.graph(),
    )


def _find_run(view: ProjectView, name: str | None) -> Run:
    if name is not None:
        return view.store.runs.find(name)
    newest = view.store.runs.newest(limit=50)
    if not newest:
        raise Missing("nothing has run yet", hint="ralph run")
    planning = {describe_target(Subtree(task)) for task in view.store.tasks.planning()}
    return next((run for run in newest if run.target not in planning), newest[0])


def _asked(view: ProjectView, run: Run) -> str:
    kind, _, name = run.target.partition(" ")
    if kind == "task" and (task := view.store.tasks.get(TaskId(name))):
        return f"{run.target}: {task.title}"
    if kind == "feature" and (feature := view.store.features.get(name)) and feature.spec_path:
        return f"{run.target}, by {feature.spec_path}"
    return run.target


def _task(view: ProjectView, run: RunId, task: Task) -> ReportedTask:
    attempts = [*view.attempts(task.id)]
    found = [one for one in attempts if one.session.run_id == run]
    decisive = next((one for one in reversed(found) if one.is_accepted), found[-1])
    session, is_done = decisive.session, task.status is TaskStatus.DONE
    return ReportedTask(
        id=task.id,
        name=task.name,
        title=task.title,
        status=task.status,
        reason=first_line(task.reason),
        attempts=len(found),
        evidence=decisive.evidence,
        note=_note(attempts) if is_done and not decisive.is_accepted else "",
        agent=session.agent,
        model=(session.ending.model if session.ending else "") or session.model,
        spent=view.store.costs.total(CostFilter(run=run, task=task.id)),
        duration_s=sum(_took_s(one) for one in found),
        # A later attempt builds on what an earlier one has committed.
        commits=tuple(dict.fromkeys(c for one in found for c in one.session.commits)),
        kept=next((one.kept for one in reversed(found) if one.kept), ""),
    )


def _with_landed(
    tasks: Sequence[ReportedTask], run: Run, changes: ChangeReader
) -> tuple[ReportedTask, ...]:
    """The tasks with those of their commits that are on a branch."""
    commits = [commit for task in tasks for commit in task.commits]
    begun = parse_time(run.started_at) or 0.0
    landed = changes.on_branches(commits, to_iso(max(0.0, begun - MARGIN_S)))
    return tuple(
        replace(task, commits=tuple(one for one in task.commits if one in landed)) for task in tasks
    )


def _note(attempts: Sequence[Attempt]) -> str:
    if any(one.is_accepted for one in attempts):
        return "accepted in another run"
    if any(one.session.judged is AttemptVerdict.SPLIT for one in attempts):
        return "split into other tasks, which are done"
    return "marked done by a person; Ralph accepted no attempt"


def _took_s(attempt: Attempt) -> float:
    others = sum(one.duration_s for one in (*attempt.segments, *attempt.checks))
    return others + attempt.session.duration_s


def _next(overview: Overview, commits: int, *, is_alive: bool) -> tuple[str, ...]:
    steps = [f"git log --notes='ralph*' -{commits}"] if commits else []
    steps += [one.answers[0].command for one in overview.needs if one.answers]
    if is_alive:
        steps.append("ralph watch")
    elif overview.counts.pending or overview.counts.in_progress:
        steps.append("ralph run")
    return tuple(dict.fromkeys(steps))[:MOST_NEXT]


# As Markdown


def report_markdown(report: Report, now: float) -> Iterator[str]:
    """The report as lines of Markdown. Texts of agents are escaped."""
    run = report.run
    yield f"# Run {run.id}: {outcome_text(report)}"
    yield ""
    yield f"**Asked:** {_text(report.asked)}"
    yield ""
    for fact in figures(report, now):
        yield f"- {_text(fact)}"
    yield from _section("Done, and what proves it", map(_done, report.done))
    yield from _section("Failed", map(_failed, report.failed))
    yield from _section("Not finished", map(_unsettled, report.unsettled))
    yield from _section("Needs you", (line for one in report.needs for line in _need(one)))
    yield from _section("Changes", _files(report.files))
    yield from _section("Next", (f"    {command}" for command in report.next))


def outcome_text(report: Report) -> str:
    run = report.run
    if run.outcome is None:
        return "at work" if report.is_alive else "died"
    reason = f" ({one_line(run.reason, 300)})" if run.reason else ""
    return f"{run.outcome.value.replace('-', ' ')}{reason}"


def figures(report: Report, now: float) -> Iterator[str]:
    """Tasks, time and cost, a line each."""
    run, counts = report.run, report.counts
    kinds = ((report.done, "done"), (report.failed, "failed"), (report.unsettled, "not finished"))
    shown = [f"{len(tasks)} {word}" for tasks, word in kinds if tasks]
    yield f"tasks of this run: {', '.join(shown) or 'none'}"
    yield f"the project: {counts.done} of {count_text(counts.total, 'task')} done"
    began = format_time(parse_time(run.started_at), now)
    sessions = f"{format_duration(report.worked_s)} by its sessions"
    yield f"began {began}, took {format_duration(report.elapsed_s)}; {sessions}"
    agents = ", ".join(
        f"{one_line(name, 40)} {cost_text(spent)}" for name, spent in report.by_agent
    )
    cost = f"cost {report.spent}" if report.spent.sessions else "no cost"
    yield cost + (f" ({agents})" if len(report.by_agent) > 1 else "")
    yield f"sandbox {one_line(run.sandbox, 40)}"


def effort_text(task: ReportedTask) -> str:
    """`2 attempts, 3m 12s, $0.21, codex`"""
    agent = " ".join(filter(None, (one_line(task.agent, 40), one_line(task.model, 60))))
    took = format_duration(task.duration_s)
    facts = (count_text(task.attempts, "attempt"), took, cost_text(task.spent), agent)
    return ", ".join(filter(None, facts))


def proof_lines(task: ReportedTask) -> Iterator[str]:
    """Each step of the chain that was reached, with what it found."""
    if task.note:
        yield task.note
        return
    for one in task.evidence:
        if one.state is not EvidenceState.ABSENT:
            detail = f": {one.detail}" if one.detail else ""
            yield f"{one.step.value} {one.state.value}{detail}"


def change_text(files: Sequence[FileChange]) -> str:
    """`3 files, 120 lines added, 2 removed`"""
    added, removed = sum(one.added for one in files), sum(one.removed for one in files)
    return f"{count_text(len(files), 'file')}, {count_text(added, 'line')} added, {removed} removed"


def _section(heading: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    found = [*lines]
    if found:
        yield from ("", f"## {heading}", "", *found)


def _done(task: ReportedTask) -> str:
    return f"{_task_line(task)}\n  {_text('; '.join(proof_lines(task)))}"


def _failed(task: ReportedTask) -> str:
    why = f"\n  {_text(task.reason)}" if task.reason else ""
    command = f"ralph task apply {quote(task.name)}"
    kept = f"\n  its work: {_code(task.kept)}, brought back by {_code(command)}"
    chain = f"\n  {chain_text(task.evidence)}" if task.evidence else ""
    return _task_line(task) + why + chain + (kept if task.kept else "")


def _task_line(task: ReportedTask) -> str:
    return f"- **{_text(task.name)}** {_text(task.title)} ({_text(effort_text(task))})"


def _unsettled(task: ReportedTask) -> str:
    why = f": {_text(task.reason)}" if task.reason else ""
    status = task.status.value.replace("_", " ")
    return (
        f"- **{_text(task.name)}** {_text(task.title)} ({status}, {_text(effort_text(task))}){why}"
    )


def _need(need: Need) -> Iterator[str]:
    title = f" {_text(need.title)}" if need.title else ""
    yield f"- {need.kind.value}: **{_text(need.subject)}**{title}: {_text(need.reason)}"
    yield from (f"  - {_code(answer.command)}" for answer in need.answers)


def _files(files: Sequence[FileChange]) -> Iterator[str]:
    if files:
        yield change_text(files)
        yield ""
    for one in files[:MOST_FILES]:
        yield f"- {_code(one.path)} +{one.added} -{one.removed}"
    if len(files) > MOST_FILES:
        yield f"- and {len(files) - MOST_FILES} more"


def _code(text: str) -> str:
    return f"`{one_line(text, 200).replace('`', ' ')}`"


def _text(text: str) -> str:
    """One line of plain text: no markup that an agent wrote takes effect."""
    return "".join(f"\\{char}" if char in "\\`*[]<>#" else char for char in one_line(text))
