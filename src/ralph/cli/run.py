"""Run the loop until every task is settled.

examples:
  ralph run                     everything that is open
  ralph run t-1a2b3c            one task and all below it
  ralph run login               the tasks of the feature `login`
  ralph run --once              a single iteration
  ralph run --workers 4         four at a time, each in a checkout of its own
  ralph run --model opus        always this model
  ralph run --allow docker      with one rule allowed
  ralph run --dry-run           what would be done, and with what
  ralph run --json | jq .event  events as JSON lines
"""

import shlex
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ralph.cli.command import command, option
from ralph.cli.options import RUN_OPTIONS, settings_of
from ralph.cli.project_access import open_project, open_run, output_of
from ralph.config.project import Project

if TYPE_CHECKING:
    from ralph.engine.run_context import RunContext


@command(option("target", "a feature's name, a task's id or alias", nargs="?"), *RUN_OPTIONS)
def run(args: Namespace) -> int:
    project = open_project(settings_of(args))
    if args.dry_run:
        from ralph.cli.run_preview import show_dry_run

        show_dry_run(project, args)
        return 0
    return run_tasks(project, args)


def run_tasks(project: Project, args: Namespace) -> int:
    """Run the loop on the target that was named, with the documents of its tasks."""
    from ralph.workflows.iteration_log import SummaryLog
    from ralph.workflows.synced_documents import sync_documents

    def prepare(ctx: "RunContext") -> "RunContext":
        summaries = SummaryLog(ctx.project_files, project.root, ctx.clock)
        synced = sync_documents(ctx, project.config.execution.max_retries)
        return replace(synced, iteration_log=summaries)

    return run_target(project, args, args.target, again(args), prepare)


def run_target(
    project: Project,
    args: Namespace,
    target: str | None,
    again: str,
    prepare: "Callable[[RunContext], RunContext]",
) -> int:
    """Run the loop with one worker or several; `prepare` adds the documents."""
    from ralph.engine.loop import run as run_loop

    if project.config.workers.count > 1:
        from ralph.wiring.team_assembly import open_team

        with open_team(project, target, output_of(project, args, again), prepare=prepare) as lead:
            return lead.run().exit_code
    with open_run(project, args, target, again) as ctx:
        return run_loop(prepare(ctx)).exit_code


def again(args: Namespace) -> str:
    """The command line that continues this run."""
    workers = vars(args)["workers.count"]
    words = ["ralph", "run", *([args.target] if args.target is not None else [])]
    return shlex.join([*words, *(["--workers", str(workers)] if workers is not None else [])])
