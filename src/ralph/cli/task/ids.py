"""List ids and titles for shell completion."""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph task ids t-4
"""

LOOKED_AT = 5000
MOST = 200
"""More than anybody reads in a menu."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("start", metavar="START", nargs="?", default="", help="how it begins")


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
    try:
        tasks = store.tasks(Filter(limit=LOOKED_AT))
    finally:
        store.close()
    shown = 0
    for task in tasks:
        for name in filter(None, (task.id, task.alias)):
            if name.startswith(args.start) and shown < MOST:
                print(f"{name}\t{one_line(task.title, 60)}")
                shown += 1
    return 0
