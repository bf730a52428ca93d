"""Give failed or blocked tasks a fresh set of tries.

They still know why they failed or were blocked, so that the next session is told.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_tasks

EXAMPLES = """
ralph task retry t-4f2a1b
ralph task retry US-003 US-004
"""


def arguments(parser: ArgumentParser) -> None:
    add_tasks(parser)
    add_json(parser, "print the tasks as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.task.settling import settle

    return settle(args, lambda store, task: store.retry(task.id))
