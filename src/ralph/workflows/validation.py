"""Validation: is everything that the PRD asks for there? Seen from the newest commit alone."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from time import localtime, strftime

from msgspec.structs import replace

from ralph.core.errors import NoSuchTask
from ralph.core.events import RunEnded
from ralph.core.gates import Gate, GateResult
from ralph.core.ids import TaskId
from ralph.core.outcome import Outcome
from ralph.core.policy.decision import Phase
from ralph.core.role import Role
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot
from ralph.core.target import Subtree
from ralph.core.task import Draft, Status, Task
from ralph.documents.stories.prd import Prd, Story
from ralph.documents.validation import (
    CriterionReport,
    GateReport,
    Report,
    StoryReport,
    read_verdicts,
    render,
)
from ralph.documents.validation_text import RULES, validate_story
from ralph.engine.gates import run_at
from ralph.engine.kit import Kit
from ralph.engine.loop import run
from ralph.engine.work import not_committed
from ralph.ports.document import Left, Passage
from ralph.ports.papers import Paper
from ralph.ports.store import Filter, Store
from ralph.workflows.errand import note
from ralph.workflows.pipeline import Pipeline, prd_of
from ralph.workflows.stories import Stories
from ralph.workflows.uncommitted import uncommitted_edits

NO_CRITERIA = "it does what it says"
STOPPED = frozenset({Outcome.PAUSED, Outcome.INTERRUPTED, Outcome.LIMIT_REACHED})
"""It is not over, and can be gone on with."""


def root_task(store: Store, pipeline: Pipeline) -> Task:
    """The task that all of a validation is below."""
    alias = f"{pipeline.feature}-validate"
    try:
        return store.find(alias)
    except NoSuchTask:
        draft = Draft(title=f"Validate {pipeline.prd}", alias=alias, needs_change=False)
        root = store.add_task(draft)
        note(store, root.id, pipeline.command("validate"))
        return root


def validate(
    kit: Kit, pipeline: Pipeline, stories: Stories, max_retries: int
) -> tuple[Report, RunEnded, tuple[str, ...]]:
    """Look at everything, write the report, and open what does not hold. What is worth a word when
    the run is over comes last."""
    root = root_task(kit.store, pipeline)
    validation = Validation(kit, pipeline, kit.settings.gates, max_retries)
    validation.prepare(root, stories.tasks.done())
    told = uncommitted_edits(kit, (pipeline.prd, pipeline.report)) + _not_seen(kit, pipeline)
    kit.settings = replace(
        kit.settings,
        gates=(),
        verify=False,
        review=False,
        phase=Phase.VALIDATION,
        target=Subtree(root.id),
        warnings=(*kit.settings.warnings, *told),
    )
    kit.document = validation
    if kit.verifiers:
        # Whoever built it should not be its judge, where another one is there for that.
        kit.agents, kit.agent = tuple(kit.verifiers), kit.verifiers[0]
    ended = run(kit)
    report = validation.report()
    if ended.outcome in STOPPED:
        # What was found so far counts when it goes on, on the same commit.
        return report, ended, ()
    kit.library.put(pipeline.report, render(report).encode())
    stories.reopen({one.id: (tuple(_bad(one)), _why(one)) for one in report.stories if _bad(one)})
    validation.end()
    return report, ended, _commit(kit, pipeline)


def _not_seen(kit: Kit, pipeline: Pipeline) -> tuple[str, ...]:
    own = {kit.workspace.prefix + path for path in pipeline.tracked}
    count = len(set(kit.take_snapshot().dirty) - own)
    files = f"{count} uncommitted {'file is' if count == 1 else 'files are'}"
    return (f"{files} no part of what is validated: the newest commit",) if count else ()


def _bad(story: StoryReport) -> list[str]:
    return [one.criterion for one in story.criteria if one.verdict == "fail"]


def _why(story: StoryReport) -> str:
    lines = [f"- {f.criterion}: {f.evidence}" for f in story.criteria if f.verdict == "fail"]
    return "Validation found that this does not hold:\n" + "\n".join(lines)


def _commit(kit: Kit, pipeline: Pipeline) -> tuple[str, ...]:
    """The report, and the boxes that it has cleared; what is worth a word is returned."""
    if kit.settings.commit == "none":
        return ()
    own = frozenset(kit.workspace.prefix + path for path in (pipeline.prd, pipeline.report))
    now = kit.workspace.snapshot()
    message = f"Validate {pipeline.prd}\n\nRalph-Run: {kit.settings.run_id}\n"
    done = kit.workspace.commit(now, now, message, frozenset(now.dirty), own)
    return tuple(not_committed(one) for one in done.withheld)


class Validation:
    """`Document` on the stories that are said to be done; each gets a session and a checkout of its
    own."""

    paths: tuple[str, ...] = ()

    def __init__(
        self, kit: Kit, pipeline: Pipeline, gates: tuple[Gate, ...], max_retries: int
    ) -> None:
        self.kit = kit
        self.pipeline = pipeline
        self.gates = gates
        self.max_retries = max_retries
        self.head = kit.take_snapshot().head
        self.prd = Prd(text="")
        self.built: dict[TaskId, Story] = {}
        self.passed_gates: tuple[GateReport, ...] | None = None
        self._checkout = ExitStack()

    def prepare(self, root: Task, done: set[str]) -> None:
        """One task for each story that is done. Those of a validation that was stopped are gone on
        with, if they are about the same."""
        self.prd = prd_of(self.kit.library, self.pipeline)
        store = self.kit.store
        drafts = [draft for draft in self._drafts(root) if draft[0].id in done]
        kept = self._kept(root, [draft for _, draft in drafts])
        if not kept and store.find(root.id).status is not Status.PENDING:
            store.reset(root.id)
        self._place(self.head)
        for story, draft in drafts:
            task = kept.get(draft.alias or "") or store.add_task(draft)
            self.built[task.id] = story
            if task.status in (Status.FAILED, Status.BLOCKED):
                store.reset(task.id)

    def _drafts(self, root: Task) -> Iterator[tuple[Story, Draft]]:
        for place, story in enumerate(self.prd.stories, 1):
            block = self.prd.block(story)
            yield (
                story,
                Draft(
                    title=f"Validate {story.id}: {story.title}",
                    description=validate_story(self.pipeline.prd, block, _criteria(story)),
                    alias=f"{root.alias}-{story.id}",
                    parent_id=root.id,
                    priority=place,
                    max_retries=self.max_retries,
                    needs_change=False,
                ),
            )

    def _kept(self, root: Task, wanted: Sequence[Draft]) -> dict[str, Task]:
        """Tasks of the last validation that are worth something to this one; the others go."""
        store, place = self.kit.store, self.kit.store.paper(self._key)
        is_same = bool(self.head) and place is not None and place.content == self.head.encode()
        texts = {draft.alias: draft.description for draft in wanted}
        kept = {}
        for task in store.tasks(Filter(parent=root.id)):
            if is_same and task.alias and texts.get(task.alias) == task.description:
                kept[task.alias] = task
            else:
                store.delete_task(task.id)
        return kept

    @property
    def _key(self) -> str:
        return f"validation:{self.pipeline.feature}"

    def _place(self, head: str) -> None:
        self.kit.store.keep_paper(Paper(path=self._key, content=head.encode()))

    def end(self) -> None:
        """The next one begins anew."""
        self._place("")

    def _heard(self, task: TaskId, story: Story) -> tuple[tuple[CriterionReport, ...], str]:
        """What its last session said, and what that lacks."""
        sessions = self.kit.store.sessions(task=task, limit=1)
        ending = sessions[-1].ending if sessions else None
        return read_verdicts(ending.message if ending else "", _criteria(story))

    def follow(self) -> tuple[str, ...]:
        """The gates come first."""
        if self.passed_gates is None:
            self.passed_gates = tuple(self._gates())
        return ()

    def _gates(self) -> list[GateReport]:
        if not self.gates:
            return []
        with self._look("validate-gates") as checkout:
            return [_gate(gate.command, run_at(self.kit, gate, checkout)) for gate in self.gates]

    def _look(self, name: str) -> AbstractContextManager[str]:
        return self.kit.checkouts.of(self.kit.workspace, Snapshot(head=self.head), name)

    def passage(self, task: Task) -> Passage | None:
        """A clean checkout of the newest commit, and what to look at there."""
        self._checkout.close()
        if task.id not in self.built:
            return None
        checkout = self._checkout.enter_context(self._look(f"validate-{task.id}"))
        return Passage(text=task.description, role=Role.VERIFY, rules=RULES, checkout=checkout)

    def begin(self, task: Task) -> None:
        """Nothing is written that could be mixed up."""

    def leave(self, task: Task) -> tuple[str, ...]:
        """Whatever was done there is thrown away."""
        del task
        self._checkout.close()
        return ()

    def look(self, task: Task) -> Left:
        """What it says about each criterion; where one is missing, it is asked again."""
        story = self.built.get(task.id)
        if story is None:
            return Left()
        _, lacks = self._heard(task.id, story)
        if lacks:
            return Left(broken=f"{lacks}: end with a line for each, as you were told")
        return Left(claims=True)

    def review(self, task: Task) -> None:
        """It is a look itself."""

    def conclude(self, task: Task, *, done: bool) -> None:
        """Its verdict is in the report."""

    def release(self, task: Task) -> None:
        """Nothing is held."""

    def report(self) -> Report:
        """What was found, story by story."""
        return Report(
            prd=self.pipeline.prd,
            head=self.head,
            time=strftime("%Y-%m-%d %H:%M:%S", localtime(self.kit.clock.now())),
            gates=self.passed_gates or (),
            stories=tuple(self._about(story) for story in self.prd.stories),
        )

    def _about(self, story: Story) -> StoryReport:
        task = next((task for task, one in self.built.items() if one.id == story.id), None)
        found: tuple[CriterionReport, ...] = ()
        if task is not None and self.kit.store.find(task).status is Status.DONE:
            # From the session itself: it may have been accepted before Ralph was stopped.
            found = self._heard(task, story)[0]
        otherwise = "unknown" if task is not None else "open"
        nothing = (CriterionReport(criterion=text, verdict=otherwise) for text in _criteria(story))
        return StoryReport(id=story.id, title=story.title, criteria=found or tuple(nothing))


def _gate(command: str, result: GateResult) -> GateReport:
    last = result.output.strip().rpartition("\n")[2]
    said = one_line(last, 500) or f"exit {result.code}"
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
