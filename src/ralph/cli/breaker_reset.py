"""Close the breaker: the failures so far do not count any more.

A run whose sessions only fail opens its breaker, so that it does not spend a night on nothing.
`ralph status` says why. A new `ralph run` tries a single session; this command forgets the matter.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph.core.breaker import Breaker

EXAMPLES = """
ralph breaker reset                 every worker's
ralph breaker reset teammate-2      this one's
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("seat", nargs="?", metavar="WORKER", help="whose; default: everybody's")


def _told(was: "Breaker") -> str:
    from ralph.core.breaker import Cause

    if was.cause is Cause.BUDGET:
        return f"closed; a limit that is still spent opens it again: {was.reason}"
    return "was closed, its failures are forgotten" if was.is_closed else "closed"


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.core.breaker import Breaker
    from ralph.core.errors import UsageError
    from ralph.core.events import BreakerClosed
    from ralph.core.safe_text import one_line
    from ralph.wiring.project import open_library
    from ralph.workflows.team_views import draw_team_views

    project = the_project()
    with the_store(project) as store:
        known = store.breakers()
        if args.seat is not None and args.seat not in known:
            names = ", ".join(known) or "none so far"
            raise UsageError(
                f"no worker {one_line(args.seat, 60)} has counted anything", hint=f"known: {names}"
            )
        closed = 0
        for seat in [args.seat] if args.seat else known:
            if known[seat] == Breaker(at=known[seat].at):
                continue
            store.save_breaker(seat, Breaker(), BreakerClosed(seat=seat, by="by a person"))
            print(f"{seat}: {_told(known[seat])}")
            closed += 1
        if closed:
            draw_team_views(store, open_library(project))
    if not closed:
        print("closed already, and nothing was counted")
    return 0
