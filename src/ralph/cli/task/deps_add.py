"""Let one task wait for another."""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph task deps add t-0c11d2 t-4f2a1b
ralph task deps add US-001 US-002
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("blocker", metavar="BLOCKER", help="the task that has to be done first")
    parser.add_argument("blocked", metavar="BLOCKED", help="the task that waits for it")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_store

    with the_store() as store:
        blocker, blocked = store.find(args.blocker), store.find(args.blocked)
        store.link(blocker.id, blocked.id)
    print(f"{blocked.id} waits for {blocker.id}")
    return 0
