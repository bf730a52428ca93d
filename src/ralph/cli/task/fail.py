"""Set tasks to failed by hand.

Inside a session this is the agent's word that the task cannot be done; Ralph records it.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_tasks

if TYPE_CHECKING:
    from ralph.core.task import Task
    from ralph.ports.store import Graph

EXAMPLES = """
ralph task fail t-4f2a1b -r "the API it needs was removed"
ralph task fail US-001 US-002
"""


def arguments(parser: ArgumentParser) -> None:
    add_tasks(parser)
    parser.add_argument("-r", "--reason", metavar="TEXT", default="", help="why it failed")
    add_json(parser, "print the tasks as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project
    from ralph.cli.task.settling import settle
    from ralph.core.task import Status

    reason, project = args.reason.strip(), the_project()
    fail_fast = project.loaded.config.execution.fail_fast

    def fail(store: "Graph", task: "Task") -> "Task":
        failed = store.force_failed(task.id, reason, fail_fast=fail_fast)
        if reason and failed.status is Status.FAILED:
            store.log(task.id, f"failed by a person: {reason}")
        return failed

    return settle(args, fail, project)
