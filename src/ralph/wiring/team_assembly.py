"""Build everything that a team needs."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import msgspec

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.worker_processes import WorkerProcesses
from ralph.adapters.workspace.merge_branch import GitMergeBranch, current_branch
from ralph.config.project import Project
from ralph.core.gates import GateResult
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, WorkerId
from ralph.core.run import Target
from ralph.engine.run_context import MARKER, RunContext
from ralph.engine.team_lead import TeamLead
from ralph.ports.merge_branch import MergeBranch
from ralph.ui.screens import AttachedScreen
from ralph.ui.session_stream import SessionTails
from ralph.wiring.run_assembly import AssembledRun, assemble_run
from ralph.wiring.run_settings import schedule_of
from ralph.wiring.screen import RunOutput
from ralph.workflows.goal import goal_documents

WORKERS_S = 10.0
"""What it takes to collect workers that had to be killed."""


class WorkerStart(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker process is started with."""

    run_id: RunId
    worker: WorkerId
    name: str
    branch: str
    documents: tuple[str, ...]
    """Documents that only the lead writes."""
    target: Target
    baseline: tuple[GateResult, ...]
    """What the gates said when the run began."""
    began: str
    """With which commit it did."""
    run_s: float
    """Seconds that are left to the run; 0 is without limit."""
    project: Project


@contextmanager
def open_team(
    project: Project,
    target: str | None,
    output: RunOutput,
    *,
    prepare: Callable[[RunContext], RunContext],
) -> Iterator[TeamLead]:
    """The lead of a team; taken apart again at the end. `prepare` adds the documents."""
    with ExitStack() as stack:
        made = assemble_run(
            stack,
            project,
            target,
            output,
            others_s=WORKERS_S,
            # The workers read what sessions say; here it is read in their files.
            around=lambda sink: AttachedScreen(sink, SessionTails(project.root), SystemClock()),
        )
        schedule = schedule_of(project, Schedule.CRITICAL_PATH)
        settings = msgspec.structs.replace(made.ctx.settings, schedule=schedule)
        ctx = prepare(msgspec.structs.replace(made.ctx, settings=settings))
        branch = current_branch(made.home)
        began = ctx.clock.monotonic()
        merge_branch = merge_branch_of(project, made, branch)
        first_tip = cache(merge_branch.head)

        def start_line(name: str, worker: WorkerId) -> bytes:
            s = ctx.settings
            left = s.limits.run_s - (ctx.clock.monotonic() - began)
            start = WorkerStart(
                run_id=s.run_id,
                worker=worker,
                name=name,
                branch=branch,
                documents=(*ctx.document.paths, *goal_documents(ctx.project_files)),
                target=ctx.state.target,
                baseline=ctx.state.baseline,
                began=first_tip(),
                run_s=max(left, 0.001) if s.limits.run_s else 0.0,
                project=project,
            )
            return msgspec.json.encode(start)

        env = {**os.environ, MARKER: ctx.settings.worker}
        worker_pool = WorkerProcesses(start_line, cwd=project.root, env=env)
        stack.callback(worker_pool.close)
        yield TeamLead(ctx, merge_branch, worker_pool, project.config.workers.count)


def merge_branch_of(
    project: Project, made: AssembledRun, branch: str, since: str = ""
) -> MergeBranch:
    """The branch that all of them build, `since` a commit."""
    return GitMergeBranch(
        made.home,
        branch=branch,
        folder=project.checkouts,
        preparation=made.preparation,
        since=since,
    )
