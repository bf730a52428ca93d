"""A team, put together: its lead here, and what a worker is told about its seat."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TextIO

import msgspec

from ralph.adapters.executor.staff import Team
from ralph.adapters.workspace.trunk import SharedBranch, current_branch
from ralph.config.load import Loaded
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, WorkerId
from ralph.core.order import Schedule
from ralph.core.target import Target
from ralph.engine.kit import MARKER, Kit
from ralph.ports.staff import Staff
from ralph.ports.trunk import Trunk
from ralph.ui.overhearing import Overhearing
from ralph.wiring.checkouts import checkouts_of
from ralph.wiring.project import Project
from ralph.wiring.run import Assembled, assemble_run
from ralph.workflows.goal import papers

WORKERS_S = 10.0
"""What it takes to collect workers that had to be killed."""


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """All that a worker has to know. The configuration is that of the lead, frozen."""

    run_id: RunId
    worker: WorkerId
    name: str
    branch: str
    papers: tuple[str, ...]
    """Documents that only the lead writes."""
    target: Target
    schedule: Schedule
    baseline: tuple[GateResult, ...]
    """What the gates said when the run began."""
    began: str
    """With which commit it did."""
    run_s: float
    """Seconds that are left to the run; 0 is without limit."""
    loaded: Loaded


class Assembly(msgspec.Struct, frozen=True, kw_only=True):
    """A team, ready to run."""

    kit: Kit
    trunk: Trunk
    staff: Staff


@contextmanager
def assemble_team(
    project: Project,
    target: str | None,
    stdout: TextIO,
    *,
    json: bool,
    color: str,
    again: str = "ralph run",
) -> Iterator[Assembly]:
    """The lead's parts; taken apart again at the end. `again` is the command that goes on."""
    with ExitStack() as stack:
        made = assemble_run(
            stack,
            project,
            target,
            stdout,
            json=json,
            color=color,
            again=again,
            others_s=WORKERS_S,
        )
        kit = made.kit
        # What sessions say is heard by the workers; here it is read in their files.
        kit.sink = Overhearing(kit.sink, project.root, kit.clock)
        branch = current_branch(made.home)
        kit.settings = msgspec.structs.replace(kit.settings, schedule=schedule_of(project))
        began = kit.clock.monotonic()
        trunk = trunk_of(project, made, branch)
        first_tip = cache(trunk.tip)

        def seat(name: str, worker: WorkerId) -> bytes:
            s = kit.settings
            own = kit.document.paths if kit.document is not None else ()
            left = s.limits.run_s - (kit.clock.monotonic() - began)
            told = Seat(
                run_id=s.run_id,
                worker=worker,
                name=name,
                branch=branch,
                papers=(*own, *papers(kit.library)),
                target=s.target,
                schedule=s.schedule,
                baseline=kit.baseline,
                began=first_tip(),
                run_s=max(left, 0.001) if s.limits.run_s else 0.0,
                loaded=project.loaded,
            )
            return msgspec.json.encode(told)

        env = {**os.environ, MARKER: kit.settings.worker}
        staff = Team(seat, cwd=project.root, env=env)
        stack.callback(staff.close)
        yield Assembly(kit=kit, trunk=trunk, staff=staff)


def trunk_of(project: Project, made: Assembled, branch: str, since: str = "") -> Trunk:
    """The branch that all of them build, `since` a commit."""
    return SharedBranch(
        made.git,
        made.home,
        branch=branch,
        folder=checkouts_of(project),
        preparation=made.preparation,
        since=since,
    )


def schedule_of(project: Project) -> Schedule:
    """With several workers the longest chain comes first, unless a person says otherwise."""
    is_plain = project.loaded.config.execution.schedule == "priority"
    return Schedule.PRIORITY if is_plain else Schedule.CRITICAL_PATH
