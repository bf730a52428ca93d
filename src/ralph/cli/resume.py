"""Let a paused run go on."""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph resume
"""


def arguments(parser: ArgumentParser) -> None:
    del parser


def run(args: Namespace) -> int:
    from ralph.cli.living import send
    from ralph.ports.store import Word

    del args
    return send(Word.RESUME, "goes on")
