"""Let the run wait after the session it is in.

It keeps its place: `ralph resume` goes on.
"""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph pause
"""


def arguments(parser: ArgumentParser) -> None:
    del parser


def run(args: Namespace) -> int:
    from ralph.cli.living import send
    from ralph.ports.history import Word

    del args
    return send(Word.PAUSE, "will pause after its session; `ralph resume` goes on")
