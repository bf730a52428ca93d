"""Write a PRD with stories from what you want.

The request comes from the command line, a file or standard input; at a terminal you are asked. The
agent then takes over the terminal and writes `.agents/tasks/prd.md` with you; with `--yes`, or
without a terminal, a session writes it alone. Where the stories are not in the form that can be
built, it is told what is wrong.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ralph.cli.with_a_person import add_agent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ralph.wiring.project import Project
    from ralph.workflows.pipeline import Pipeline

EXAMPLES = """\
ralph prd "a shop that sells tea"
ralph prd --file request.md --yes
ralph prd --edit
ralph prd --out docs/shop.md "a shop that sells tea"
"""

TALKS = 3
"""How often the agent is called back to mend what it has written."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("request", metavar="REQUEST", nargs="?", help="what is wanted; - is stdin")
    parser.add_argument("--file", metavar="FILE", help="the same from a file")
    parser.add_argument("--edit", action="store_true", help="write it in your editor")
    parser.add_argument(
        "--out", metavar="FILE", dest="prd", help="the PRD, if not .agents/tasks/prd.md"
    )
    parser.add_argument(
        "-y", "--yes", action="store_true", help="ask nobody: a session does it alone"
    )
    add_agent(parser)
    parser.add_argument("--no-sandbox", action="store_true", help="run without a wall, knowingly")
    parser.add_argument("--no-commit", action="store_true", help="leave the PRD uncommitted")
    parser.set_defaults(json=False)


def run(args: Namespace) -> int:
    """Until the PRD can be built, or nobody wants to go on."""
    from ralph.cli.asking import the_request
    from ralph.cli.feature.options import is_alone
    from ralph.cli.opening import the_project
    from ralph.cli.pipeline import the_pipeline
    from ralph.cli.with_a_person import flags

    wanted = flags(args) | ({"git.commit": "none"} if args.no_commit else {})
    project = the_project(wanted | {"execution.limit": 0})
    pipeline = the_pipeline(project, args)
    request = the_request(args, os.environ)
    if is_alone(args):
        code = write_prd(project, pipeline, args, request)
    else:
        with _folder_of(project, pipeline):
            code = _talk(project, pipeline, request)
    if code == 0:
        tell(project, pipeline)
    return code


def tell(project: "Project", pipeline: "Pipeline") -> None:
    """What there is now, and what follows."""
    from ralph.core.safe_text import one_line
    from ralph.wiring.project import open_library
    from ralph.workflows.pipeline import prd_of

    stories = prd_of(open_library(project), pipeline).stories
    count = f"{len(stories)} {'story' if len(stories) == 1 else 'stories'}"
    print(f"PRD: {one_line(pipeline.prd)}, {count}")
    print(f"next: {pipeline.command('plan')}")


def write_prd(
    project: "Project",
    pipeline: "Pipeline",
    args: Namespace,
    request: str,
    command: str = "prd",
) -> int:
    """Let a session do it alone."""
    from ralph.cli.pipeline import color_of
    from ralph.ports.store import Store
    from ralph.wiring.project import open_library
    from ralph.wiring.run import assemble
    from ralph.workflows.discovery import discover, prd_errand
    from ralph.workflows.errand import as_task

    errand = prd_errand(open_library(project), pipeline, request)

    def prepare(store: Store) -> str:
        return as_task(store, errand, project.loaded.config.execution.max_retries).id

    color, again = color_of(project, args), pipeline.command(command)
    with (
        _folder_of(project, pipeline),
        assemble(project, prepare, sys.stdout, json=args.json, color=color, again=again) as kit,
    ):
        return discover(kit, pipeline, errand).exit_code


@contextmanager
def _folder_of(project: "Project", pipeline: "Pipeline") -> "Iterator[None]":
    """Agents with a sandbox of their own can be let into a folder only while it is there."""
    folder = os.path.dirname(os.path.join(project.root, pipeline.prd))
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):
            os.removedirs(folder)  # those that are empty


def _talk(project: "Project", pipeline: "Pipeline", request: str) -> int:
    """Let the person and an agent do it together."""
    from ralph.cli.opening import the_store
    from ralph.cli.with_a_person import hold
    from ralph.core.errors import RalphError, UnusableData
    from ralph.wiring.project import open_library
    from ralph.workflows.context import context_of
    from ralph.workflows.discovery import prd_talk, ticked, wrong_with

    library = open_library(project)
    built = ticked(library, pipeline)
    with the_store(project) as store:
        context = context_of(project.loaded, store, library)
    wrong = ""
    for _ in range(TALKS):
        asked = f"{wrong}\nMend that, please." if wrong else request
        hold(project, prd_talk(library, pipeline, asked, context))
        if not library.content(pipeline.prd):
            raise RalphError(f"no PRD was written: there is no {pipeline.prd}", hint="ralph prd")
        wrong = wrong_with(library, pipeline, built)
        if not wrong or not _go_on(wrong):
            break
    if wrong:
        raise UnusableData(wrong.partition("\n")[0], hint=f"mend {pipeline.prd}")
    return 0


def _go_on(wrong: str) -> bool:
    print(wrong)
    print("let the agent mend it? [Y/n] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")
