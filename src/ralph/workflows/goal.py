"""The goal workflow: from a sentence to tasks in the graph. Each step writes a document, and the
documents on disk decide the next step."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.errors import NoSuchTask, RalphError, UsageError
from ralph.core.events import RunEnded
from ralph.core.policy.decision import Phase
from ralph.core.safe_text import one_line
from ralph.core.session_ending import Consequence
from ralph.core.task import Feature, Task, TaskStatus
from ralph.documents import goal_prompts as texts
from ralph.documents import guardrails, shell_variables
from ralph.documents.code_task_file import CodeTask, name_of, order_code_tasks, read_code_task
from ralph.documents.feature_files import GUIDE, SPECS, GoalFiles, slug, words_of
from ralph.documents.feature_prompts import InteractivePrompt, write_together
from ralph.documents.project_stack import LOOKED_AT, detect_stacks, suggested_gates
from ralph.documents.text_encoding import decode_text
from ralph.engine.run_context import RunContext
from ralph.ports.clock import Clock
from ralph.ports.project_files import ProjectFiles
from ralph.prompts import prompt
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.workflows.code_tasks import CodeTasks, code_task_paths, files_below
from ralph.workflows.document_tasks import DocumentTasks
from ralph.workflows.planning_task import (
    PlanningTask,
    SingleFileDocument,
    lacking,
    run_planning_task,
)

CONFIG: Final = ".ralph/config.sh"
FIRST: Final = "teammate-1"
GATES: Final = ("test", "typecheck", "lint", "build", "integration", "e2e", "coverage")


class GoalStep(StrEnum):
    REFERENTS = "referents"
    DESIGN = "design"
    TASKS = "tasks"
    REVIEW = "review"
    """All is written and waits for approval."""
    READY = "ready"
    """It is approved: a team can run it."""


WRITTEN: Final = (GoalStep.REFERENTS, GoalStep.DESIGN, GoalStep.TASKS)
UNFINISHED: Final = frozenset({TaskStatus.PENDING, TaskStatus.IN_PROGRESS})


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    project_files: ProjectFiles
    files: GoalFiles
    guardrails_path: str = guardrails.PATH

    @property
    def name(self) -> str:
        return self.files.name

    @property
    def text(self) -> str:
        return (self.project_files.read(self.files.request).text or self.name).strip()

    def step(self) -> GoalStep:
        for step in WRITTEN:
            if self.missing_for(step):
                return step
        return GoalStep.READY if self.is_approved else GoalStep.REVIEW

    def missing_for(self, step: GoalStep) -> str:
        """A sentence about what a step still lacks; empty when it is done."""
        path = {
            GoalStep.REFERENTS: self.files.catalog,
            GoalStep.DESIGN: self.files.design,
            GoalStep.TASKS: self.files.plan,
        }.get(step, self.files.runbook)
        if not self._has(path):
            return lacking(path)
        return self._tasks_lack() if step is GoalStep.TASKS else ""

    @property
    def is_begun(self) -> bool:
        return self.project_files.exists(self.files.folder)

    def others(self) -> list[str]:
        return self.project_files.folders(SPECS)

    @property
    def is_approved(self) -> bool:
        return self._has(self.files.runbook)

    def reopen(self) -> None:
        """Withdraw the approval, since documents are written again."""
        self.project_files.remove(self.files.runbook)

    def _has(self, path: str) -> bool:
        return bool((self.project_files.read(path).text or "").strip())

    def _tasks_lack(self) -> str:
        if not self.task_paths:
            return f"there are no code tasks in {self.files.implementation}"
        if self.is_approved:
            # No session is paid to write an approved plan again. Faults in its tasks are found when
            # they are synced.
            return ""
        try:
            self.ordered_tasks()
        except RalphError as error:
            return str(error)
        return ""

    @property
    def task_paths(self) -> list[str]:
        return code_task_paths(self.project_files, self.files.implementation)

    def ordered_tasks(self) -> tuple[CodeTask, ...]:
        """Its code tasks in order; UnusableData where they cannot be built."""
        folder = self.files.implementation
        found = []
        for path in self.task_paths:
            content = self.project_files.read_bytes(path)
            if content is not None:
                found.append(read_code_task(path, decode_text(content).text, folder))
        return order_code_tasks(found)

    def planning_task(self, step: GoalStep) -> PlanningTask:
        return PlanningTask(
            alias=f"{self.name}-{step.value}",
            title=f"Plan {self.name}: {step.value}",
            description=texts.planning_prompt(self.files, self.text, step.value),
            phase=Phase.PLANNING,
            missing=lambda: self.missing_for(step),
            command=f"ralph team plan {self.name}",
        )

    def interactive_design_prompt(self, context: str) -> InteractivePrompt:
        rules = (
            f"You help a person to design how a goal is reached. {prompt('write_together')}",
            texts.planning_prompt(self.files, self.text, GoalStep.DESIGN.value),
            context,
        )
        opening = f"Let us write `{self.files.design}`."
        return write_together(f"Design of {self.name}", Phase.PLANNING, rules, opening, self.text)

    # What Ralph writes itself

    def write_request(self, request: str) -> None:
        """Write the user's request and the guardrails, if they are not there."""
        if not self.project_files.exists(self.files.request):
            self.project_files.write(
                self.files.request, request.strip().encode("utf-8", "replace") + b"\n"
            )
        if not self.project_files.exists(self.guardrails_path):
            self.project_files.write(self.guardrails_path, guardrails.FRESH.encode())

    def _stack_files(self) -> dict[str, str]:
        texts = {name: self.project_files.read(name).text for name in LOOKED_AT}
        return {name: text for name, text in texts.items() if text is not None}

    def write_gates(
        self, known: Mapping[str, str], has_program: Callable[[str], bool]
    ) -> dict[str, str]:
        """If no gates are set, write those of the project's stack to `config.sh`, as far as their
        programs are installed. Returns the gates that are set then."""
        if known:
            return dict(known)
        found = suggested_gates(self._stack_files(), has_program)
        gates: dict[str, str] = {name: found[name] for name in GATES if name in found}
        if gates:
            before = decode_text(self.project_files.read_bytes(CONFIG) or b"")
            gap = "" if before.text.endswith("\n") or not before.text else "\n"
            lines = (
                shell_variables.written(f"GATE_{name.upper()}", command) + "\n"
                for name, command in gates.items()
            )
            text = before.text + gap + "".join(lines)
            self.project_files.write(CONFIG, before.bytes_of(text))
        return gates

    def write_guide(self, gates: Mapping[str, str]) -> None:
        if self._has(GUIDE):
            return
        text = texts.guide_text(
            detect_stacks(self._stack_files()),
            gates,
            files=self.files,
            catalog=self.project_files.read(self.files.catalog).text or "",
            design=self.project_files.read(self.files.design).text or "",
        )
        self.project_files.write(GUIDE, text.encode("utf-8", "replace"))

    def write_runbook(self, gates: Mapping[str, str]) -> None:
        text = texts.runbook_text(self.files, self.text, self.ordered_tasks(), gates)
        self.project_files.write(self.files.runbook, text.encode("utf-8", "replace"))

    @property
    def own_files(self) -> tuple[str, ...]:
        found = [*files_below(self.project_files, self.files.folder), GUIDE, CONFIG]
        found.append(self.guardrails_path)
        return tuple(path for path in found if self.project_files.exists(path))


def goal_documents(project_files: ProjectFiles) -> tuple[str, ...]:
    """The documents of all goals that sessions only read."""
    goals = (GoalFiles(name=name) for name in project_files.folders(SPECS))
    found = (*(path for one in goals for path in one.read_only), GUIDE)
    return tuple(path for path in found if project_files.exists(path))


def find_goal(
    project_files: ProjectFiles, request: str, guardrails_path: str = guardrails.PATH
) -> Goal:
    """The goal of that name, or a new one with these words. UsageError if they make no name, or the
    name of another goal: a name holds only the beginning of a long sentence."""
    name, words = slug(request), words_of(request)
    if not name:
        raise UsageError(
            "a goal needs a few letters or digits", hint='ralph team plan "add search"'
        )
    goal = Goal(
        project_files=project_files, files=GoalFiles(name=name), guardrails_path=guardrails_path
    )
    is_cut, is_known = "-".join(words) != name, project_files.exists(goal.files.request)
    if is_cut and is_known and words_of(goal.text) != words:
        raise UsageError(
            f"goal {name} is another one: {one_line(goal.text, 200)}",
            hint=f"begin with other words; ralph team plan {name} goes on with that one",
        )
    return goal


def require_own_name(store: Store, goal: Goal) -> None:
    """A goal is the feature of its name. UsageError if that has other tasks, such as stories: they
    are in no file of the goal, so a sync would archive them."""
    feature = store.features.get(goal.name)
    if feature is None or feature.spec_path == goal.files.design:
        return
    folder = goal.files.implementation
    own = {name_of(path, folder) for path in code_task_paths(goal.project_files, folder)}
    tasks = store.tasks.select(TaskFilter(feature=feature.id))
    if others := [task.alias for task in tasks if task.alias and task.alias not in own]:
        raise UsageError(
            f"{goal.name} is a feature with tasks of its own, such as {others[0]}",
            hint="give the goal another name",
        )


class GoalFolder(SingleFileDocument):
    """The folder of a goal: planning sessions may write there, and nowhere else."""

    def __init__(self, ctx: RunContext, goal: Goal) -> None:
        super().__init__(ctx, goal.files.folder, goal.own_files)
        self.goal = goal

    @property
    def edited_paths(self) -> tuple[str, ...]:
        # Ralph has just written the request.
        return tuple(path for path in self.paths if path != self.goal.files.request)

    def session_ended(self, task: Task) -> tuple[str, ...]:
        """Keep what the session has written there."""
        self.paths = self.goal.own_files
        return super().session_ended(task)


def is_unfinished(store: Store, goal: Goal, step: GoalStep) -> bool:
    sent = _planning_task_of(store, goal, step)
    if sent is None or sent.attempt == 0 or sent.status not in UNFINISHED:
        return False
    sessions = store.sessions.select(task=sent.id, limit=1)
    ending = sessions[-1].ending if sessions else None
    # An agent that could not start has left nothing.
    return ending is None or ending.consequence is not Consequence.END_RUN


def finish(store: Store, goal: Goal, step: GoalStep) -> None:
    """Settle the planning task of a step that the user has done."""
    sent = _planning_task_of(store, goal, step)
    if sent is not None and sent.status in UNFINISHED:
        store.tasks.force_done(sent.id)


def _planning_task_of(store: Store, goal: Goal, step: GoalStep) -> Task | None:
    try:
        return store.tasks.find(goal.planning_task(step).alias)
    except NoSuchTask:
        return None


def plan_step(ctx: RunContext, goal: Goal, step: GoalStep) -> RunEnded:
    return run_planning_task(ctx, goal.planning_task(step), GoalFolder(ctx, goal))


def approved_goals(store: Store, project_files: ProjectFiles, but: str = "") -> list[Goal]:
    """The approved goals that have tasks in the store, but for the one of the name `but`."""
    found = []
    for name in project_files.folders(SPECS):
        goal = Goal(project_files=project_files, files=GoalFiles(name=name))
        feature = store.features.get(name) if name != but else None
        is_known = feature is not None and feature.spec_path == goal.files.design
        if is_known and goal.step() is GoalStep.READY:
            found.append(goal)
    return found


def code_tasks_of(
    goal: Goal, store: Store, clock: Clock, max_retries: int, *, slot: str = "", writes: bool = True
) -> CodeTasks:
    """A goal's code tasks as a task document; `slot`: the worker, if the store has none."""
    return CodeTasks(
        DocumentTasks(store, feature_of(goal, store), goal.files.implementation, max_retries),
        goal.project_files,
        clock,
        worker_name=lambda task: slot or _slot_of(store, task),
        beside=(goal.files.runbook,),
        read_only=(*goal.files.read_only, GUIDE),
        writes=writes,
    )


def _slot_of(store: Store, task: Task) -> str:
    sessions = store.sessions.select(task=task.id, limit=1)
    if not sessions:
        return FIRST
    slots = {member.worker: member.slot for member in store.workers.of_run(sessions[-1].run_id)}
    return slots.get(sessions[-1].worker) or FIRST


def feature_of(goal: Goal, store: Store) -> Feature:
    """The feature of a goal. Sessions read the design as its spec, and the runbook as its plan."""
    feature = store.features.add(goal.name)
    spec, plan = goal.files.design, goal.files.runbook
    if (feature.spec_path, feature.plan_path) == (spec, plan):
        return feature
    return store.features.set_paths(feature.id, spec_path=spec, plan_path=plan)
