"""Let a fresh session go on with the task at hand.

The one at work is asked to write down where it stands, in `MEMORY.md`, and to end. If it does not
within `[context] wrap_up`, it is ended, and what was seen of it has to do. The attempt is the same:
this costs neither a retry nor a strike. By itself it happens when a context is nearly full.

Without a task every session at work hands over, in a team those of all workers.
"""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph handoff
ralph handoff t-4f2a1b      only the session of this task
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", metavar="TASK", help="whose session; default: every one")


def run(args: Namespace) -> int:
    from ralph.cli.living import send
    from ralph.ports.history import Word

    if args.task is None:
        return send(Word.HAND_OFF, "lets its session hand over to a fresh one")
    return send(
        Word.HAND_OFF, f"lets the session of {args.task} hand over to a fresh one", args.task
    )
