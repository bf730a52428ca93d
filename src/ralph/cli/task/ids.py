"""List names of tasks and features for shell completion."""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph task ids t-4
"""

LOOKED_AT = 5000
MOST = 200
"""More than anybody reads in a menu."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("start", metavar="START", nargs="?", default="", help="how it begins")
    parser.add_argument(
        "--of", choices=["tasks", "features", "targets"], default="tasks", help="whose names"
    )


def run(args: Namespace) -> int:
    from ralph.core.errors import RalphError
    from ralph.core.safe_text import one_line
    from ralph.ports.store import Filter
    from ralph.wiring.project import find_project, open_store

    try:
        store = open_store(find_project())
    except RalphError:
        # Outside a project there is nothing to complete, and a shell wants no complaint.
        return 0
    names: list[tuple[str, str]] = []
    try:
        if args.of != "tasks":
            names += [(feature.name, feature.status.value) for feature in store.features()]
        if args.of != "features":
            for task in store.tasks(Filter(limit=LOOKED_AT)):
                names += [(name, task.title) for name in (task.id, task.alias) if name]
    finally:
        store.close()
    begun = [(name, about) for name, about in names if name.startswith(args.start)]
    for name, about in begun[:MOST]:
        print(f"{one_line(name)}\t{one_line(about, 60)}")
    return 0
