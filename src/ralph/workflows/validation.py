"""Validation: is everything that the PRD asks for there? Seen from the newest commit alone."""

from contextlib import AbstractContextManager, ExitStack, suppress
from time import localtime, strftime

from msgspec.structs import replace

from ralph.core.errors import NoSuchTask
from ralph.core.events import RunEnded
from ralph.core.gates import Gate
from ralph.core.ids import TaskId
from ralph.core.snapshot import Snapshot
from ralph.core.target import Subtree
from ralph.core.task import Draft, Task
from ralph.documents.stories.prd import Prd, Story
from ralph.documents.stories.reading import read_prd
from ralph.documents.validation import (
    Finding,
    GateReport,
    Report,
    StoryReport,
    read_findings,
    render,
)
from ralph.documents.validation_text import RULES, validate_story
from ralph.engine.gates import run_at
from ralph.engine.kit import Kit
from ralph.engine.loop import run
from ralph.engine.work import not_committed
from ralph.ports.agent import Role
from ralph.ports.document import Left, Passage
from ralph.ports.store import Store
from ralph.workflows.pipeline import Pipeline
from ralph.workflows.stories import Stories
from ralph.workflows.uncommitted import uncommitted_edits

NO_CRITERIA = "it does what it says"


def new_task(store: Store, pipeline: Pipeline) -> Task:
    """The task that all of a validation is below; the last one's is over."""
    alias = f"{pipeline.feature}-validate"
    with suppress(NoSuchTask):
        store.delete_task(store.find(alias).id)
    return store.add_task(Draft(title=f"Validate {pipeline.prd}", alias=alias, needs_change=False))


def validate(
    kit: Kit, pipeline: Pipeline, root: Task, stories: Stories, max_retries: int
) -> tuple[Report, RunEnded, tuple[str, ...]]:
    """Look at everything, write the report, and open what does not hold. What is worth a word when
    the run is over comes last."""
    validation = Validation(kit, pipeline, kit.settings.gates, max_retries)
    validation.prepare(root, stories.tasks.done())
    told = uncommitted_edits(kit, (pipeline.prd, pipeline.report))
    kit.settings = replace(
        kit.settings,
        gates=(),
        verify=False,
        target=Subtree(root.id),
        warnings=(*kit.settings.warnings, *told),
    )
    kit.document = validation
    if kit.verifiers:
        # Whoever built it should not be its judge, where another one is there for that.
        kit.agents, kit.agent = tuple(kit.verifiers), kit.verifiers[0]
    ended = run(kit)
    report = validation.report()
    kit.library.put(pipeline.report, render(report).encode())
    stories.reopen(
        {
            one.id: (tuple(_bad(one)), _why(one))
            for one in report.stories
            if any(finding.verdict == "fail" for finding in one.findings)
        }
    )
    return report, ended, _commit(kit, pipeline)


def _bad(story: StoryReport) -> list[str]:
    return [one.criterion for one in story.findings if one.verdict == "fail"]


def _why(story: StoryReport) -> str:
    lines = [f"- {f.criterion}: {f.evidence}" for f in story.findings if f.verdict == "fail"]
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
        self.findings: dict[str, tuple[Finding, ...]] = {}
        self.passed_gates: tuple[GateReport, ...] | None = None
        self._checkout = ExitStack()

    def prepare(self, root: Task, done: set[str]) -> None:
        """One task for each story that is done."""
        self.prd = read_prd(self.kit.library.read(self.pipeline.prd).text or "")
        for place, story in enumerate(self.prd.stories, 1):
            if story.id not in done:
                continue
            block = self.prd.block(story)
            draft = Draft(
                title=f"Validate {story.id}: {story.title}",
                description=validate_story(self.pipeline.prd, block, _criteria(story)),
                alias=f"{root.alias}-{story.id}",
                parent_id=root.id,
                priority=place,
                max_retries=self.max_retries,
                needs_change=False,
            )
            self.built[self.kit.store.add_task(draft).id] = story

    def follow(self) -> tuple[str, ...]:
        """The gates come first."""
        if self.passed_gates is None:
            self.passed_gates = tuple(self._gates())
        return ()

    def _gates(self) -> list[GateReport]:
        if not self.gates:
            return []
        with self._look("validate-gates") as checkout:
            return [
                GateReport(
                    name=gate.name,
                    command=gate.command,
                    passed=run_at(self.kit, gate, checkout).passed,
                )
                for gate in self.gates
            ]

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
        sessions = self.kit.store.sessions(task=task.id, limit=1)
        if story is None or not sessions or sessions[-1].ending is None:
            return Left()
        found, lacks = read_findings(sessions[-1].ending.message, _criteria(story))
        if lacks:
            return Left(broken=f"{lacks}: end with a line for each, as you were told")
        self.findings[story.id] = found
        return Left(claims=True)

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
        built = any(one.id == story.id for one in self.built.values())
        otherwise = "unknown" if built else "open"
        found = self.findings.get(story.id) or tuple(
            Finding(criterion=text, verdict=otherwise) for text in _criteria(story)
        )
        return StoryReport(id=story.id, title=story.title, findings=found)


def _criteria(story: Story) -> tuple[str, ...]:
    return tuple(one.text for one in story.criteria) or (NO_CRITERIA,)
