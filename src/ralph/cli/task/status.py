"""Commands that change the status of tasks and findings by hand."""

from argparse import Namespace
from collections.abc import Callable, Sequence

from ralph.cli.command import CliCommand, command, option
from ralph.cli.options import TASKS, json_option
from ralph.cli.output import print_json_array, task_objects, title_of
from ralph.cli.project_access import project_with_store
from ralph.core.errors import Missing, RalphError, UsageError
from ralph.core.review_thread import A_PERSON, Dismissal
from ralph.core.task import Task, TaskStatus
from ralph.core.transitions import Blocked, Unblocked
from ralph.store.store import Store
from ralph.wiring.project import Project, open_project_files

Change = Callable[[Store, Task, str, Project], Task]
"""Changes a task, for a reason."""


def find_all(store: Store, names: Sequence[str]) -> list[Task]:
    """Find all named tasks, without repeats; an unknown name is an error before any change."""
    found = {task.id: task for task in map(store.tasks.find, names)}
    return list(found.values())


def print_tasks(store: Store, tasks: Sequence[Task], *, as_json: bool) -> None:
    """Print one line for each task, or an array of them."""
    if as_json:
        print_json_array(task_objects(store, tasks))
        return
    for task in tasks:
        print(f"{task.name}: {task.status.value}  {title_of(task)}")


def _status_command(doc: str, change: Change, why: str = "") -> CliCommand:
    """A command that changes the status of tasks. It takes a reason if `why` says what for."""
    reason_option = option("-r", "--reason", "TEXT", why, default="")
    options = (TASKS, *([reason_option] if why else []), json_option("print the tasks as JSON"))

    def run(args: Namespace) -> None:
        with project_with_store() as (project, store):
            reason = args.reason.strip() if why else ""
            _change_tasks(args, store, lambda task: change(store, task, reason, project))

    return CliCommand(run, doc, options)


def _change_tasks(args: Namespace, store: Store, change: Callable[[Task], Task]) -> None:
    """Change each task; one that cannot be changed does not keep the others from it.

    All names are looked up before the first change. With several tasks every refusal is printed,
    and the first one gives the exit code.
    """
    changed: list[Task] = []
    refused: list[RalphError] = []
    for task in find_all(store, args.tasks):
        try:
            changed.append(change(task))
        except RalphError as error:
            refused.append(error)
    if args.json:
        print_tasks(store, changed, as_json=True)
    for task in changed if not args.json else ():
        if task.status is TaskStatus.IN_PROGRESS:
            # Inside a session a task is not settled but claimed.
            print(f"{task.name}: claim recorded; Ralph will judge it")
        else:
            print_tasks(store, [task], as_json=False)
    for other in refused[1:]:
        from ralph.cli.dispatch import print_error

        print_error(other)
    if refused:
        raise refused[0]


def _fail(store: Store, task: Task, reason: str, project: Project) -> Task:
    fail_fast = project.config.execution.fail_fast
    failed = store.tasks.force_failed(task.id, reason, fail_fast=fail_fast)
    if reason and failed.status is TaskStatus.FAILED:
        store.tasks.log(task.id, f"failed by a person: {reason}")
    return failed


def _block(store: Store, task: Task, reason: str, _: Project) -> Task:
    # Without a reason it would look like a task that only waits for its blockers.
    return store.tasks.apply(task.id, [Blocked(reason or "blocked by a person")])


done = _status_command(
    """Set tasks to done by hand.

    For a parent, sets the open tasks below it. Inside a session this is a claim that Ralph will
    judge.

    examples:
      ralph task done t-4f2a1b
      ralph task done US-001 US-002
    """,
    lambda store, task, *_: store.tasks.force_done(task.id),
)

fail = _status_command(
    """Set tasks to failed by hand.

    Inside a session the agent reports so that the task cannot be done; Ralph records it.

    examples:
      ralph task fail t-4f2a1b -r "the API it needs was removed"
      ralph task fail US-001 US-002
    """,
    _fail,
    why="why it failed",
)

reset = _status_command(
    """Reset tasks and everything below them.

    They are pending again with no retries used; parents are reopened if needed.

    examples:
      ralph task reset t-4f2a1b
    """,
    lambda store, task, *_: store.tasks.reset(task.id),
)

retry = _status_command(
    """Give failed or blocked tasks a fresh set of tries.

    The next session gets the reason why they failed or were blocked.

    examples:
      ralph task retry t-4f2a1b
      ralph task retry US-003 US-004
    """,
    lambda store, task, *_: store.tasks.retry(task.id),
)

block = _status_command(
    """Block tasks until they are unblocked.

    examples:
      ralph task block t-4f2a1b -r "waits for the designer"
    """,
    _block,
    why="why it has to wait",
)

unblock = _status_command(
    """Unblock tasks.

    examples:
      ralph task unblock t-4f2a1b
    """,
    lambda store, task, *_: store.tasks.apply(task.id, [Unblocked()]),
)


@command(
    option("task", "TASK", "its id or alias"),
    option("finding", "FINDING", "its name in the review, such as F2"),
    option("reason", "REASON", "why; the next reviewer reads it"),
)
def dismiss(args: Namespace) -> None:
    """Dismiss a review finding, so that it is not raised again.

    examples:
      ralph task dismiss t-4f2a1b F2 "the old format is gone on purpose"
    """
    from ralph.engine.state_files import write_review_file

    if not args.reason.strip():
        raise UsageError("a finding is dismissed with a reason", hint="say why it is none")
    with project_with_store() as (project, store):
        task = store.tasks.find(args.task)
        known = [one.id for one in store.reviews.thread(task.id).all_findings]
        if args.finding not in known:
            raise Missing(
                f"{task.name} has no finding {args.finding}",
                hint=f"it has {', '.join(known)}" if known else "no reviewer has found anything",
            )
        store.checks.dismiss_finding(
            task.id, Dismissal(finding=args.finding, reason=args.reason.strip(), by=A_PERSON)
        )
        write_review_file(store, open_project_files(project), task)
