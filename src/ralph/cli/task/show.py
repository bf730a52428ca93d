"""Commands that show one task: its state, its log, the brief of its next session."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence

from ralph.cli.command import command, option
from ralph.cli.logs import attempt_line, check_line, log_line, outcome_lines
from ralph.cli.options import JSON, TASK, at_least, json_option
from ralph.cli.output import (
    TerminalStyle,
    field_lines,
    format_local,
    print_json,
    print_json_array,
    session_object,
    task_object,
    title_of,
)
from ralph.cli.project_access import open_view, project_with_store, warn
from ralph.core.brief_sections import estimate_tokens
from ralph.core.errors import UsageError
from ralph.core.run import AllTasks
from ralph.core.safe_text import multi_line, one_line
from ralph.core.task import Task
from ralph.ui.attempt_view import Attempt
from ralph.ui.project_view import TaskFacts
from ralph.wiring.project import guardrails_of, open_project_files

RELATED = 20
LOG_LINES = 20
DESCRIPTION = 20_000
"""Longer descriptions are cut on the screen; `--json` has all of it."""


@command(TASK, JSON)
def show(args: Namespace) -> None:
    """Show everything about a task.

    examples:
      ralph task show t-4f2a1b
    """
    with project_with_store() as (project, store):
        view = open_view(project, store)
        facts = view.task(args.task, log_lines=0 if args.json else LOG_LINES)
        task = facts.task
        if args.json:
            more = {
                "derived_status": facts.status,
                "feature": facts.feature.name if facts.feature else None,
                "dependents": [dependent.id for dependent in facts.dependents],
                "children": [child.id for child in facts.children],
                "spent": facts.spent,
                "kept": facts.kept,
                "attempts": [
                    session_object(store, one) for one in store.sessions.select(task=task.id)
                ],
                "log": facts.log,
            }
            print_json(task_object(task, [blocker.id for blocker in facts.blockers]) | more)
            return
        style = TerminalStyle(args, project)
        log = ["", style.bold("log"), *(f"  {log_line(entry)}" for entry in facts.log)]
        lines = [
            f"{style.bold(task.id)}  {title_of(task)}",
            *_fields(facts, style),
            *_description(task, style),
            *related(style, "waits for", facts.blockers),
            *related(style, "holds up", facts.dependents),
            *related(style, "parts", facts.children),
            *_attempts(style, view.attempts(task.id)),
            *(f"  kept  {ref}" for ref in facts.kept),
            *(log if facts.log else ()),
        ]
    print("\n".join(lines))


def _fields(facts: TaskFacts, style: TerminalStyle) -> list[str]:
    task, parent, status = facts.task, facts.parent, facts.status
    tries = f"attempt {task.attempt}, {task.retry_count} of {task.max_retries} retries used"
    reason = multi_line(task.reason or "").strip()
    fields = {
        "status": style.paint_status(status.value, status),
        "alias": one_line(task.alias or ""),
        "parent": f"{parent.name}  {title_of(parent)}" if parent else "",
        "feature": one_line(facts.feature.name) if facts.feature else "",
        "priority": str(task.priority),
        "tries": f"{tries}, strikes {task.strikes}" if task.strikes else tries,
        "cost": str(facts.spent) if facts.spent.sessions else "",
        "claimed by": one_line(task.claimed_by or ""),
        "verified": one_line(task.verification_status or ""),
        "review": one_line(task.review or ""),
        "change": "" if task.needs_change else "none needed",
        "files": one_line(", ".join(task.files), 2000),
        "reason": reason.replace("\n", "\n" + " " * 12),
        "created": format_local(task.created_at),
        "updated": format_local(task.updated_at),
    }
    return field_lines(fields)


def _description(task: Task, style: TerminalStyle) -> list[str]:
    if not task.description:
        return []
    shown = multi_line(task.description[:DESCRIPTION])
    if len(task.description) > DESCRIPTION:
        shown += f"\n… and {len(task.description) - DESCRIPTION} more characters (--json has all)"
    return ["", style.bold("description"), shown]


def related(
    style: TerminalStyle, heading: str, tasks: Sequence[Task], limit: int = RELATED
) -> list[str]:
    """Lines about other tasks, below a heading."""
    if not tasks:
        return []
    lines = ["", style.bold(heading)]
    for task in tasks[:limit] if limit else tasks:
        status = style.paint_status(f"{task.status.value:<11}", task.status)
        lines.append(f"  {task.name}  {status}  {title_of(task)}")
    if limit and len(tasks) > limit:
        lines.append(f"  … and {len(tasks) - limit} more")
    return lines


def _attempts(style: TerminalStyle, attempts: Iterable[Attempt]) -> list[str]:
    """Lines about each attempt: outcome, cost, checks, commits, evidence."""
    lines: list[str] = []
    for attempt in attempts:
        lines += [] if lines else ["", style.bold("attempts")]
        lines.append(f"  {attempt_line(attempt)}")
        lines += [f"     {check_line(check)}" for check in attempt.checks]
        lines += [f"     {line}" for line in outcome_lines(attempt)]
    return lines


@command(
    TASK,
    option("-m", "--message", "TEXT", "add this line"),
    option("-n", "--lines", "N", "only the newest N", type=at_least(0), default=0),
    JSON,
)
def log(args: Namespace) -> None:
    """Show a task's log, or add a line to it.

    examples:
      ralph task log t-4f2a1b
      ralph task log US-001 -m "the fixture is in tests/data"
    """
    if args.message is not None and not args.message.strip():
        raise UsageError("the message is empty")
    with project_with_store() as (_, store):
        task = store.tasks.find(args.task)
        if args.message is not None:
            store.tasks.log(task.id, args.message)
            return
        entries = store.tasks.logs(task.id, args.lines)
    if args.json:
        print_json_array(entries)
    else:
        for entry in entries:
            print(log_line(entry))


@command(TASK, json_option("print rules, text, tokens and what was given and cut as JSON"))
def brief(args: Namespace) -> None:
    """Show the brief of a task's next session.

    examples:
      ralph task brief t-4f2a1b
      ralph task brief US-001 --json | jq .given
    """
    from ralph.engine.brief_inputs import (
        BriefDocumentReader,
        gather_brief_inputs,
        write_rules_and_brief,
    )
    from ralph.wiring.run_settings import usable_gates

    with project_with_store() as (project, store):
        task = store.tasks.find(args.task)
        inputs = gather_brief_inputs(
            store,
            BriefDocumentReader(open_project_files(project), guardrails_of(project)),
            task,
            config=project.config,
            target=AllTasks(),
            gates=tuple(gate.command for gate in usable_gates(project)),
            guidance=tuple(store.messages.peek_guidance(task.id)),
        )
    rules, written = write_rules_and_brief(inputs, project.config)
    for problem in inputs.documents.error_lines:
        warn(one_line(problem, 300))
    if args.json:
        values = {
            "task_id": task.id,
            "rules": rules,
            "text": written.text,
            "tokens": estimate_tokens(rules) + estimate_tokens(written.text),
            "given": written.given,
            "troubles": inputs.documents.error_lines,
        }
        print_json(values)
        return
    text = f"{rules}\n\n{written.text}"
    print(multi_line(text) if sys.stdout.isatty() else text, end="")
