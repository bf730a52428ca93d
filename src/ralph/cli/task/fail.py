"""Set tasks to failed by hand.

Inside a session this is the agent's word that the task cannot be done; Ralph records it.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_tasks

EXAMPLES = """
ralph task fail t-4f2a1b -r "the API it needs was removed"
ralph task fail US-001 US-002
"""


def arguments(parser: ArgumentParser) -> None:
    add_tasks(parser)
    parser.add_argument("-r", "--reason", metavar="TEXT", default="", help="why it failed")
    add_json(parser, "print the tasks as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.task.settling import settle

    reason = args.reason.strip() or "failed by a person"
    return settle(args, lambda store, task: store.force_failed(task.id, reason))
