"""Set tasks back to the beginning, with everything below them.

They are pending with no retries used; what is above them is reopened where it has to be.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_tasks

EXAMPLES = """
ralph task reset t-4f2a1b
"""


def arguments(parser: ArgumentParser) -> None:
    add_tasks(parser)
    add_json(parser, "print the tasks as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.task.settling import settle

    return settle(args, lambda store, task: store.reset(task.id))
