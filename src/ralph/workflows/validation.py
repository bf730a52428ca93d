"""Validation: check every criterion of the PRD in a clean checkout of the newest commit."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from time import localtime, strftime

from msgspec.structs import replace

from ralph.core.errors import NoSuchTask
from ralph.core.events import RunEnded
from ralph.core.gate_output import headline
from ralph.core.gates import Gate, GateResult
from ralph.core.ids import TaskId
from ralph.core.policy.decision import Phase
from ralph.core.run import RunOutcome, Subtree
from ralph.core.safe_text import one_line
from ralph.core.session_events import SessionRole
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task, TaskDraft, TaskStatus
from ralph.documents.prd import Prd, Story
from ralph.documents.story_validation import (
    CriterionReport,
    GateReport,
    StoryReport,
    ValidationReport,
    read_verdicts,
    render_report,
    validate_story,
)
from ralph.engine.gates import run_gate
from ralph.engine.loop import run
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import AgentPool
from ralph.engine.work_commit import secret_warning
from ralph.ports.task_document import DocumentClaim, TaskDocument, TaskText
from ralph.prompts import prompt
from ralph.store.documents import DocumentSnapshot
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.workflows.planning_task import record_command, uncommitted_edits
from ralph.workflows.prd_document import PrdDocument
from ralph.workflows.story_pipeline import StoryPipeline, load_prd

NO_CRITERIA = "it does what it says"
STOPPED = frozenset({RunOutcome.PAUSED, RunOutcome.INTERRUPTED, RunOutcome.LIMIT_REACHED})
"""Outcomes after which the validation can go on."""


def root_task(store: Store, pipeline: StoryPipeline) -> Task:
    alias = f"{pipeline.feature}-validate"
    try:
        return store.tasks.find(alias)
    except NoSuchTask:
        draft = TaskDraft(title=f"Validate {pipeline.prd}", alias=alias, needs_change=False)
        root = store.tasks.add(draft)
        record_command(store, root.id, pipeline.command("validate"))
        return root


def validate(
    ctx: RunContext, pipeline: StoryPipeline, stories: PrdDocument, max_retries: int
) -> tuple[ValidationReport, RunEnded, tuple[str, ...]]:
    """Validate all stories, report, and open those that fail; lines for the user come last."""
    root = root_task(ctx.store, pipeline)
    validation = ValidationDocument(ctx, pipeline, ctx.settings.gates.commands, max_retries)
    validation.prepare(root, stories.tasks.done())
    warnings = uncommitted_edits(ctx, (pipeline.prd, pipeline.report)) + _not_seen(ctx, pipeline)
    ctx.state.change_target(Subtree(root.id))
    warned = ctx.with_warnings(warnings)
    # An agent should not judge what it has built, if there is another one.
    judges = AgentPool(ctx.agents.verifiers or ctx.agents.builders)
    ended = run(
        replace(
            warned,
            document=validation,
            agents=judges,
            settings=replace(warned.settings.without_checks(), phase=Phase.VALIDATION),
        )
    )
    report = validation.report()
    if ended.outcome in STOPPED:
        # What was found so far counts when the validation goes on with the same commit.
        return report, ended, ()
    ctx.project_files.write(pipeline.report, render_report(report).encode())
    failed = {story.id: _failed(story) for story in report.stories}
    stories.reopen({name: found for name, found in failed.items() if found[0]})
    validation.end()
    return report, ended, _commit(ctx, pipeline)


def _not_seen(ctx: RunContext, pipeline: StoryPipeline) -> tuple[str, ...]:
    own = {ctx.workspace.prefix + path for path in pipeline.tracked}
    count = len(set(ctx.checkout.snapshot().dirty) - own)
    files = f"{count} uncommitted {'file is' if count == 1 else 'files are'}"
    return (f"{files} not part of what is validated: the newest commit",) if count else ()


def _failed(story: StoryReport) -> tuple[tuple[str, ...], str]:
    failed = [one for one in story.criteria if one.verdict == "fail"]
    lines = "".join(f"\n- {one.criterion}: {one.evidence}" for one in failed)
    names = tuple(one.criterion for one in failed)
    return names, f"validation found that this does not hold: {'; '.join(names)}{lines}"


def _commit(ctx: RunContext, pipeline: StoryPipeline) -> tuple[str, ...]:
    """Commit the report and the cleared boxes. Returns lines for the user."""
    if ctx.settings.config.git.commit == "none":
        return ()
    own = frozenset(ctx.workspace.prefix + path for path in (pipeline.prd, pipeline.report))
    now = ctx.workspace.snapshot()
    message = f"Validate {pipeline.prd}\n\nRalph-Run: {ctx.settings.run_id}\n"
    done = ctx.workspace.commit(now, now, message, frozenset(now.dirty), own)
    return tuple(secret_warning(one) for one in done.likely_secrets)


class ValidationDocument(TaskDocument):
    def __init__(
        self, ctx: RunContext, pipeline: StoryPipeline, gates: tuple[Gate, ...], max_retries: int
    ) -> None:
        self.ctx = ctx
        self.pipeline = pipeline
        self.gates = gates
        self.max_retries = max_retries
        self.head = ctx.checkout.snapshot().head
        self.prd = Prd(text="")
        self.built: dict[TaskId, Story] = {}
        self.passed_gates: tuple[GateReport, ...] | None = None
        self._checkout = ExitStack()

    def prepare(self, root: Task, done: set[str]) -> None:
        """Make a task for each story that is done. Tasks of a validation that was stopped are kept,
        if they are about the same."""
        self.prd = load_prd(self.ctx.project_files, self.pipeline)
        store = self.ctx.store
        drafts = [draft for draft in self._drafts(root) if draft[0].id in done]
        kept = self._kept(root, [draft for _, draft in drafts])
        if not kept and store.tasks.find(root.id).status is not TaskStatus.PENDING:
            store.tasks.reset(root.id)
        self._save_head(self.head)
        for story, draft in drafts:
            task = kept.get(draft.alias or "") or store.tasks.add(draft)
            self.built[task.id] = story
            if task.status in (TaskStatus.FAILED, TaskStatus.BLOCKED):
                store.tasks.reset(task.id)
        planning = {
            one: said for one, said in store.tasks.planning().items() if store.tasks.get(one)
        }
        command = self.pipeline.command("validate")
        store.tasks.set_planning(planning | dict.fromkeys(self.built, command))

    def _drafts(self, root: Task) -> Iterator[tuple[Story, TaskDraft]]:
        for place, story in enumerate(self.prd.stories, 1):
            block = self.prd.block(story)
            yield (
                story,
                TaskDraft(
                    title=f"Validate {story.id}: {story.title}",
                    description=validate_story(self.pipeline.prd, block, _criteria(story)),
                    alias=f"{root.alias}-{story.id}",
                    parent_id=root.id,
                    priority=place,
                    max_retries=self.max_retries,
                    needs_change=False,
                ),
            )

    def _kept(self, root: Task, wanted: Sequence[TaskDraft]) -> dict[str, Task]:
        """The tasks of the last validation that serve this one; the others are deleted."""
        store, place = self.ctx.store, self.ctx.store.documents.get(self._key)
        is_same = bool(self.head) and place is not None and place.content == self.head.encode()
        texts = {draft.alias: draft.description for draft in wanted}
        kept = {}
        for task in store.tasks.select(TaskFilter(parent=root.id)):
            if is_same and task.alias and texts.get(task.alias) == task.description:
                kept[task.alias] = task
            else:
                store.tasks.delete(task.id)
        return kept

    @property
    def _key(self) -> str:
        return f"validation:{self.pipeline.feature}"

    def _save_head(self, head: str) -> None:
        self.ctx.store.documents.save(DocumentSnapshot(path=self._key, content=head.encode()))

    def end(self) -> None:
        self._save_head("")

    def _verdicts(self, task: TaskId, story: Story) -> tuple[tuple[CriterionReport, ...], str]:
        sessions = self.ctx.store.sessions.select(task=task, limit=1)
        ending = sessions[-1].ending if sessions else None
        return read_verdicts(ending.message if ending else "", _criteria(story))

    def sync(self) -> tuple[str, ...]:
        if self.passed_gates is None:
            self.passed_gates = tuple(self._gates())
        return ()

    def _gates(self) -> list[GateReport]:
        if not self.gates:
            return []
        with self._checkout_for("validate-gates") as checkout:
            return [_gate(gate.command, run_gate(self.ctx, gate, checkout)) for gate in self.gates]

    def _checkout_for(self, name: str) -> AbstractContextManager[str]:
        return self.ctx.checkouts.checkout_of(self.ctx.workspace, Snapshot(head=self.head), name)

    def task_text(self, task: Task) -> TaskText | None:
        """Put the session into a clean checkout of the newest commit."""
        self._checkout.close()
        if task.id not in self.built:
            return None
        checkout = self._checkout.enter_context(self._checkout_for(f"validate-{task.id}"))
        return TaskText(
            text=task.description,
            role=SessionRole.VERIFY,
            rules=prompt("validation_rules"),
            checkout=checkout,
        )

    def session_ended(self, task: Task) -> tuple[str, ...]:
        """Remove the checkout with all changes."""
        del task
        self._checkout.close()
        return ()

    def read_claim(self, task: Task) -> DocumentClaim:
        """The session has to give a verdict about each criterion."""
        story = self.built.get(task.id)
        if story is None:
            return DocumentClaim()
        _, lacks = self._verdicts(task.id, story)
        if lacks:
            return DocumentClaim(broken=f"{lacks}: end with a line for each, as you were told")
        return DocumentClaim(claims=True)

    def report(self) -> ValidationReport:
        return ValidationReport(
            prd=self.pipeline.prd,
            head=self.head,
            time=strftime("%Y-%m-%d %H:%M:%S", localtime(self.ctx.clock.now())),
            gates=self.passed_gates or (),
            stories=tuple(self._about(story) for story in self.prd.stories),
        )

    def _about(self, story: Story) -> StoryReport:
        task = next((task for task, one in self.built.items() if one.id == story.id), None)
        found: tuple[CriterionReport, ...] = ()
        if task is not None and self.ctx.store.tasks.find(task).status is TaskStatus.DONE:
            # Read again: the session may have been accepted before Ralph was stopped.
            found = self._verdicts(task, story)[0]
        otherwise = "unknown" if task is not None else "open"
        nothing = (CriterionReport(criterion=text, verdict=otherwise) for text in _criteria(story))
        return StoryReport(id=story.id, title=story.title, criteria=found or tuple(nothing))


def _gate(command: str, result: GateResult) -> GateReport:
    why = headline(tuple(result.output.splitlines()))
    said = one_line(why, 500) or f"exit {result.code}"
    if result.code is None:
        said = "out of time"
    return GateReport(
        name=result.name,
        command=command,
        passed=result.passed,
        evidence="" if result.passed else said,
    )


def _criteria(story: Story) -> tuple[str, ...]:
    return tuple(one.text for one in story.criteria) or (NO_CRITERIA,)
