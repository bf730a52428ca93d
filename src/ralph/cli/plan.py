"""Plan how the stories of the PRD are built.

Sessions that only look at the code write `.ralph/IMPLEMENTATION_PLAN.md`, and make it better with
every further iteration. Whatever else they change is put back. It ends early when an iteration
changes nothing.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.pipeline import add_prd

if TYPE_CHECKING:
    from ralph.wiring.project import Project
    from ralph.workflows.pipeline import Pipeline

EXAMPLES = """\
ralph plan                     one iteration
ralph plan 3                   up to three, each on top of the last
ralph plan --prd docs/shop.md  for another document"""


def arguments(parser: ArgumentParser) -> None:
    from ralph.cli.parser import at_least_one
    from ralph.cli.with_a_person import add_agent

    parser.add_argument(
        "iterations",
        metavar="N",
        nargs="?",
        type=at_least_one,
        default=1,
        help="at most so many iterations, failed ones included (default 1)",
    )
    add_prd(parser)
    add_agent(parser)
    parser.add_argument("--no-sandbox", action="store_true", help="run without a wall, knowingly")
    parser.add_argument("--no-commit", action="store_true", help="leave the plan uncommitted")
    parser.add_argument("--json", action="store_true", help="print events as JSON lines")


def run(args: Namespace) -> int:
    """One run; its outcome is the exit code."""
    from ralph.cli.opening import the_project
    from ralph.cli.pipeline import the_pipeline
    from ralph.cli.with_a_person import flags

    wanted = flags(args) | ({"git.commit": "none"} if args.no_commit else {})
    # The number of rounds is the limit here.
    project = the_project(wanted | {"execution.limit": 0})
    return plan_stories(project, the_pipeline(project, args), args, args.iterations)


def plan_stories(
    project: "Project",
    pipeline: "Pipeline",
    args: Namespace,
    iterations: int,
    command: str = "plan",
) -> int:
    """Check what must be there, then run."""
    from time import time

    from ralph.cli.pipeline import color_of
    from ralph.core.outcome import Outcome
    from ralph.core.safe_text import one_line
    from ralph.ports.store import Store
    from ralph.wiring.project import open_library
    from ralph.wiring.run import assemble
    from ralph.workflows.chronicle import create_missing
    from ralph.workflows.errand import as_task
    from ralph.workflows.planning import make_room, plan, plan_errand

    library = open_library(project)
    errand = plan_errand(library, pipeline)
    create_missing(library, pipeline, time())

    def prepare(store: Store) -> str:
        if project.loaded.config.sandbox.mode != "off":
            make_room(library, pipeline)
        return as_task(store, errand, project.loaded.config.execution.max_retries).id

    color = color_of(project, args)
    again = pipeline.command(command)
    with assemble(project, prepare, sys.stdout, json=args.json, color=color, again=again) as kit:
        # On the way from an idea to commits a failed session is tried again.
        limit = iterations if command == "plan" else 0
        ended = plan(kit, pipeline, iterations, limit)
    is_used_up = ended.outcome is Outcome.LIMIT_REACHED and not errand.missing()
    code = 0 if is_used_up else ended.exit_code
    if code == 0 and not args.json:
        print(f"plan: {one_line(pipeline.plan)}")
        print(f"next: {pipeline.command('build')}")
    return code
