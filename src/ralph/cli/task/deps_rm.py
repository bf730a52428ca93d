"""Let one task no longer wait for another."""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph task deps rm t-0c11d2 t-4f2a1b
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("blocker", metavar="BLOCKER", help="the task that was waited for")
    parser.add_argument("blocked", metavar="BLOCKED", help="the task that waited")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_store
    from ralph.core.errors import Missing

    with the_store() as store:
        blocker, blocked = store.find(args.blocker), store.find(args.blocked)
        if not store.unlink(blocker.id, blocked.id):
            raise Missing(
                f"task {blocked.id} does not wait for {blocker.id}",
                hint=f"ralph task deps list {blocked.id}",
            )
    print(f"{blocked.id} no longer waits for {blocker.id}")
    return 0
