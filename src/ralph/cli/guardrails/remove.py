"""Take lessons out of the file; the rest of it stays as it is."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_yes

EXAMPLES = """
ralph guardrails remove fix-1760000000-a1b2
ralph guardrails remove sign-read-before-writing --yes
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="as `ralph guardrails list` has them")
    add_yes(parser)


def run(args: Namespace) -> int:
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_project
    from ralph.wiring.project import guardrails_of, open_library

    project = the_project()
    library, path = open_library(project), guardrails_of(project)
    names = list(dict.fromkeys(args.ids))
    _without(library.read(path).text or "", names)
    make_sure(args, f"removing {', '.join(names)}")
    library.change(path, lambda before: _without(before, names))
    print(f"removed {', '.join(names)}")
    return 0


def _without(text: str, names: list[str]) -> str:
    """The file without all of them; an unknown one is an error before anything has changed."""
    from difflib import get_close_matches

    from ralph.core.errors import Missing
    from ralph.documents.guardrails import read, removed

    # From the end on: what goes does not change how those before it are called.
    order = [entry.id for entry in read(text)]
    for name in sorted(names, key=lambda one: order.index(one) if one in order else -1)[::-1]:
        gone = removed(text, name)
        if gone is None:
            near = get_close_matches(name, order)
            hint = f"did you mean {near[0]}?" if near else "`ralph guardrails list` has them"
            raise Missing(f"there is no guardrail {name}", hint=hint)
        text = gone
    return text
