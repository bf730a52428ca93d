"""Let a paused run go on, or one that waits for quota.

Agents that are out of quota are tried again at once: a person may know better.
"""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph resume
"""


def arguments(parser: ArgumentParser) -> None:
    del parser


def run(args: Namespace) -> int:
    from ralph.cli.living import send
    from ralph.ports.history import Word

    del args
    return send(Word.RESUME, "goes on")
