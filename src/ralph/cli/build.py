"""Build the stories of the PRD, one after the other, until all are done.

It needs the PRD and the plan. The first open story whose dependencies are done goes to a fresh
session; when the work counts, Ralph ticks its boxes and commits. What you change in the PRD
meanwhile counts from the next iteration on. Stories that failed or were put aside before get
a fresh set of tries.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.pipeline import add_prd
from ralph.cli.run import add_run_flags

if TYPE_CHECKING:
    from ralph.wiring.project import Project
    from ralph.workflows.pipeline import Pipeline

EXAMPLES = """\
ralph build                     up to 25 iterations
ralph build 5                   up to five
ralph build --prd docs/shop.md  the stories of another document
ralph build --no-commit         leave the work uncommitted
ralph build --dry-run           which stories are open"""

ITERATIONS = 25


def arguments(parser: ArgumentParser) -> None:
    from ralph.cli.parser import at_least_one

    parser.add_argument(
        "iterations",
        metavar="N",
        nargs="?",
        type=at_least_one,
        help=f"stop after N iterations (default {ITERATIONS})",
    )
    add_prd(parser)
    add_run_flags(parser)


def run(args: Namespace) -> int:
    """One run; its outcome is the exit code."""
    from ralph.cli.pipeline import the_pipeline

    project = limited(args)
    pipeline = the_pipeline(project, args)
    if args.dry_run:
        return _preview(project, pipeline, as_json=args.json)
    return build_stories(project, pipeline, args)


def limited(args: Namespace) -> "Project":
    """The project, with a limit on its iterations: N, a flag, a setting, or the usual one."""
    from ralph.cli.opening import the_project
    from ralph.cli.run import flags
    from ralph.wiring.project import find_project

    wanted = flags(args)
    if args.iterations is not None:
        wanted["execution.limit"] = args.iterations
    project = the_project(wanted)
    if project.loaded.source("execution.limit").kind == "default":
        # What is odd about the settings has been said.
        project = find_project(wanted | {"execution.limit": ITERATIONS})
    return project


def build_stories(
    project: "Project", pipeline: "Pipeline", args: Namespace, command: str = "build"
) -> int:
    """Check what must be there, then run."""
    from time import time

    from ralph.cli.opening import the_store, warn
    from ralph.cli.pipeline import color_of
    from ralph.wiring.project import open_library
    from ralph.wiring.run import assemble
    from ralph.workflows.build import build
    from ralph.workflows.chronicle import create_missing
    from ralph.workflows.pipeline import require_plan, require_prd

    loaded = project.loaded
    if loaded.config.workers.count > 1 and loaded.source("workers.count").kind == "flag":
        warn("stories are built one after the other: there is one worker")
    library = open_library(project)
    require_prd(library, pipeline)
    require_plan(library, pipeline)
    create_missing(library, pipeline, time())
    with the_store(project) as store:
        feature = store.add_feature(pipeline.feature)
    color = color_of(project, args)
    again = pipeline.command(command)
    with assemble(project, feature.id, sys.stdout, json=args.json, color=color, again=again) as kit:
        return build(kit, pipeline, project.loaded.config.execution.max_retries).exit_code


def _preview(project: "Project", pipeline: "Pipeline", *, as_json: bool) -> int:
    from ralph.cli.opening import warn
    from ralph.core.safe_text import one_line
    from ralph.documents.stories.checking import require_usable
    from ralph.wiring.project import open_library
    from ralph.workflows.pipeline import prd_of, require_plan, require_prd

    library = open_library(project)
    require_prd(library, pipeline)
    require_plan(library, pipeline)
    prd = prd_of(library, pipeline)
    require_usable(prd, pipeline.prd)
    still_open = [story for story in prd.stories if not story.is_ticked]
    if as_json:
        from ralph.cli.as_json import show

        stories = [{"id": one.id, "title": one.title, "needs": one.needs} for one in still_open]
        show({"prd": pipeline.prd, "total": len(prd.stories), "open": stories})
        return 0
    for remark in prd.remarks:
        warn(f"{pipeline.prd}, {remark}")
    print(f"{pipeline.prd}: {len(still_open)} open of {len(prd.stories)}")
    for story in still_open:
        print(f"open    {story.id}  {one_line(story.title, 80)}")
    return 0
