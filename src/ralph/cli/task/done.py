"""Set tasks to done by hand.

A parent is done by way of its open parts. Inside a session this is a claim that Ralph will judge.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_tasks

EXAMPLES = """
ralph task done t-4f2a1b
ralph task done US-001 US-002
"""


def arguments(parser: ArgumentParser) -> None:
    add_tasks(parser)
    add_json(parser, "print the tasks as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.task.settling import settle

    return settle(args, lambda store, task: store.force_done(task.id))
