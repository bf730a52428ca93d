"""Show what a team does: who has which task, what waits to be merged, and what it came to.

Of the team that is at work, else of the last one. What each session does is the last that it said.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json

EXAMPLES = """\
ralph team status
ralph team status --watch    again and again, until the run ends
ralph team status --json"""

INTERVAL_S = 1.0


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-w", "--watch", action="store_true", help="show it again and again, until the run ends"
    )
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.screen import Screen
    from ralph.cli.team.overview import look
    from ralph.core.errors import UsageError

    if args.json and args.watch:
        raise UsageError(
            "--json and --watch do not go together",
            hint="ralph run --json prints events as they happen",
        )
    project = the_project()
    with the_store(project) as store:
        if args.watch:
            from ralph.cli.team.watching import watch

            return watch(lambda: look(store, project.root), Screen(args, project), INTERVAL_S)
        overview = look(store, project.root)
    if args.json:
        from ralph.cli.as_json import show

        show(overview)
        return 0
    screen = Screen(args, project)
    print("\n".join(overview.lines(screen, screen.width)))
    return 0
