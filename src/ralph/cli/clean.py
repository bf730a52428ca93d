"""Remove logs and other records of sessions that are older or larger than [retention] allows.

Every run does the same when it ends. What open tasks and runs at work need stays, and so does all
work: commits, refs/ralph, backups. `ralph workspace clean` removes checkouts.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json, add_yes

if TYPE_CHECKING:
    from ralph.core.retention import Kept

EXAMPLES = """
ralph clean --dry-run
ralph clean --yes
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--dry-run",
        action="store_true",
        help="show what would be removed, and remove nothing",
    )
    add_yes(parser)
    add_json(parser, "print an array of what is removed, each with name, paths and bytes")


def run(args: Namespace) -> int:
    from ralph.adapters.library.run_files import remove
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_project, the_store
    from ralph.wiring.retention import removable

    project = the_project()
    with the_store(project) as store:
        gone = removable(project, store)
        if not args.dry_run and gone:
            if not args.yes:
                print("\n".join(_lines(gone)), file=sys.stderr)
            make_sure(args, f"removing {_sum(gone)}")
            remove(gone, project.runs_dir)
    if args.json:
        from ralph.cli.as_json import show

        show(gone)
        return 0
    if not gone:
        print("nothing to remove")
        return 0
    word = "would remove" if args.dry_run else "removed"
    print("\n".join([*(_lines(gone) if args.dry_run else ()), f"{word} {_sum(gone)}"]))
    return 0


def _lines(gone: "list[Kept]") -> list[str]:
    from ralph.cli.times import local
    from ralph.cli.workspace.tenants import told_size
    from ralph.core.moment import iso
    from ralph.core.safe_text import one_line

    return [
        f"  {one_line(one.name, 80)}  {local(iso(one.changed_at))}  {told_size(one.bytes)}"
        f"{'  failed attempt' if one.is_failed else ''}"
        for one in gone
    ]


def _sum(gone: "list[Kept]") -> str:
    from ralph.cli.workspace.tenants import told_size

    count = len(gone)
    size = told_size(sum(one.bytes for one in gone))
    return f"the files of {count} {'session' if count == 1 else 'sessions'}: {size}"
