"""Check that everything Ralph needs is there and sound.

Counters of the database that are wrong are put right. Ends with 1 when something has to be mended.
With --restore it brings a lost or damaged database back from a backup instead: the newest that is
whole, or the one that is named. The damaged file is moved aside.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json, add_yes

if TYPE_CHECKING:
    from ralph.wiring.restore import Restored

EXAMPLES = """
ralph doctor
ralph doctor --json
ralph doctor --restore
"""

MARKS = {"ok": ("✓", "32"), "warning": ("!", "33"), "failed": ("✗", "31")}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--restore",
        metavar="BACKUP",
        nargs="?",
        const="",
        help="bring the database back from a backup (default: the newest)",
    )
    add_yes(parser)
    add_json(parser, "print an array of checks, each with state, what and way_out")


def run(args: Namespace) -> int:
    if args.restore is not None:
        return _restore(args)
    from ralph.cli.checks import all_checks

    checks = list(all_checks())
    code = 1 if any(check.state == "failed" for check in checks) else 0
    if args.json:
        from ralph.cli.as_json import show

        show(checks)
        return code
    from ralph.cli.screen import Screen
    from ralph.core.safe_text import one_line

    screen = Screen(args)
    for check in checks:
        mark, colour = MARKS[check.state]
        print(f"{screen.paint(mark, colour)} {one_line(check.what)}")
        if check.way_out:
            print(f"    {one_line(check.way_out)}")
    return code


def _restore(args: Namespace) -> int:
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_project
    from ralph.wiring.restore import restore

    project = the_project()
    what = args.restore or "the newest backup"
    make_sure(args, f"replacing {project.database} by {what}")
    done = restore(project, args.restore or None)
    if args.json:
        from ralph.cli.as_json import show

        show(done)
    else:
        print("\n".join(_lines(project.database, done)))
    return 0


def _lines(database: str, done: "Restored") -> list[str]:
    """What was done, and what the backup does not know."""
    backup = done.backup
    lines = [f"{database} is back from {backup.path}: {backup.tasks} tasks, {backup.made_at}"]
    if done.aside:
        lines.append(f"what was in its place is {done.aside} now")
    for one in done.landed:
        state = f"is {one.status} in the backup" if one.status else "is not in the backup"
        way_out = (
            f"; `ralph task done {one.task_id}` if nothing is left to do" if one.status else ""
        )
        lines.append(
            f"task {one.task_id} {state}, but commit {one.commit[:10]} is on the branch{way_out}"
        )
    return lines
