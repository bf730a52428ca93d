"""Forget what a session has learned: no later one is told of it any more."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_yes

EXAMPLES = """
ralph memory remove m-12
ralph memory remove m-12 m-15 --yes
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="as `ralph memory list` has them")
    add_yes(parser)


def run(args: Namespace) -> int:
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_store
    from ralph.core.safe_text import one_line

    numbers = list(dict.fromkeys(map(_number, args.ids)))
    with the_store() as store:
        make_sure(args, f"forgetting {', '.join(f'm-{one}' for one in numbers)}")
        for number in numbers:
            gone = store.forget(number)
            print(f"forgot m-{number}  {one_line(gone.name, 80)}")
    return 0


def _number(name: str) -> int:
    from ralph.core.errors import Missing

    digits = name.removeprefix("m-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
        raise Missing(f"there is no memory {name}", hint="`ralph memory list` has them")
    return int(digits)
