"""Show what was written down about a task, or write something down."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json, at_least
from ralph.cli.task.naming import add_task

EXAMPLES = """
ralph task log t-4f2a1b
ralph task log US-001 -m "the fixture is in tests/data"
"""


def arguments(parser: ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("-m", "--message", metavar="TEXT", help="add this line")
    parser.add_argument(
        "-n", "--lines", metavar="N", type=at_least(0), default=0, help="only the newest N"
    )
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_store
    from ralph.cli.task.sections import log_line
    from ralph.core.errors import UsageError

    if args.message is not None and not args.message.strip():
        raise UsageError("the message is empty")
    with the_store() as store:
        task = store.find(args.task)
        if args.message is not None:
            store.log(task.id, args.message)
            return 0
        entries = store.logs(task.id, args.lines)
    if args.json:
        from ralph.cli.as_json import show_array

        show_array(entries)
        return 0
    for entry in entries:
        print(log_line(entry))
    return 0
