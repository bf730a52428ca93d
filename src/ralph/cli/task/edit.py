"""Commands that add, change, link and delete tasks."""

import sys
from argparse import BooleanOptionalAction, Namespace
from functools import partial

from ralph.cli.command import command, exclusive, flag, option
from ralph.cli.options import (
    AGENT,
    JSON,
    LARGEST,
    MODEL,
    TASK,
    TASKS,
    YES,
    at_least,
    json_option,
    settings_of,
)
from ralph.cli.output import TerminalStyle, print_answer, task_object, task_row, title_of
from ralph.cli.project_access import open_project, project_with_store
from ralph.cli.prompts import confirm, has_terminal, nothing_written, run_interactive, text_of
from ralph.cli.task.status import find_all, print_tasks
from ralph.core.errors import Missing, UsageError
from ralph.core.events import TaskAdded
from ralph.core.ids import TaskId
from ralph.core.task import Task, TaskDraft, TaskEdit, TaskStatus, normalize_paths
from ralph.ui.formatting import count_text
from ralph.wiring.project import open_store

SHOWN = 20
DESCRIPTION = option("-d", "--description", "TEXT", "what is to be done, in full; - reads stdin")
PRIORITY = option("--priority", "N", "lower comes first (default 0)", type=at_least(-LARGEST))
MAX_RETRIES = option("--max-retries", "N", "retries of rejected work", type=at_least(0))
BLOCKER = option("blocker", "BLOCKER", "the task that has to be done first")
BLOCKED = option("blocked", "BLOCKED", "the task that waits for it")
WHOLE_TASK = json_option("print the whole task as JSON")
FILES = (
    "a file that it will modify, from the top of the project: tasks that name the same one are not"
    " run at the same time (may be repeated"
)


@command(
    option("title", "TITLE", "what is to be done, in one line"),
    DESCRIPTION,
    option("--parent", "TASK", "the task it is a part of"),
    option("--feature", "FEATURE", "the feature it belongs to; made if new"),
    PRIORITY,
    MAX_RETRIES,
    option("--blocked-by", "TASK", "a task to be done first (may be repeated)", action="append"),
    option("--file", "PATH", f"{FILES})", action="append", dest="files"),
    flag("--no-change", "it may be done without any change in the tree (research, a check)"),
    WHOLE_TASK,
)
def add(args: Namespace) -> None:
    """Add a task and print its id.

    It is pending at once; `ralph run` picks it up when every task it waits for is done.

    examples:
      ralph task add "Add a health endpoint"
      ralph task add "Document it" -d "One page in docs/" --blocked-by t-4f2a1b
      ralph task add "Sessions expire" --feature login --priority -1 --max-retries 5
      ralph task add "Tidy the parser" --file src/parser.py --file tests/test_parser.py
      git diff | ralph task add "Review this" -d - --no-change
    """
    project = open_project()
    title, description = _named("task", "title", args.title), text_of(args.description or "")
    files = normalize_paths(args.files or ())
    usual = project.config.execution.max_retries
    with open_store(project) as store:
        parent = store.tasks.find(args.parent) if args.parent else None
        blockers = tuple(store.tasks.find(name).id for name in args.blocked_by or ())
        # Without the parent's feature a run of it would leave this part out, and never end.
        feature = parent.feature_id if parent else None
        if args.feature is not None:
            feature = store.features.add(_named("feature", "name", args.feature)).id
        task = store.tasks.add(
            TaskDraft(
                title=title,
                description=description,
                parent_id=parent.id if parent else None,
                feature_id=feature,
                priority=args.priority or 0,
                max_retries=usual if args.max_retries is None else args.max_retries,
                needs_change=not args.no_change,
                blocked_by=blockers,
                files=files,
            )
        )
    print_answer(args, task_object(task, blockers), task.id)


def _named(thing: str, name: str, text: str) -> str:
    if not text.strip():
        raise UsageError(f"a {thing} needs a {name}, and this one is empty")
    return text.strip()


@command(option("request", "IDEA", "what is wanted", nargs="?", default=""), AGENT, MODEL)
def create(args: Namespace) -> None:
    """Create a task from an idea, in an interactive session with an agent.

    The agent takes over the terminal, looks at the code, asks, and adds the task when you agree.
    `ralph task add` does it without a conversation.

    examples:
      ralph task create
      ralph task create "exports should not time out" --agent claude
    """
    from ralph.documents.feature_prompts import interactive_task_prompt

    hint = 'ralph task add "TITLE" -d "…"'
    if not has_terminal():
        raise UsageError("ralph task create needs a terminal with a person at it", hint=hint)
    with project_with_store(settings_of(args)) as (project, store):
        before = store.events.last_seq()
    code = run_interactive(project, partial(interactive_task_prompt, args.request.strip()))
    with open_store(project) as store:
        new = [recorded.event for recorded in store.events.select(after=before, limit=0)]
    added = [event.task for event in new if isinstance(event, TaskAdded)]
    if not added:
        raise nothing_written(code, "no task was added", hint)
    for task in added:
        print(f"{task.id}  {title_of(task)}")


@command(
    TASK,
    option("--title", "TEXT", "a new title"),
    DESCRIPTION,
    PRIORITY,
    MAX_RETRIES,
    exclusive(
        option("--parent", "TASK", "make it a part of this task"),
        flag("--no-parent", "make it a task of its own"),
    ),
    exclusive(
        option("--feature", "FEATURE", "put it into a feature; made if new"),
        flag("--no-feature", "take it out of its feature"),
    ),
    exclusive(
        option("--file", "PATH", f"{FILES}; replaces those before)", action="append", dest="files"),
        flag("--no-files", "it names no files any more"),
    ),
    option(
        "--change",
        "whether the task must change a file to be done",
        dest="needs_change",
        action=BooleanOptionalAction,
    ),
    WHOLE_TASK,
)
def update(args: Namespace) -> None:
    """Change a task's title, description, place or limits.

    To change its state, use `done`, `fail`, `reset`, `retry`, `block` or `unblock`.

    examples:
      ralph task update t-4f2a1b --title "Add a health endpoint" --priority -1
      ralph task update US-001 -d "GET /health answers 200"
      ralph task update t-4f2a1b --parent t-0c11d2
      ralph task update t-4f2a1b --no-parent --feature login
      ralph task update t-4f2a1b --file src/app.py --file docs/app.md
    """
    fields: dict[str, object] = {}
    if args.title is not None:
        fields["title"] = _named("task", "title", args.title)
    if args.description is not None:
        fields["description"] = text_of(args.description)
    for name in ("priority", "max_retries", "needs_change"):
        if getattr(args, name) is not None:
            fields[name] = getattr(args, name)
    if args.files or args.no_files:
        fields["files"] = normalize_paths(args.files or ())
    if args.no_parent:
        fields["parent_id"] = None
    if args.no_feature:
        fields["feature_id"] = None
    if not (fields or args.parent or args.feature is not None):
        raise UsageError("no option says what to change", hint="ralph task update --help")
    with project_with_store() as (_, store):
        task = store.tasks.find(args.task)
        if args.parent:
            fields["parent_id"] = store.tasks.find(args.parent).id
        if args.feature is not None:
            fields["feature_id"] = store.features.add(_named("feature", "name", args.feature)).id
        task = store.tasks.edit(task.id, TaskEdit(**fields))  # type: ignore[arg-type]
        print_tasks(store, [task], as_json=args.json)


@command(TASKS, YES, json_option("print the ids that went as JSON"))
def delete(args: Namespace) -> None:
    """Delete tasks, everything below them and their edges.

    examples:
      ralph task delete t-4f2a1b
      ralph task delete US-001 US-002 --yes
    """
    with project_with_store() as (_, store):
        tasks = find_all(store, args.tasks)
        deleted = {task.id: task for root in tasks for task in store.tasks.subtree(root.id)}
        busy = [task.id for task in deleted.values() if task.status is TaskStatus.IN_PROGRESS]
        if not args.yes:
            _show(list(deleted.values()), busy)
        confirm(args, f"deleting {count_text(len(deleted), 'task')}")
        gone: list[TaskId] = []
        for task in tasks:
            # One of them may be part of another that is gone already.
            if task.id not in gone:
                gone += store.tasks.delete(task.id)
    if busy:
        some = ", ".join(busy[:SHOWN])
        print(f"ralph: the running session of {some} will be stopped", file=sys.stderr)
    print_answer(args, gone, f"deleted {count_text(len(gone), 'task')}")


def _show(tasks: list[Task], busy: list[TaskId]) -> None:
    """Print what would be deleted to standard error, as part of the question."""
    for task in tasks[:SHOWN]:
        print(task_row(task), file=sys.stderr)
    if len(tasks) > SHOWN:
        print(f"… and {len(tasks) - SHOWN} more", file=sys.stderr)
    if busy:
        some = ", ".join(busy[:SHOWN])
        raise UsageError(
            f"task {some} is in progress, so deleting it stops the running session",
            hint="add --yes if you mean it",
        )


@command(BLOCKER, BLOCKED)
def add_dependency(args: Namespace) -> None:
    """Make one task wait for another.

    examples:
      ralph task deps add t-0c11d2 t-4f2a1b
      ralph task deps add US-001 US-002
    """
    with project_with_store() as (_, store):
        blocker, blocked = store.tasks.find(args.blocker), store.tasks.find(args.blocked)
        store.tasks.link(blocker.id, blocked.id)
    print(f"{blocked.id} waits for {blocker.id}")


@command(BLOCKER, BLOCKED)
def remove_dependency(args: Namespace) -> None:
    """Remove a dependency between two tasks.

    examples:
      ralph task deps rm t-0c11d2 t-4f2a1b
    """
    with project_with_store() as (_, store):
        blocker, blocked = store.tasks.find(args.blocker), store.tasks.find(args.blocked)
        if not store.tasks.unlink(blocker.id, blocked.id):
            hint = f"ralph task deps list {blocked.id}"
            raise Missing(f"task {blocked.id} does not wait for {blocker.id}", hint=hint)
    print(f"{blocked.id} no longer waits for {blocker.id}")


@command(TASK, JSON)
def list_dependencies(args: Namespace) -> None:
    """Show what a task waits for, and what waits for it.

    examples:
      ralph task deps list t-4f2a1b
    """
    from ralph.cli.task.show import related

    with project_with_store() as (project, store):
        task = store.tasks.find(args.task)
        blockers, dependents = store.tasks.blockers(task.id), store.tasks.dependents(task.id)
    found = {"id": task.id, "blockers": blockers, "dependents": dependents}
    style = TerminalStyle(args, project)
    lines = related(style, "waits for", blockers, 0) + related(style, "holds up", dependents, 0)
    none = f"{task.id} waits for nothing, and nothing waits for it"
    print_answer(args, found, "\n".join(lines).strip("\n") or none)
