"""End the run after the session it is in, or at once."""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph stop
ralph stop --now
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--now",
        action="store_true",
        help="stop the session too; its task is given back at no cost",
    )


def run(args: Namespace) -> int:
    from ralph.cli.living import send
    from ralph.ports.history import Word

    if args.now:
        return send(Word.STOP_NOW, "stops its session and ends")
    return send(Word.STOP, "will end after its session")
