"""List what sessions have learned, or find what has to do with some words."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json, at_least

EXAMPLES = """
ralph memory list
ralph memory list connection pool
ralph memory list --task t-4f2a1b --json
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words", metavar="WORD", nargs="*", help="the most relevant first; without: the newest"
    )
    parser.add_argument("--task", metavar="TASK", help="only what attempts at this task have left")
    parser.add_argument(
        "-n", "--limit", metavar="N", type=at_least(1), default=50, help="at most N (default 50)"
    )
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.screen import Screen
    from ralph.core.errors import UsageError
    from ralph.ui.tables import table

    if args.words and args.task:
        raise UsageError("either words or --task, not both")
    project = the_project()
    with the_store(project) as store:
        if args.words:
            found = store.recall(args.words, args.limit)
        else:
            task = store.find(args.task).id if args.task else None
            found = store.memories(task=task, limit=args.limit)
    if args.json:
        from ralph.cli.as_json import show_array

        show_array(found)
        return 0
    if not found:
        print("nothing is remembered" + (" of that" if args.words or args.task else " yet"))
        return 0
    screen = Screen(args, project)
    rows = [
        (f"m-{one.id}", one.kind.value, f"{one.task_id}:{one.attempt}", one.title, one.text)
        for one in found
    ]
    headers = ("ID", "KIND", "FROM", "TITLE", "TEXT")
    print("\n".join(table(rows, headers, width=screen.width, color=screen.has_colour)))
    return 0
