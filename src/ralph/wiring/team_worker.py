"""The worker process of a team. The lead starts it and sends its settings on standard input.

That stays open as long as the lead lives; when it ends, so does the worker, in good order.
"""

import os
import sys
from contextlib import ExitStack

import msgspec
from msgspec.structs import replace

from ralph.adapters.executor.signals import Signals
from ralph.core.errors import RalphError
from ralph.core.graph import Schedule
from ralph.core.ids import RunId
from ralph.core.run import RunEnding, RunLimits, RunOutcome
from ralph.engine.team_worker import error_report, run_team_worker
from ralph.ports.executor import Interrupted
from ralph.ui.plain_screen import SilentScreen
from ralph.wiring.run_assembly import build_context, check_prerequisites
from ralph.wiring.run_settings import run_settings_of, schedule_of
from ralph.wiring.team_assembly import WorkerStart, merge_branch_of
from ralph.workflows.synced_documents import ReadOnlyDocuments

ORPHANED = "SIGHUP"
"""What the end of the lead is to its workers."""


def main() -> int:
    """Take the slot, work, and say how it ended."""
    line = sys.stdin.buffer.readline()
    try:
        start = msgspec.json.decode(line, type=WorkerStart)
    except msgspec.MsgspecError:
        sys.stderr.write("this program is started by `ralph run --workers N`\n")
        return 64
    try:
        report = run_worker(start)
    except RalphError as error:
        report = error_report(error)
    except Interrupted:
        report = RunEnding(RunOutcome.INTERRUPTED, "by a signal")
    sys.stdout.buffer.write(msgspec.json.encode(report))
    return 0


def run_worker(start: WorkerStart) -> RunEnding:
    project = start.project
    with ExitStack() as stack:
        found = check_prerequisites(stack, project)
        signals = stack.enter_context(Signals(found.executor))

        def lead_speaks() -> None:
            if not os.read(0, 4096):
                signals.interrupt(ORPHANED)
                found.executor.unwatch(0)

        found.executor.watch(0, lead_speaks)
        settings = run_settings_of(project, start.run_id, start.target, found.agents, found.absent)
        settings = replace(
            settings,
            worker=start.worker,
            slot=start.name,
            address=RunId(start.worker),
            # Its checkouts come and go with their tasks: what a session leaves is kept beside them.
            session=replace(settings.session, memory_path=""),
            schedule=schedule_of(project, Schedule.CRITICAL_PATH),
            limits=RunLimits(iterations=settings.limits.iterations, run_s=start.run_s),
        )
        made = build_context(
            stack, found, settings, sink=SilentScreen(), interrupted=lambda: signals.interrupted
        )
        made.ctx.state.set_baseline(start.baseline)
        ctx = replace(made.ctx, document=ReadOnlyDocuments(made.ctx, start.documents))
        return run_team_worker(ctx, merge_branch_of(project, made, start.branch, start.began))


if __name__ == "__main__":
    raise SystemExit(main())
