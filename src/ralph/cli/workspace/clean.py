"""Remove private checkouts that nobody needs: of tasks that are over, and what crashes have left.

What of their work is neither merged nor saved is kept under refs/ralph/kept/ first. Name checkouts
to remove just these, whatever became of their tasks. One that is broken goes only when it is named:
its files are saved nowhere else.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.doors import add_no_sandbox
from ralph.cli.parser import add_yes

if TYPE_CHECKING:
    from ralph.cli.workspace.tenants import Tenant

EXAMPLES = """
ralph workspace clean
ralph workspace clean t-4f2a1b --yes
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="as `ralph workspace list` has them"
    )
    add_no_sandbox(parser)
    add_yes(parser)


def run(args: Namespace) -> int:
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.workspace.tenants import tenants, told_size
    from ralph.core.ids import TaskId
    from ralph.wiring.checkouts import the_rooms

    project = the_project({"sandbox.mode": "off" if args.no_sandbox else None})
    with the_rooms(project) as rooms:
        with the_store(project) as store:
            going = _going(tenants(store, project), args.names)
        if not going:
            print("nothing to remove")
            return 0
        if not args.yes:
            lines = [f"  {one.name}  {told_size(one.size_bytes)}  {one.title}" for one in going]
            print("\n".join(["removed, with their work saved:", *lines]), file=sys.stderr)
        make_sure(args, f"removing {len(going)} checkout{'s' if len(going) != 1 else ''}")
        for one in going:
            if one.kind == "task":
                rooms.close(TaskId(one.name))
            else:
                rooms.drop(one.name)
        rooms.sweep()
    size = sum(one.size_bytes for one in going)
    print(f"removed {', '.join(one.name for one in going)}: {told_size(size)}")
    return 0


def _going(found: "list[Tenant]", names: list[str]) -> "list[Tenant]":
    from ralph.core.errors import Busy, Missing

    if not names:
        return [one for one in found if one.is_over]
    known = {one.name: one for one in found}
    for name in names:
        if name not in known:
            raise Missing(
                f"there is no checkout {name}", hint="`ralph workspace list` names what there is"
            )
        if known[name].in_use:
            raise Busy(f"somebody is at work in {name}", hint="wait for it")
    return [known[name] for name in dict.fromkeys(names)]
