"""Hold tasks back until someone unblocks them."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_tasks

EXAMPLES = """
ralph task block t-4f2a1b -r "waits for the designer"
"""


def arguments(parser: ArgumentParser) -> None:
    add_tasks(parser)
    parser.add_argument("-r", "--reason", metavar="TEXT", default="", help="why it has to wait")
    add_json(parser, "print the tasks as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.task.settling import settle
    from ralph.core.transitions import Blocked

    # Without a reason it would look like a task that only waits for its blockers.
    reason = args.reason.strip() or "blocked by a person"
    return settle(args, lambda store, task: store.apply(task.id, [Blocked(reason)]))
