"""A worker of a team, as a program: started by the lead, who tells it its seat on standard input.

That stays open as long as the lead lives; when it ends, so does the worker, in good order.
"""

import os
import sys
from contextlib import ExitStack

import msgspec
from msgspec.structs import replace

from ralph.adapters.executor.identity import this_process
from ralph.adapters.executor.signals import Signals
from ralph.core.errors import RalphError
from ralph.core.ids import RunId
from ralph.core.limits import Limits
from ralph.core.outcome import Outcome
from ralph.engine.teammate import excuse, work_along
from ralph.ports.executor import Interrupted
from ralph.ports.staff import Report
from ralph.ui.silent import Silent
from ralph.wiring.project import Project
from ralph.wiring.run import lay_foundation, put_together
from ralph.wiring.seats import Seat, trunk_of
from ralph.wiring.settings import settings_of
from ralph.workflows.quoted import Quoted

ORPHANED = "SIGHUP"
"""What the end of the lead is to its workers."""


def main() -> int:
    """Take the seat, work, and say how it ended."""
    line = sys.stdin.buffer.readline()
    try:
        seat = msgspec.json.decode(line, type=Seat)
    except msgspec.MsgspecError:
        sys.stderr.write("this program is started by `ralph run --workers N`\n")
        return 64
    try:
        report = work(seat)
    except RalphError as error:
        report = excuse(error)
    except Interrupted:
        report = Report(outcome=Outcome.INTERRUPTED, reason="by a signal", exit_code=130)
    sys.stdout.buffer.write(msgspec.json.encode(report))
    return 0


def work(seat: Seat) -> Report:
    """Put everything together, and begin."""
    project = Project(root=seat.loaded.root, loaded=seat.loaded)
    with ExitStack() as stack:
        found = lay_foundation(stack, project)
        signals = stack.enter_context(Signals(found.executor))

        def lead_speaks() -> None:
            if not os.read(0, 4096):
                signals.interrupt(ORPHANED)
                found.executor.unwatch(0)

        found.executor.watch(0, lead_speaks)
        settings = settings_of(project, seat.run_id, seat.target, found.everyone, found.absent)
        settings = replace(
            settings,
            worker=seat.worker,
            owner=this_process(),
            seat=seat.name,
            address=RunId(seat.worker),
            # Its checkouts come and go with their tasks: what a session leaves is kept beside them.
            memory_path="",
            schedule=seat.schedule,
            limits=Limits(iterations=settings.limits.iterations, run_s=seat.run_s),
        )
        made = put_together(
            stack,
            found,
            settings,
            sink=Silent(),
            interrupted=lambda: signals.interrupted,
        )
        made.kit.baseline = seat.baseline
        made.kit.document = Quoted(made.kit, seat.papers)
        return work_along(made.kit, trunk_of(project, made, seat.branch, seat.began))


if __name__ == "__main__":
    raise SystemExit(main())
