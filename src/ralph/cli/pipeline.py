"""What the commands of the story pipeline have in common."""

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph.wiring.project import Project
    from ralph.workflows.pipeline import Pipeline


def add_prd(parser: ArgumentParser) -> None:
    """Which document."""
    parser.add_argument("--prd", metavar="FILE", help="the PRD, if it is not .agents/tasks/prd.md")


def the_pipeline(project: "Project", args: Namespace) -> "Pipeline":
    """Where its files are."""
    from ralph.workflows.pipeline import pipeline_of

    config = project.loaded.config
    return pipeline_of(
        project.root,
        project.loaded.variables,
        prd=os.path.abspath(args.prd) if args.prd else None,
        no_commit=config.git.commit == "none",
        gates=tuple(line for line in config.gates.commands.values() if line.strip()),
    )


def color_of(project: "Project", args: Namespace) -> str:
    """When to use colours."""
    return str(args.color or project.loaded.config.ui.color)
