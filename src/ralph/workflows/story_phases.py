"""The phases of a story pipeline: write the PRD, plan the stories, build them."""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from ralph.core.breaker import BLOCKED_BY_BREAKER
from ralph.core.brief import DocumentText
from ralph.core.errors import Missing, RalphError
from ralph.core.events import RunEnded
from ralph.core.policy.decision import Phase
from ralph.core.run import OneFeature
from ralph.core.safe_text import markdown_quote
from ralph.core.task import Task, TaskStatus
from ralph.documents.feature_prompts import (
    InteractivePrompt,
    revise_together,
    write_together,
)
from ralph.documents.prd import Story, all_boxes, flaws, plan_section, require_usable
from ralph.documents.story_prompts import template_path
from ralph.engine.loop import run
from ralph.engine.run_context import RunContext
from ralph.ports.project_files import IterationReport, ProjectFiles
from ralph.ports.task_document import TaskText
from ralph.prompts import prompt
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.workflows.document_tasks import DocumentTasks
from ralph.workflows.iteration_log import PipelineLog
from ralph.workflows.planning_task import (
    PlanningTask,
    SingleFileDocument,
    lacking,
    run_planning_task,
    uncommitted_edits,
)
from ralph.workflows.prd_document import PrdDocument
from ralph.workflows.story_pipeline import StoryPipeline, load_prd, require_plan, require_prd
from ralph.workflows.synced_documents import CompositeDocument, prd_documents, record_document

SHOWN = 10
AT_ONCE = 3
"""Problems on the first line, which screens show."""


def prd_planning_task(
    project_files: ProjectFiles, pipeline: StoryPipeline, request: str
) -> PlanningTask:
    if not request.strip():
        raise Missing(
            "there is no terminal to ask what is wanted",
            hint='say it: ralph story write "what you want", --file FILE, or on standard input',
        )
    built = ticked_stories(project_files, pipeline)
    there = (
        f"There is a `{pipeline.prd}` already. Revise it: keep what still holds, with the ids and"
        " the boxes of its stories, and change what the request asks for.\n\n"
        if project_files.read_bytes(pipeline.prd)
        else ""
    )
    return PlanningTask(
        alias=f"{pipeline.feature}-prd",
        title=f"Write {pipeline.prd}",
        description=there
        + pipeline.prompt(project_files, "prd", {"REQUEST": markdown_quote(request)}),
        phase=Phase.DISCOVERY,
        missing=lambda: prd_problem(project_files, pipeline, built),
        command=pipeline.command("write"),
        feature=pipeline.feature,
    )


def discover(ctx: RunContext, pipeline: StoryPipeline, planning_task: PlanningTask) -> RunEnded:
    return run_planning_task(ctx, planning_task, SingleFileDocument(ctx, pipeline.prd))


def interactive_prd_prompt(
    project_files: ProjectFiles, pipeline: StoryPipeline, request: str, context: str
) -> InteractivePrompt:
    asked = markdown_quote(request) if request.strip() else "(The person will tell you.)"
    opening = f"Let us write `{pipeline.prd}`."
    if project_files.read_bytes(pipeline.prd):
        opening = revise_together("PRD", pipeline.prd)
    rules = (
        f"You help a person to write a product requirements document. {prompt('write_together')}",
        pipeline.prompt(project_files, "prd", {"REQUEST": asked}),
        "Where this says that you cannot ask anyone: you can ask the person.",
        context,
    )
    return write_together(f"PRD {pipeline.prd}", Phase.DISCOVERY, rules, opening, request)


def ticked_stories(project_files: ProjectFiles, pipeline: StoryPipeline) -> dict[str, bool]:
    stories = load_prd(project_files, pipeline).stories
    return {one.id: _is_done(one) for one in stories if any(b.ticked for b in all_boxes(one))}


def _is_done(story: Story) -> bool:
    return story.is_ticked or story.has_all_criteria


def _is_built(story: Story, before: Mapping[str, bool]) -> bool:
    """Whether its boxes may be as they are: a session that writes a story must not tick it."""
    if not any(box.ticked for box in all_boxes(story)):
        return True
    return story.id in before and (before[story.id] or not _is_done(story))


def prd_problem(
    project_files: ProjectFiles, pipeline: StoryPipeline, before: Mapping[str, bool]
) -> str:
    """Why the PRD cannot be built, for the session that writes it; empty if it can. Only stories
    that were ticked `before` may be ticked."""
    try:
        prd = load_prd(project_files, pipeline)
    except RalphError as error:
        return str(error)
    if not prd.text.strip():
        return lacking(pipeline.prd)
    lines = [str(one) for one in (*flaws(prd), *prd.remarks)]
    lines += [
        f"line {story.line}: {story.id} has no criteria; write at least one: - [ ] …"
        for story in prd.stories
        if not story.criteria
    ]
    lines += [
        f"line {story.line}: {story.id} is not built yet: clear all its boxes"
        for story in prd.stories
        if not _is_built(story, before)
    ]
    if not lines:
        return ""
    found = list(dict.fromkeys(lines))
    first, rest = "; ".join(found[:AT_ONCE]), found[AT_ONCE:SHOWN]
    listed = "".join(f"\n- {line}" for line in rest)
    more = f"\n- and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{pipeline.prd} cannot be built as it is: {first}{listed}{more}"


def story_plan_task(project_files: ProjectFiles, pipeline: StoryPipeline) -> PlanningTask:
    require_prd(project_files, pipeline)
    require_usable(load_prd(project_files, pipeline), pipeline.prd)
    return PlanningTask(
        alias=f"{pipeline.feature}-plan",
        title=f"Plan how {pipeline.prd} is built",
        description=pipeline.prompt(project_files, "plan", {}),
        phase=Phase.PLANNING,
        missing=lambda: _lacks(project_files, pipeline),
        command=pipeline.command("plan"),
        feature=pipeline.feature,
    )


def _lacks(project_files: ProjectFiles, pipeline: StoryPipeline) -> str:
    page = project_files.read(pipeline.plan)
    if page.trouble:
        return page.trouble
    return "" if (page.text or "").strip() else lacking(pipeline.plan)


def plan_stories(ctx: RunContext, pipeline: StoryPipeline, rounds: int, limit: int = 0) -> RunEnded:
    """Plan in some rounds of one run; in fewer, when a round changes nothing. `limit` bounds the
    sessions, also those that fail; 0: as many as the task has tries."""
    logs = PipelineLog(
        project_files=ctx.project_files, pipeline=pipeline, clock=ctx.clock, mode="plan", gates={}
    )
    document = PlanDocument(ctx, pipeline, logs, rounds)
    logs.after = document.after_round
    limits = replace(ctx.settings.limits, iterations=limit)
    settings = replace(ctx.settings, limits=limits)
    ctx = replace(ctx, iteration_log=logs, settings=settings)
    try:
        return run_planning_task(ctx, story_plan_task(ctx.project_files, pipeline), document)
    finally:
        _remove_if_empty(pipeline)


def create_empty_plan(project_files: ProjectFiles, pipeline: StoryPipeline) -> None:
    """Make an empty plan if there is none: a sandboxed session can make no file beside Ralph's."""
    if not project_files.exists(pipeline.plan):
        project_files.write(pipeline.plan, b"")


def _remove_if_empty(pipeline: StoryPipeline) -> None:
    path = os.path.join(pipeline.root, pipeline.plan)
    with suppress(OSError):
        if os.path.getsize(path) == 0:
            os.unlink(path)


class PlanDocument(SingleFileDocument):
    def __init__(
        self, ctx: RunContext, pipeline: StoryPipeline, logs: PipelineLog, rounds: int
    ) -> None:
        super().__init__(ctx, pipeline.plan, (pipeline.progress, pipeline.guardrails))
        self.pipeline = pipeline
        self.logs = logs
        self.rounds = rounds
        self.text: bytes | None = None

    def task_text(self, task: Task) -> TaskText | None:
        """The prompt from the template, as it is now."""
        ctx = self.ctx
        # `sync` may have reverted a PRD that a killed session wrote.
        require_prd(ctx.project_files, self.pipeline)
        self.logs.begin(task, ctx.state.iteration)
        text = self.pipeline.prompt(ctx.project_files, "plan", _run_variables(ctx))
        if self.content(self.path) == b"":
            # Some agents do not write over a file that they have not read.
            text += f"\n\n`{self.path}` is there already, and empty: read it before you write it."
        return TaskText(text=text)

    def session_starts(self, task: Task) -> None:
        super().session_starts(task)
        self.text = self.content(self.path)

    def after_round(self, account: IterationReport) -> None:
        """Begin the next round, if this one has changed the plan and there are more to do."""
        task = self.ctx.store.tasks.find(account.task.id)
        if task.status is not TaskStatus.DONE:
            return
        is_better = self.content(self.path) != self.text
        done = self.ctx.state.iteration - self.ctx.settings.first_iteration + 1
        if is_better and done < self.rounds:
            self.ctx.store.tasks.reset(task.id)
        elif not is_better and done < self.rounds:
            self.ctx.log.warn(f"round {done} has changed nothing: the plan is settled")


def prepare_stories(store: Store, stories: PrdDocument) -> tuple[str, ...]:
    """Read the PRD, and give a fresh set of tries to stories that failed or that the breaker has
    blocked. Returns lines for the user."""
    warnings = stories.sync()
    feature = stories.tasks.feature
    given_up = frozenset({TaskStatus.FAILED, TaskStatus.BLOCKED})
    for task in store.tasks.select(TaskFilter(feature=feature.id, statuses=given_up)):
        is_blocked_by_breaker = (task.reason or "").startswith(BLOCKED_BY_BREAKER)
        if is_blocked_by_breaker or (task.status is TaskStatus.FAILED and task.parent_id is None):
            store.tasks.retry(task.id)
    return warnings


def build_stories(ctx: RunContext, pipeline: StoryPipeline, max_retries: int) -> RunEnded:
    require_prd(ctx.project_files, pipeline)
    require_plan(ctx.project_files, pipeline)
    feature = ctx.store.features.add(pipeline.feature)
    logs = PipelineLog(
        project_files=ctx.project_files,
        pipeline=pipeline,
        clock=ctx.clock,
        mode="build",
        gates={gate.name: gate.command for gate in ctx.settings.gates.commands},
    )
    stories = PrdDocument(
        DocumentTasks(ctx.store, feature, pipeline.prd, max_retries),
        ctx.project_files,
        brief_text=partial(_story_text, ctx, pipeline, logs),
        beside=pipeline.tracked[1:],
    )
    record_document(ctx.store, stories, ctx.workspace.path)
    others = prd_documents(ctx, max_retries, but=pipeline.prd)
    document = CompositeDocument((stories, *others)) if others else stories
    ctx.state.change_target(OneFeature(feature.id, feature.name))
    warnings = (*uncommitted_edits(ctx, stories.paths), *prepare_stories(ctx.store, stories))
    return run(replace(ctx.with_warnings(warnings), document=document, iteration_log=logs))


def _story_text(
    ctx: RunContext, pipeline: StoryPipeline, logs: PipelineLog, task: Task, block: str
) -> TaskText:
    """The prompt from the template. Retries have their own template, if the user wrote one."""
    logs.begin(task, ctx.state.iteration)
    values = {
        **_run_variables(ctx),
        "STORY_ID": task.name,
        "STORY_TITLE": task.title,
        "STORY_BLOCK": block.rstrip("\n"),
        "RETRY_ATTEMPT": str(task.retry_count),
        "RETRY_MAX": str(task.max_retries),
        "FAILURE_CONTEXT": task.reason or "",
    }
    project_files = ctx.project_files
    again = bool(task.reason) and project_files.read(template_path("retry")).text is not None
    text = pipeline.prompt(project_files, "retry" if again else "build", values)
    section = plan_section(project_files.read(pipeline.plan).text or "", task.name)
    plan = DocumentText(path=pipeline.plan, text=section) if section else None
    return TaskText(text=text, plan=plan)


def _run_variables(ctx: RunContext) -> dict[str, str]:
    return {
        "RUN_ID": str(ctx.settings.run_id),
        "ITERATION": str(ctx.state.iteration),
        "RUN_LOG_PATH": f"{ctx.files}.log",
        "RUN_META_PATH": f"{ctx.files}.md",
    }
