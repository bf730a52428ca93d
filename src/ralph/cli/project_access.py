"""Open the project, its store and its runs, for all commands."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from ralph.core.safe_text import one_line
from ralph.git_layout import may_have_refs, top_of
from ralph.wiring.project import Project, find_project, open_project_files, open_store

if TYPE_CHECKING:
    from ralph.engine.run_context import RunContext
    from ralph.ports.merge_branch import BranchBehind
    from ralph.store.store import Store
    from ralph.ui.needs import WaitingPlan
    from ralph.ui.project_view import ProjectView
    from ralph.wiring.screen import RunOutput
    from ralph.workflows.planning_task import PlanningTask
    from ralph.workflows.story_pipeline import StoryPipeline


def open_project(flags: "Mapping[str, object] | None" = None, *, anywhere: bool = False) -> Project:
    """Find the project around the current directory and print warnings about its settings;
    `anywhere`: without a project, use the environment."""
    project = find_project(flags, anywhere=anywhere)
    for warning in project.warnings:
        warn(warning)
    return project


def warn(warning: str) -> None:
    print(f"ralph: warning: {one_line(warning)}", file=sys.stderr)


@contextmanager
def project_with_store(
    flags: "Mapping[str, object] | None" = None,
) -> "Iterator[tuple[Project, Store]]":
    """Open the project around the current directory and its store."""
    project = open_project(flags)
    with open_store(project) as store:
        yield project, store


def open_view(project: Project, store: "Store") -> "ProjectView":
    """The facts that screens show, by the project's settings and what is alive on this machine."""
    from ralph.ui.project_view import ProjectView
    from ralph.wiring.processes import is_running

    def plans() -> "list[WaitingPlan]":
        if os.environ.get("RALPH_SOCKET"):
            return []  # a session approves nothing
        from ralph.workflows.waiting_plans import waiting_plans

        return waiting_plans(store, open_project_files(project))

    def behind() -> "list[BranchBehind]":
        if os.environ.get("RALPH_SOCKET"):
            return []  # nor does it merge into a person's branch
        top = top_of(project.root)
        if top is None or not may_have_refs(top, "refs/ralph/tip"):
            return []
        from ralph.wiring.git_access import find_branches_behind

        return find_branches_behind(project, top)

    config = project.config
    return ProjectView(
        store,
        project.root,
        is_alive=is_running,
        budget=config.budget,
        breaker=config.breaker,
        plans=plans,
        behind=behind,
    )


def find_pipeline(project: Project, args: Namespace) -> "StoryPipeline":
    from ralph.workflows.story_pipeline import pipeline_of

    config = project.config
    return pipeline_of(
        project.root,
        project.variables,
        prd=os.path.abspath(args.prd) if args.prd else None,
        no_commit=config.git.commit == "none",
        gates=tuple(line for line in config.gates.commands.values() if line.strip()),
    )


def output_of(
    project: Project, args: Namespace, again: str, *, is_step: bool = False
) -> "RunOutput":
    """Standard output; `again` is the command that goes on with the run, `is_step`: which goes on
    itself when the run is complete."""
    from ralph.wiring.screen import RunOutput

    color = str(args.color or project.config.ui.color)
    return RunOutput(stream=sys.stdout, json=args.json, color=color, again=again, is_step=is_step)


def open_run(
    project: Project,
    args: Namespace,
    target: "str | Callable[[Store], str] | None",
    again: str,
    *,
    is_step: bool = False,
) -> "AbstractContextManager[RunContext]":
    """A run on standard output; see `output_of`."""
    from ralph.wiring.run_assembly import open_run

    return open_run(project, target, output_of(project, args, again, is_step=is_step))


def planning_target(project: Project, planned: "PlanningTask") -> "Callable[[Store], str]":
    """A function that adds the task of a planning session, for `open_run`."""
    from ralph.workflows.planning_task import task_of

    retries = project.config.execution.max_retries
    return lambda store: task_of(store, planned, retries).id
