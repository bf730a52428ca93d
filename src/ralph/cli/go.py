"""Build what you want: from a request to verified commits, in one command.

Makes the current repository a project if needed, plans in proportion to the request, shows the plan
with its likely cost, and asks once. A request of one line becomes one task, a longer one a PRD with
stories, which are built and validated, and a goal for several workers becomes code tasks.
`ralph "add a dark mode"` is short for `ralph go "add a dark mode"`. Called again, it continues
where it stopped.

examples:
  ralph "add a dark mode"                  one task
  ralph go --file shop.md                  a page: stories, built one after the other
  ralph go "search in the shop" --workers 3    code tasks for several workers
  ralph go "a shop that sells tea" --plan stories --yes    from one line to stories, unattended
  ralph go                                 go on where it stopped
"""

import os
import sys
from argparse import Namespace
from contextlib import redirect_stdout, suppress
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.cli.command import command, flag, option
from ralph.cli.init import make_project
from ralph.cli.options import PHASES, PRD, RUN_OPTIONS, settings_of
from ralph.cli.project_access import find_pipeline, open_project
from ralph.cli.prompts import (
    ask_for_request,
    can_ask,
    confirm,
    has_terminal,
    read_request,
    says_yes,
)
from ralph.cli.run import run_tasks
from ralph.cli.run_preview import output_stream, show_plan
from ralph.cli.stories import (
    build_stories,
    limited_project,
    plan_stories,
    validate_stories,
    write_prd,
)
from ralph.cli.team import goal
from ralph.config.toml_file import find_roots
from ralph.core.errors import Missing, NoSuchTask, UsageError
from ralph.core.ids import TaskId
from ralph.core.policy.decision import Phase
from ralph.core.run import OneFeature
from ralph.core.safe_text import one_line
from ralph.core.task import Task, TaskDraft, TaskStatus
from ralph.documents.prd import Story
from ralph.git_layout import top_of
from ralph.store.store import Store
from ralph.ui.formatting import count_text
from ralph.wiring.project import Project, find_project, open_project_files, open_store
from ralph.workflows.story_pipeline import (
    COMMANDS,
    NEXT,
    AutoProgress,
    StoryPipeline,
    auto_progress_of,
    load_prd,
    save_auto_progress,
    start_auto,
)

WISH: Final = "wish"
"""The key under which the store keeps the last wish."""
LONGEST_LINE: Final = 400
LONGEST_TITLE: Final = 100
SHOWN: Final = 20
ROUNDS: Final = 3
"""How often stories are built that validation has opened again."""
PAUSED: Final = 6
STARTS: Final = (*PHASES, "prd", "plan", "build", "validate")


class Way(StrEnum):
    """How a wish is planned."""

    TASK = "task"
    STORIES = "stories"
    GOAL = "goal"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    way: Way
    task: TaskId | None = None
    """Its task, once it was approved."""


@command(
    option("request", "WISH", "what you want; - is stdin; without: continue", nargs="?"),
    option("--file", "FILE", "the same from a file"),
    flag("-y", "--yes", "do not ask; approve the plan"),
    option(
        "--plan",
        "WAY",
        "plan it as a task, as stories or as a goal, whatever its length",
        choices=[way.value for way in Way],
        dest="way",
    ),
    option(
        "--from", "PHASE", "of stories: prd, plan, build or validate", choices=STARTS, dest="start"
    ),
    PRD,
    *RUN_OPTIONS,
)
def go(args: Namespace) -> int:
    text = _given(args)
    _become_project(args)
    with open_store(find_project()) as store:
        wish = _wish(args, store, text)
    match wish.way:
        case Way.TASK:
            return _build_task(args, wish)
        case Way.STORIES:
            return _build_stories(args, wish.text)
        case Way.GOAL:
            args.goal, args.autonomous = wish.text, True
            return goal.run.run(args) or 0


def _given(args: Namespace) -> str:
    """The wish on the command line, in a file or in the environment; empty if there is none."""
    given = args.request, args.file
    is_set = os.environ.get("PRD_INLINE") or os.environ.get("PRD_REQUEST_PATH")
    if given == (None, None) and not is_set:
        return ""
    text = read_request(args, os.environ)
    if not text:
        raise UsageError("the wish is empty", hint='ralph "what you want"')
    return text


def _become_project(args: Namespace) -> None:
    """Make the repository a project, if there is none around this folder."""
    here = os.getcwd()
    if not (find_roots(here) or args.dry_run or os.environ.get("RALPH_SOCKET")):
        os.chdir(top_of(here) or here)
        with redirect_stdout(output_stream(args)):
            make_project(args)


def _wish(args: Namespace, store: Store, text: str) -> Wish:
    """The wish that was given, or else the last one; the same wish again goes on."""
    before = store.documents.value(WISH, Wish)
    if not (text or args.way == Way.STORIES or args.start or args.prd):
        if before is not None and args.way in (None, before.way):
            return before
        text = before.text if before else ask_for_request() if can_ask() else ""
    wish = Wish(text=text, way=_way(args, text))
    if not text and wish.way is not Way.STORIES:
        raise _nothing_wanted()
    if before is not None and replace(before, task=None) == wish and _open_task(store, before):
        return before
    if not args.dry_run:
        store.documents.save_value(WISH, wish)
    return wish


def _nothing_wanted() -> Missing:
    return Missing(
        "there is no terminal to ask what is wanted",
        hint='ralph "what you want"; with a PRD of your own: ralph go --from plan',
    )


def _way(args: Namespace, text: str) -> Way:
    if args.way:
        return Way(args.way)
    if not text or args.start or args.prd:
        return Way.STORIES
    if (vars(args)["workers.count"] or 1) > 1:
        return Way.GOAL
    is_line = len(text.splitlines()) == 1 and len(text) <= LONGEST_LINE
    return Way.TASK if is_line else Way.STORIES


# One task


def _open_task(store: Store, wish: Wish) -> Task | None:
    """The task of a wish, if it is not done."""
    with suppress(NoSuchTask):
        task = store.tasks.find(wish.task) if wish.task else None
        return task if task and task.status is not TaskStatus.DONE else None
    return None


def _build_task(args: Namespace, wish: Wish) -> int:
    project = open_project(settings_of(args))
    with open_store(project) as store:
        task = _open_task(store, wish)
        if task is not None and task.status in (TaskStatus.FAILED, TaskStatus.BLOCKED):
            store.tasks.retry(task.id)
    if wish.task and not task:
        print(f"{wish.task} is done: {one_line(wish.text, 80)}", file=output_stream(args))
        return 0
    if task is None:
        show_plan(project, args, [f"plan     one task: {one_line(wish.text, 200)}"], 1)
        if args.dry_run:
            return 0
        confirm(args, "build it", default=True)
        task = _add_task(project, wish)
    args.target = task.id
    return run_tasks(project, args)


def _add_task(project: Project, wish: Wish) -> Task:
    title = one_line(wish.text, LONGEST_TITLE)
    draft = TaskDraft(
        title=title,
        description="" if title == wish.text else wish.text,
        max_retries=project.config.execution.max_retries,
    )
    with open_store(project) as store:
        task = store.tasks.add(draft)
        store.documents.save_value(WISH, replace(wish, task=task.id))
    return task


# Stories


def _build_stories(args: Namespace, idea: str) -> int:
    if args.dry_run:
        raise UsageError(
            "stories are planned in sessions, so there is no plan for --dry-run to show",
            hint="ralph story build --dry-run shows what is left of a PRD",
        )
    args.iterations = None
    building = limited_project(args)
    project = find_project(settings_of(args) | {"execution.limit": 0})
    pipeline = find_pipeline(project, args)
    start = COMMANDS.get(args.start) or (Phase(args.start) if args.start else None)
    with open_store(project) as store:
        before = auto_progress_of(store, pipeline)
        progress = start_auto(before, idea, start, has_open=bool(_open_stories(project, pipeline)))
        if progress == AutoProgress():
            raise _nothing_wanted()
    return _run_phases(project, building, pipeline, args, progress)


def _open_stories(project: Project, pipeline: StoryPipeline) -> list[Story]:
    stories = load_prd(open_project_files(project), pipeline).stories
    return [story for story in stories if not story.is_ticked]


def _run_phases(
    project: Project,
    building: Project,
    pipeline: StoryPipeline,
    args: Namespace,
    progress: AutoProgress,
) -> int:
    """Run the phases in order until one of them fails."""

    rounds = 0
    while progress.phase is not None:
        is_build = progress.phase is Phase.BUILDING
        if is_build and not (progress.approved or _is_approved(project, pipeline, args)):
            again = f"{pipeline.command('go')} --from build"
            hint = f"{again}   goes on; edit PRD and plan before"
            return _pause(f"{pipeline.plan} waits for your approval", hint)
        number, of = [*NEXT].index(progress.phase) + 1, len(NEXT)
        print(f"phase {number} of {of}: {progress.phase.value}", file=output_stream(args))
        code = _run_phase(building if is_build else project, pipeline, args, progress)
        following, rounds = NEXT[progress.phase], rounds + is_build
        if progress.phase is Phase.VALIDATION and code == 1 and _has_open(project, pipeline):
            # What it has opened again is built again. Where only a gate is red, or no verdict was
            # reached, there is nothing to build.
            following, code = Phase.BUILDING, 0 if rounds < ROUNDS else 1
        elif code != 0:
            following = progress.phase
        approved = progress.approved or (is_build and code == 0)
        progress = replace(progress, phase=following, approved=approved)
        # Now, and not before: another run may have been at work.
        with open_store(project) as store:
            save_auto_progress(store, pipeline, progress)
        if code != 0:
            return code
        if is_build and pipeline.no_commit:
            # Validation sees nothing but commits: it would open all that was built.
            hint = f"commit them; then {pipeline.command('go')}   validates the newest commit"
            return _pause("the stories are built, and not committed", hint)
    if not args.json:
        print("everything is built and validated; `ralph report` shows what proves it")
    return 0


def _has_open(project: Project, pipeline: StoryPipeline) -> bool:
    with open_store(project) as store:
        feature = store.features.add(pipeline.feature)
        return store.claims.has_open(OneFeature(feature.id, feature.name))


def _run_phase(
    project: Project, pipeline: StoryPipeline, args: Namespace, progress: AutoProgress
) -> int:
    match progress.phase:
        case Phase.DISCOVERY:
            return write_prd(project, pipeline, args, progress.idea, "go")
        case Phase.PLANNING:
            return plan_stories(project, pipeline, args, 1, "go")
        case Phase.BUILDING:
            return build_stories(project, pipeline, args, "go")
        case Phase.VALIDATION:
            return validate_stories(project, pipeline, args, events=args.json, name="go")
        case None:
            return 0


def _is_approved(project: Project, pipeline: StoryPipeline, args: Namespace) -> bool:
    stories = _open_stories(project, pipeline)
    count = count_text(len(stories), "story")
    lines = [f"plan     {count}: {pipeline.prd}, {pipeline.plan}"]
    lines += (f"         {story.id}  {one_line(story.title, 80)}" for story in stories[:SHOWN])
    show_plan(project, args, lines, len(stories))
    if args.yes:
        return True
    return not args.json and has_terminal() and says_yes("build it? [Y/n] ", default=True)


def _pause(said: str, hint: str) -> int:
    print(f"ralph: {said}\nhint: {hint}", file=sys.stderr)
    return PAUSED
