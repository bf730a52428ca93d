"""Take back what a task has committed, and open it again with all that builds on it.

A new commit undoes its commits; the history stays. What builds on the task keeps its own commits
and is done again. Where later changes are in the way, nothing is changed at all.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.doors import add_no_sandbox
from ralph.cli.parser import add_json, add_yes
from ralph.cli.task.naming import add_task

if TYPE_CHECKING:
    from ralph.core.task import Task
    from ralph.workflows.undo import Undoing

EXAMPLES = """
ralph undo t-4f2a1b
ralph undo US-003 --yes -r "it broke the export"
"""


def arguments(parser: ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument(
        "-r", "--reason", metavar="TEXT", default="", help="why; its next session is told"
    )
    add_no_sandbox(parser)
    add_yes(parser)
    add_json(parser, "print what was done as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_project, the_store
    from ralph.wiring.past import the_past
    from ralph.workflows.undo import foresee, undo

    project = the_project({"sandbox.mode": "off" if args.no_sandbox else None})
    with the_store(project) as store, the_past(project) as past:
        plan = foresee(store, past, args.task)
        if not args.yes:
            print("\n".join(_lines(plan)), file=sys.stderr)
        make_sure(args, f"undoing {plan.task.id}")
        done = undo(store, past, plan, args.reason.strip())
    if args.json:
        from ralph.cli.as_json import show

        show(done)
        return 0
    what = f"taken back by {done.commit[:10]}" if done.commit else "nothing was left to take back"
    count = len(done.reopened)
    print(f"{plan.task.id}: {what}; {count} {'task is' if count == 1 else 'tasks are'} open again")
    return 0


def _lines(plan: "Undoing") -> list[str]:
    """What will happen."""
    from ralph.cli.task.telling import titled
    from ralph.core.safe_text import one_line

    def tasks(which: "list[Task]") -> list[str]:
        return [f"  {task.id}  {task.status.value:<11}  {titled(task)}" for task in which]

    commits = [f"  {commit.id[:10]}  {one_line(commit.subject, 72)}" for commit in plan.commits]
    lines = ["taken back:", *(commits or ["  nothing: no commit of it is on this branch"])]
    lines += ["open again:", *tasks([plan.task, *plan.below])]
    if plan.after:
        lines += ["open again, since they build on it; their commits stay:", *tasks(plan.after)]
    return lines
