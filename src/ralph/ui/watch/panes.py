"""What the tabs show of a project, a need and a task: lines, made of the facts of the view."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.text import Text

from ralph.core.cost import CostSummary
from ralph.core.review_thread import FindingState, LineComment
from ralph.core.safe_text import multi_line, one_line
from ralph.core.task import Task, TaskStatus
from ralph.core.times import format_duration
from ralph.store.sessions import WorkCheck
from ralph.ui.attempt_view import MARKS, Attempt, Evidence, EvidenceState
from ralph.ui.event_text import MessageTone
from ralph.ui.formatting import cost_text, count_text, dollars, first_line, format_time, parse_time
from ralph.ui.needs import Need
from ralph.ui.project_view import FeedItem, Overview, RunFacts, Spending, TaskFacts
from ralph.ui.watch import task_tree
from ralph.ui.watch.line_view import Line, plain

RELATED: Final = 20
VERDICT: Final = re.compile(r"attempt \d+: ")
EVIDENCE_STYLES: Final = {
    EvidenceState.PASSED: "green",
    EvidenceState.FAILED: "red",
    EvidenceState.OPEN: "cyan",
    EvidenceState.UNPROVEN: "yellow",
    EvidenceState.DISPUTED: "yellow",
}
FINDING_STYLES: Final = {
    FindingState.OPEN: "yellow",
    FindingState.ADDRESSED: "green",
    FindingState.DISPUTED: "red",
    FindingState.STALE: "dim",
    FindingState.DISMISSED: "dim",
}
TONE_STYLES: Final = {
    MessageTone.GOOD: "green",
    MessageTone.BAD: "red",
    MessageTone.AGAIN: "yellow",
    MessageTone.WARNING: "yellow",
    MessageTone.NOTE: "",
    MessageTone.DETAIL: "dim",
}
EMPTY: Final = plain("")


def heading(text: str) -> Line:
    return plain(text, "bold")


def paragraphs(text: str, lead: str = "", style: str = "") -> Iterator[Line]:
    """The lines of a longer text, safe to show."""
    for line in multi_line(text).expandtabs(4).splitlines():
        yield plain(f"{lead}{line}".rstrip(), style, hang=len(lead))


def bits(*parts: str) -> str:
    return " · ".join(filter(None, parts))


# The project


def home_lines(state: Overview, runs: Sequence[RunFacts], now: float) -> Iterator[Line]:
    """What needs a person, what is at work, what comes next, and the newest runs."""
    if not state.counts.total:
        yield plain("This project has no tasks yet. Give it some:")
        yield EMPTY
        yield plain('  ralph "what you want"         plans it and builds it', hang=4)
        yield plain("  ralph task add TITLE          one task", hang=4)
        return
    if state.needs:
        yield heading("Needs you")
        for need in state.needs:
            yield from need_lines(need, now)
            yield EMPTY
    else:
        yield plain("Nothing needs you.", "green")
        yield EMPTY
    yield from _working(state)
    if state.ready:
        yield heading("Next")
        yield from (task_line(task) for task in state.ready)
        yield EMPTY
    yield from _runs(runs, now)


def _working(state: Overview) -> Iterator[Line]:
    team = state.team if state.runs else None
    if team is not None:
        yield heading("Workers")
        for one in team.workers:
            took = format_duration(one.elapsed_s // 1) if one.elapsed_s is not None else ""
            what = f"{one.name} {one.title}" if one.task else one.stage or "away"
            yield plain(f"  {one.slot}  {one_line(what, 200)}", hang=4)
            doing = bits(took.replace(".0s", "s"), one.stage if one.task else "", one.doing)
            if doing and one.task:
                yield plain(f"    {one_line(doing, 300)}", "dim", hang=6)
            if one.reason:
                yield plain(f"    {one_line(one.reason, 300)}", "yellow", hang=6)
        merges = bits(count_text(team.merges, "merge"), count_text(team.conflicts, "conflict"))
        yield plain(f"  {merges}", "dim")
        yield EMPTY
    elif state.working:
        yield heading("At work")
        for each in state.working:
            yield task_line(each.task)
            took = format_duration(each.elapsed_s // 1) if each.elapsed_s is not None else ""
            stale = "no run holds it; the next one goes on with it" if each.is_stale else ""
            facts = bits(f"attempt {each.attempt}", took.replace(".0s", "s"), stale)
            yield plain(f"    {facts}", "dim", hang=4)
        yield EMPTY


def _runs(runs: Sequence[RunFacts], now: float) -> Iterator[Line]:
    yield heading("Runs")
    if not runs:
        yield plain("  none yet: ralph run starts one")
    for one in runs:
        run = one.run
        how = run.outcome.value if run.outcome else "at work" if one.is_alive else "died"
        started = format_time(parse_time(run.started_at), now)
        yield plain(f"  {bits(started, how, cost_text(one.spent))}", hang=4)
        reason = first_line(run.reason) if not one.is_alive else ""
        yield plain(f"    {bits(run.id, one_line(run.agent, 30), reason)}", "dim", hang=4)


def need_lines(need: Need, now: float) -> Iterator[Line]:
    """One need with the commands that answer it, in full."""
    text = Text.assemble(("! ", "yellow"), (need.subject, "bold"), f" {need.title}".rstrip())
    if since := format_time(parse_time(need.since), now):
        text.append(f"  {since}", "dim")
    yield Line(text, hang=2)
    if need.reason:
        yield plain(f"  {need.reason}", hang=2)
    for answer in need.answers:
        yield plain(f"    {answer.command}", "cyan", hang=6)


def task_line(task: Task, status: TaskStatus | None = None) -> Line:
    mark, style = task_tree.MARKS[status or task.status]
    text = Text.assemble(
        "  ", (mark, style), f" {one_line(task.name, 40)} {one_line(task.title, 200)}"
    )
    return Line(text, hang=4)


def feed_lines(items: Iterable[FeedItem], now: float) -> Iterator[Line]:
    """What has happened, one line for each event that has a message."""
    for item in items:
        if item.tone is not None:
            at = format_time(parse_time(item.time), now)
            text = Text.assemble((f"{at} ", "dim"), (f"{item.task} ".lstrip(), "bold"))
            text.append(item.text, TONE_STYLES[item.tone])
            yield Line(text, hang=len(at) + 1)


# A task


def facts_line(facts: TaskFacts) -> str:
    """`t-4f2a1b · 1 of 3 retries used · $0.21 · feature login`"""
    task = facts.task
    used = f"{task.retry_count} of {task.max_retries} retries used" if task.retry_count else ""
    cost = cost_text(facts.spent) if facts.spent.sessions else ""
    feature = f"feature {one_line(facts.feature.name, 60)}" if facts.feature else ""
    return bits(task.id, used, cost, feature)


def evidence_lines(facts: TaskFacts, attempts: Sequence[Attempt], now: float) -> Iterator[Line]:
    """The task, its attempts with the evidence for each (the newest first), and what was found."""
    task = facts.task
    yield plain(facts_line(facts), "dim")
    if task.reason:
        # The rest of it is with the attempt that it is about.
        yield from paragraphs(first_line(task.reason) if attempts else task.reason, style="yellow")
    if task.description:
        yield EMPTY
        yield from paragraphs(task.description[:20_000])
    for attempt in reversed(attempts):
        yield EMPTY
        yield from _attempt(attempt, now)
    yield from _findings(facts)
    for text in facts.guidance:
        yield EMPTY
        yield heading("Its next session is told")
        yield from paragraphs(text, "  ")
    for title, tasks in (
        ("Waits for", facts.blockers),
        ("Needed by", facts.dependents),
        ("Parts", facts.children),
    ):
        if tasks:
            yield EMPTY
            yield heading(title)
            yield from map(task_line, tasks)
    # What was decided about an attempt is with it.
    journal = [one for one in facts.log if not VERDICT.match(one.message)]
    if journal:
        yield EMPTY
        yield heading("Journal")
        for entry in journal:
            at = format_time(parse_time(entry.timestamp), now)
            yield plain(f"  {at}  {one_line(entry.message, 2000)}", hang=4)


def _attempt(attempt: Attempt, now: float) -> Iterator[Line]:
    session = attempt.session
    took = format_duration(session.duration_s) if session.ended_at else ""
    cost = cost_text(attempt.spent) if attempt.spent.sessions else ""
    model = (session.ending.model if session.ending else "") or session.model
    agent = one_line(f"{session.agent} {model}".strip(), 60)
    text = Text(f"Attempt {session.attempt}", "bold")
    started = format_time(parse_time(session.started_at), now)
    text.append(f"  {bits(started, agent, attempt.how, took, cost)}", "not bold dim")
    yield Line(text, hang=2)
    yield from (_evidence(one) for one in attempt.evidence if one.state in MARKS)
    if session.verdict:
        said = session.verdict.removeprefix(f"attempt {session.attempt}: ")
        yield plain(f"  {first_line(said)}", hang=2)
    for gate in session.gates:
        if not gate.passed and gate.output:
            yield from paragraphs(gate.output[-8000:], "  │ ", "dim")
    if session.commits:
        yield plain(f"  commits {' '.join(one[:12] for one in session.commits)}", "dim", hang=4)
    if attempt.kept:
        yield plain(f"  kept as {attempt.kept}", "dim", hang=4)


def _evidence(one: Evidence) -> Line:
    style = EVIDENCE_STYLES[one.state]
    text = Text.assemble("  ", (f"{MARKS[one.state]} {one.step.value}", style))
    if one.detail:
        text.append(f"  {one.detail}", "dim")
    return Line(text, hang=4)


def _findings(facts: TaskFacts) -> Iterator[Line]:
    thread = facts.review
    found = thread.reviewers_findings
    if found or facts.comments:
        yield EMPTY
        yield heading("Review")
    for one in found:
        state = thread.state_of(one.id)
        yield Line(Text.assemble("  ", (f"{one.id} {state}", FINDING_STYLES[state])), hang=4)
        yield from paragraphs(one.text, "    ")
        if (gone := thread.dismissed.get(one.id)) is not None:
            yield plain(f"    {one_line(gone.by, 60)}: {one_line(gone.reason, 500)}", "dim", hang=4)
    for comment in facts.comments:
        yield from comment_lines(comment, "  ")


def comment_lines(comment: LineComment, lead: str) -> Iterator[Line]:
    """A comment, its state, and the lines that answer it."""
    state, answer = comment.state, comment.answer
    text = Text.assemble(lead, (f"{comment.finding} {state}", FINDING_STYLES[state]))
    whose = f" · {comment.task_id} answers" if comment.task_id != comment.about else ""
    text.append(f"  {one_line(str(comment.lines), 200)}{whose}", "dim")
    yield Line(text, hang=len(lead) + 2)
    yield from paragraphs(comment.text, f"{lead}  ")
    if comment.dismissal is not None:
        by = one_line(comment.dismissal.by, 60)
        yield from paragraphs(f"{by}: {comment.dismissal.reason}", f"{lead}  ", "dim")
    elif answer is not None and answer.lines is not None:
        where = one_line(str(answer.lines), 200)
        yield plain(
            f"{lead}  attempt {answer.attempt} answers in {where}", "dim", hang=len(lead) + 4
        )
        yield from paragraphs(answer.text, f"{lead}  │ ", "dim")


# Costs


def cost_lines(
    spending: Spending, tables: Mapping[str, Sequence[tuple[str, CostSummary]]]
) -> Iterator[Line]:
    """Costs against the limits, and by what they were caused."""
    for name, spent, limit in (
        ("This run", spending.run, spending.run_limit_usd),
        ("Project", spending.project, spending.project_limit_usd),
    ):
        of = f" of {dollars(limit)}" if limit else ""
        yield Line(Text.assemble((f"{name:<10}", "bold"), f"{cost_text(spent)}{of}"))
        if limit and spent.sessions:
            yield _gauge(spent.known_usd / limit)
    for by, rows in tables.items():
        if rows:
            yield EMPTY
            yield heading(f"By {by}")
            yield from _table(rows)
    if not any(tables.values()):
        yield EMPTY
        yield plain("No session has ended yet, so nothing has been paid for.", "dim")


def _gauge(share: float) -> Line:
    full = min(20, round(share * 20))
    style = "red" if share >= 1 else "yellow" if share >= 0.8 else "green"
    text = Text.assemble(" " * 10, ("━" * full, style), ("─" * (20 - full), "dim"))
    text.append(f" {share:.0%}", style)
    return Line(text)


def _table(rows: Sequence[tuple[str, CostSummary]]) -> Iterator[Line]:
    for name, spent in rows:
        facts = bits(count_text(spent.sessions, "session"))
        yield plain(
            f"  {cost_text(spent):>12}  {one_line(name, 60) or 'unknown'}  {facts}", hang=16
        )


def attempt_costs(facts: TaskFacts, attempts: Sequence[Attempt]) -> Iterator[Line]:
    """What each session of a task has cost."""
    spent = cost_text(facts.spent) if facts.spent.sessions else "nothing yet"
    yield Line(Text.assemble(("This task ", "bold"), spent))
    for attempt in reversed(attempts):
        yield EMPTY
        yield heading(f"Attempt {attempt.session.attempt}")
        rows = [("work", attempt.session.ending)] + [
            (_check_name(check), check.ending) for check in attempt.checks
        ]
        for name, ending in rows:
            if ending is None:
                yield plain(f"  {'…':>12}  {name}  at work", "dim")
                continue
            cost = dollars(ending.cost_usd, estimated=ending.estimated)
            tokens = ""
            if ending.input_tokens is not None and ending.output_tokens is not None:
                tokens = f"{ending.input_tokens:,} tokens in, {ending.output_tokens:,} out"
            model = one_line(ending.model, 60)
            yield plain(f"  {cost:>12}  {name}  {bits(model, tokens)}", hang=16)


def _check_name(check: WorkCheck) -> str:
    return f"{check.role.value} {check.number}"
