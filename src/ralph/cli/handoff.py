"""Let a fresh session go on with the task at hand.

The one at work is asked to write down where it stands, in `MEMORY.md`, and to end. If it does not
within `[context] wrap_up`, it is ended, and what was seen of it has to do. The attempt is the same:
this costs neither a retry nor a strike. By itself it happens when a context is nearly full.
"""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph handoff
"""


def arguments(parser: ArgumentParser) -> None:
    del parser


def run(args: Namespace) -> int:
    from ralph.cli.living import send
    from ralph.ports.history import Word

    del args
    return send(Word.HAND_OFF, "lets its session hand over to a fresh one")
