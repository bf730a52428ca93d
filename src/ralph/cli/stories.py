"""Commands of the story pipeline: write, plan, build, validate."""

import os
import sys
from argparse import Namespace
from contextlib import suppress
from functools import partial
from time import time

from msgspec import to_builtins
from msgspec.structs import replace

from ralph.cli.command import command, flag, option
from ralph.cli.options import (
    EVENTS,
    PRD,
    RUN_OPTIONS,
    SESSION,
    at_least,
    json_option,
    no_commit,
    settings_of,
)
from ralph.cli.output import print_json
from ralph.cli.project_access import (
    find_pipeline,
    open_project,
    open_run,
    output_of,
    planning_target,
    warn,
)
from ralph.cli.prompts import is_alone, nothing_written, read_request, run_interactive, says_yes
from ralph.core.errors import Missing, UnusableData
from ralph.core.run import RunOutcome
from ralph.core.safe_text import one_line
from ralph.documents.prd import require_usable
from ralph.documents.story_validation import ValidationReport
from ralph.store.store import Store
from ralph.ui.formatting import count_text
from ralph.wiring import run_assembly
from ralph.wiring.project import Project, find_project, open_project_files, open_store
from ralph.workflows import story_phases, validation
from ralph.workflows.document_tasks import DocumentTasks
from ralph.workflows.iteration_log import create_log_files
from ralph.workflows.prd_document import PrdDocument
from ralph.workflows.story_pipeline import StoryPipeline, load_prd, require_plan, require_prd
from ralph.workflows.synced_documents import record_document

ROUNDS = 3
"""How often the agent is called to fix what it has written."""
ITERATIONS = 25


@command(
    option("request", "REQUEST", "what is wanted; - is stdin", nargs="?"),
    option("--file", "FILE", "the same from a file"),
    option("--out", "FILE", "the PRD, if not .agents/tasks/prd.md", dest="prd"),
    flag("-y", "--yes", "do not ask; a session does it alone"),
    *SESSION,
    no_commit("the PRD"),
)
def write(args: Namespace) -> int:
    """Write a PRD with stories from what you want.

    The request comes from the command line, a file or standard input; at a terminal you are asked.
    The agent then takes over the terminal and writes `.agents/tasks/prd.md` with you; with `--yes`,
    or without a terminal, a session writes it alone. If the stories cannot be built in this form,
    the agent gets the errors.

    examples:
      ralph story write "a shop that sells tea"
      ralph story write --file request.md --yes
      ralph story write --out docs/shop.md "a shop that sells tea"
    """
    args.json = False
    project = open_project(settings_of(args) | {"execution.limit": 0})
    pipeline = find_pipeline(project, args)
    request = read_request(args, os.environ)
    if is_alone(args):
        code = write_prd(project, pipeline, args, request)
    else:
        code = _write_together(project, pipeline, request)
    if code == 0:
        stories = load_prd(open_project_files(project), pipeline).stories
        print(f"PRD: {one_line(pipeline.prd)}, {count_text(len(stories), 'story')}")
        print(f"next: {pipeline.command('plan')}")
    return code


def write_prd(
    project: Project, pipeline: StoryPipeline, args: Namespace, request: str, name: str = "write"
) -> int:
    """Let a session write the PRD; `name` is the command that continues it."""
    planned = story_phases.prd_planning_task(open_project_files(project), pipeline, request)
    target = planning_target(project, planned)
    _make_folder(project, pipeline)
    again, is_step = pipeline.command(name), name == "go"
    with open_run(project, args, target, again, is_step=is_step) as ctx:
        return story_phases.discover(ctx, pipeline, planned).exit_code


def _make_folder(project: Project, pipeline: StoryPipeline) -> None:
    """Make the folder of the PRD: some agents need it to exist."""
    with suppress(OSError):
        os.makedirs(os.path.dirname(os.path.join(project.root, pipeline.prd)), exist_ok=True)


def _write_together(project: Project, pipeline: StoryPipeline, request: str) -> int:
    """Write the PRD in an interactive session."""
    _make_folder(project, pipeline)
    project_files = open_project_files(project)
    built = story_phases.ticked_stories(project_files, pipeline)
    wrong = ""
    for _ in range(ROUNDS):
        asked = f"{wrong}\nFix that, please." if wrong else request
        prompt = partial(story_phases.interactive_prd_prompt, project_files, pipeline, asked)
        code = run_interactive(project, prompt)
        if not project_files.read_bytes(pipeline.prd):
            said = f"no PRD was written: there is no {pipeline.prd}"
            raise nothing_written(code, said, "ralph story write")
        wrong = story_phases.prd_problem(project_files, pipeline, built)
        if not wrong:
            return 0
        print(wrong)
        if not says_yes("let the agent fix it? [Y/n] ", default=True):
            break
    raise UnusableData(wrong.partition("\n")[0], hint=f"fix {pipeline.prd}")


@command(
    option(
        "iterations",
        "N",
        "at most so many iterations, failed ones included (default 1)",
        nargs="?",
        type=at_least(1),
        default=1,
    ),
    PRD,
    *SESSION,
    no_commit("the plan"),
    EVENTS,
)
def plan(args: Namespace) -> int:
    """Plan how the stories of the PRD are built.

    Sessions read the code, write `.ralph/IMPLEMENTATION_PLAN.md`, and improve it with every further
    iteration. Their other changes are undone. It ends early when an iteration changes nothing.

    examples:
      ralph story plan                     one iteration
      ralph story plan 3                   up to three, each on top of the last
      ralph story plan --prd docs/shop.md  for another document
    """
    # The number of iterations is the limit here.
    project = open_project(settings_of(args) | {"execution.limit": 0})
    return plan_stories(project, find_pipeline(project, args), args, args.iterations)


def plan_stories(
    project: Project, pipeline: StoryPipeline, args: Namespace, iterations: int, name: str = "plan"
) -> int:
    """Check the inputs and plan; `name` is the command that continues it."""

    project_files = open_project_files(project)
    planned = story_phases.story_plan_task(project_files, pipeline)
    create_log_files(project_files, pipeline, time())

    def target(store: Store) -> str:
        if project.has_sandbox:
            story_phases.create_empty_plan(project_files, pipeline)
        return planning_target(project, planned)(store)

    again, is_step = pipeline.command(name), name == "go"
    with open_run(project, args, target, again, is_step=is_step) as ctx:
        # On the way from an idea to commits a failed session is tried again.
        limit = iterations if name == "plan" else 0
        ended = story_phases.plan_stories(ctx, pipeline, iterations, limit)
    is_used_up = ended.outcome is RunOutcome.LIMIT_REACHED and not planned.missing()
    code = 0 if is_used_up else ended.exit_code
    if code == 0 and name == "plan" and not args.json:
        print(f"plan: {one_line(pipeline.plan)}")
        print(f"next: {pipeline.command('build')}")
    return code


@command(
    option(
        "iterations",
        "N",
        f"stop after N iterations (default {ITERATIONS})",
        nargs="?",
        type=at_least(1),
    ),
    PRD,
    *RUN_OPTIONS,
)
def build(args: Namespace) -> int:
    """Build the stories of the PRD, one after the other, until all are done.

    It needs the PRD and the plan. The first open story whose dependencies are done goes to a fresh
    session; when the work counts, Ralph ticks its boxes and commits. What you change in the PRD
    meanwhile counts from the next iteration on. Stories that failed or were blocked before get a
    fresh set of tries.

    examples:
      ralph story build                     up to 25 iterations
      ralph story build 5                   up to five
      ralph story build --prd docs/shop.md  the stories of another document
      ralph story build --no-commit         leave the work uncommitted
      ralph story build --dry-run           which stories are open
    """
    project = limited_project(args)
    pipeline = find_pipeline(project, args)
    if args.dry_run:
        _preview(project, pipeline, as_json=args.json)
        return 0
    return build_stories(project, pipeline, args)


def limited_project(args: Namespace) -> Project:
    """The project with a limit on iterations: N, a flag, a setting, or the default."""
    wanted = settings_of(args)
    if args.iterations is not None:
        wanted["execution.limit"] = args.iterations
    project = open_project(wanted)
    if project.source("execution.limit").kind == "default":
        # Without warnings about the settings: they were printed.
        project = find_project(wanted | {"execution.limit": ITERATIONS})
    return project


def build_stories(
    project: Project, pipeline: StoryPipeline, args: Namespace, name: str = "build"
) -> int:
    """Check the inputs and build; `name` is the command that continues it."""

    if project.config.workers.count > 1 and project.source("workers.count").kind == "flag":
        warn("stories are built one after the other: there is one worker")
    project_files = open_project_files(project)
    require_prd(project_files, pipeline)
    require_plan(project_files, pipeline)
    create_log_files(project_files, pipeline, time())
    with open_store(project) as store:
        feature = store.features.add(pipeline.feature)
    again, is_step = pipeline.command(name), name == "go"
    with open_run(project, args, feature.id, again, is_step=is_step) as ctx:
        return story_phases.build_stories(
            ctx, pipeline, project.config.execution.max_retries
        ).exit_code


def _preview(project: Project, pipeline: StoryPipeline, *, as_json: bool) -> None:
    project_files = open_project_files(project)
    require_prd(project_files, pipeline)
    require_plan(project_files, pipeline)
    prd = load_prd(project_files, pipeline)
    require_usable(prd, pipeline.prd)
    still_open = [story for story in prd.stories if not story.is_ticked]
    if as_json:
        stories = [{"id": one.id, "title": one.title, "needs": one.needs} for one in still_open]
        print_json({"prd": pipeline.prd, "total": len(prd.stories), "open": stories})
        return
    for remark in prd.remarks:
        warn(f"{pipeline.prd}, {remark}")
    print(f"{pipeline.prd}: {len(still_open)} open of {len(prd.stories)}")
    for story in still_open:
        print(f"open    {story.id}  {one_line(story.title, 80)}")


@command(PRD, *SESSION, no_commit("the report"), json_option("print the report as JSON"))
def validate(args: Namespace) -> int:
    """Check the project against the PRD, criterion by criterion.

    Gates and sessions look at a clean checkout of the newest commit; each ticked story gets a
    session of its own. The report is `.ralph/validation.md`. If a criterion fails, its story is
    opened again, and the next session gets the reason. Exits with 1 if anything fails.

    examples:
      ralph story validate
      ralph story validate --prd docs/shop.md
    """
    project = open_project(settings_of(args) | {"execution.limit": 0})
    return validate_stories(project, find_pipeline(project, args), args)


def validate_stories(
    project: Project,
    pipeline: StoryPipeline,
    args: Namespace,
    *,
    events: bool = False,
    name: str = "validate",
) -> int:
    """Validate, and print what was found: in words, as JSON, or only by events. `name` is the
    command that goes on with it."""
    project_files = open_project_files(project)
    retries = project.config.execution.max_retries
    require_prd(project_files, pipeline)

    def synced(store: Store) -> PrdDocument:
        stories = PrdDocument(
            DocumentTasks(store, store.features.add(pipeline.feature), pipeline.prd, retries),
            project_files,
        )
        record_document(store, stories, project.root)
        stories.sync()
        if not stories.tasks.done():
            raise Missing(f"no story of {pipeline.prd} is built", hint=pipeline.command("build"))
        return stories

    def target(store: Store) -> str:
        synced(store)
        return validation.root_task(store, pipeline).id

    as_json = args.json and not events
    shown = output_of(project, args, pipeline.command(name), is_step=name == "go")
    output = replace(shown, stream=sys.stderr if as_json else sys.stdout, json=events)
    with run_assembly.open_run(project, target, output) as ctx:
        report, ended, warnings = validation.validate(ctx, pipeline, synced(ctx.store), retries)
    for warning in warnings:
        warn(warning)
    if as_json:
        print_json({**to_builtins(report), "passed": report.passed})
    elif not events:
        _print(report, pipeline, is_over=ended.outcome not in validation.STOPPED)
    # Paused or interrupted is another matter than a criterion that does not hold.
    if ended.exit_code not in (0, 5):
        return ended.exit_code
    return 0 if report.passed else 1


def _print(report: ValidationReport, pipeline: StoryPipeline, *, is_over: bool) -> None:
    for gate in report.gates:
        print(f"{'pass' if gate.passed else 'FAIL'}     gate {gate.name}")
    for story in report.stories:
        for one in story.criteria:
            word = "pass" if one.verdict == "pass" else one.verdict.upper()
            print(f"{word:<8} {story.id} {one_line(one.criterion, 80)}")
    if not is_over:
        return
    print(f"report: {pipeline.report}")
    verdicts = {one.verdict for story in report.stories for one in story.criteria}
    if "fail" in verdicts:
        print(f"next: {pipeline.command('build')}")
    elif not all(one.passed for one in report.stories):
        # Nothing was opened again: there is nothing to build.
        print(f"next: {pipeline.command('validate')}   looks again at what could not be decided")
