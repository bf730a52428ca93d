"""Let tasks that were held back go on."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_tasks

EXAMPLES = """
ralph task unblock t-4f2a1b
"""


def arguments(parser: ArgumentParser) -> None:
    add_tasks(parser)
    add_json(parser, "print the tasks as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.task.settling import settle
    from ralph.core.transitions import Unblocked

    return settle(args, lambda store, task: store.apply(task.id, [Unblocked()]))
