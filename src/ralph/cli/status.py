"""Show what is going on, what comes next and what is stuck."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json

EXAMPLES = """
ralph status
ralph status --json
"""


def arguments(parser: ArgumentParser) -> None:
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.state import look
    from ralph.wiring.settings import breaker_tolerance

    project = the_project()
    with the_store(project) as store:
        state = look(store, breaker_tolerance(project))
    if args.json:
        from ralph.cli.as_json import show

        show(state)
        return 0
    from ralph.cli.screen import Screen

    print("\n".join(state.lines(Screen(args, project))))
    return 0
