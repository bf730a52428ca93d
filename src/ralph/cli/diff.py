"""What a task has changed, and how to bring back work that was kept."""

from argparse import Namespace

from ralph.cli.command import command, flag, option
from ralph.cli.options import TASK, at_least
from ralph.cli.project_access import project_with_store
from ralph.core.safe_text import first_few, one_line


@command(
    option("task", "an id or an alias"),
    option("--attempt", "N", "what this attempt left in the checkout", type=at_least(1)),
    flag("--stat", "only the files, and how many lines changed in each"),
)
def diff(args: Namespace) -> None:
    """Show what a task has changed.

    Shows the task's commits on this branch; a parent's are those of all tasks below it. Without
    commits, shows what its attempts left in the checkout, whether they were accepted or not.

    examples:
      ralph diff t-4f2a1b
      ralph diff US-003 --stat
      ralph diff t-4f2a1b --attempt 2
    """
    from ralph.wiring.git_access import show_diff

    with project_with_store() as (project, store):
        options = [f"--color={args.color}"] if args.color else []
        show_diff(
            project, store, args.task, args.attempt, [*options, *(["--stat"] if args.stat else [])]
        )
    what = args.task if args.attempt is None else f"attempt {args.attempt} of {args.task}"
    print(f"{what} has changed nothing")


@command(TASK, option("--attempt", "N", "the work of this attempt", type=at_least(1)))
def apply(args: Namespace) -> None:
    """Bring back work of a task that did not count and was kept.

    Makes its changes in the files of the checkout, all of them or none, and commits nothing. By
    default it takes the newest work that `ralph task show` names.

    examples:
      ralph task apply t-4f2a1b
      ralph task apply US-003 --attempt 2
    """
    from ralph.wiring.git_access import open_branch_history
    from ralph.workflows.task_diff import find_kept_work

    with project_with_store() as (project, store):
        ref, start = find_kept_work(store, args.task, args.attempt)
        with open_branch_history(project) as history:
            paths = history.apply(ref, start)
    if paths:
        print(f"{ref} is in the checkout, not committed: {one_line(first_few(paths, 5))}")
    else:
        print(f"{ref} differs in nothing from this branch")
