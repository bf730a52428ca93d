"""A goal, from a sentence to tasks in the graph: each step leaves a document, and what is on disk
says where to go on."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.ended import Cost
from ralph.core.errors import NoSuchTask, RalphError, UsageError
from ralph.core.events import RunEnded
from ralph.core.feature_texts import Talk
from ralph.core.policy.decision import Phase
from ralph.core.safe_text import one_line
from ralph.core.task import Feature, Status, Task
from ralph.documents import goal_texts as texts
from ralph.documents import shell_variables
from ralph.documents.code_tasks.compiling import Placed, compiled
from ralph.documents.code_tasks.reading import name_of, read_code_task
from ralph.documents.encoded import decode
from ralph.documents.goal_files import GUIDE, SPECS, GoalFiles, slug, words_of
from ralph.documents.stack import LOOKED_AT, Stack, found_in, gates_of
from ralph.engine.kit import Kit
from ralph.ports.clock import Clock
from ralph.ports.library import Library
from ralph.ports.store import Filter, Store
from ralph.workflows.code_tasks import CodeTasks, code_task_paths
from ralph.workflows.errand import Errand, send
from ralph.workflows.one_file import OneFile
from ralph.workflows.uncommitted import uncommitted_edits

CONFIG: Final = ".ralph/config.sh"
FIRST: Final = "teammate-1"
GATES: Final = ("test", "typecheck", "lint", "build", "integration", "e2e", "coverage")


class Step(StrEnum):
    """What is to be done next for a goal."""

    REFERENTS = "referents"
    DESIGN = "design"
    TASKS = "tasks"
    REVIEW = "review"
    """All is written; a person looks at it."""
    READY = "ready"
    """It was approved: it can be run."""


WRITTEN: Final = (Step.REFERENTS, Step.DESIGN, Step.TASKS)
"""Those for which sessions are sent."""
UNFINISHED: Final = frozenset({Status.PENDING, Status.IN_PROGRESS})


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """A goal in a project."""

    library: Library
    files: GoalFiles

    @property
    def name(self) -> str:
        return self.files.name

    @property
    def text(self) -> str:
        """What was asked for."""
        return (self.library.read(self.files.request).text or self.name).strip()

    def step(self) -> Step:
        """Where it stands, by what is on disk."""
        for step in WRITTEN:
            if self.lacks(step):
                return step
        return Step.READY if self.is_approved else Step.REVIEW

    def lacks(self, step: Step) -> str:
        """What keeps a step from being done, in a sentence; empty where nothing does."""
        match step:
            case Step.REFERENTS:
                return self._lacks(self.files.catalog)
            case Step.DESIGN:
                return self._lacks(self.files.design)
            case Step.TASKS:
                return self._lacks(self.files.plan) or self._tasks_lack()
            case Step.REVIEW | Step.READY:
                return self._lacks(self.files.runbook)

    @property
    def is_begun(self) -> bool:
        """Is anything written about it?"""
        return self.library.exists(self.files.folder)

    def others(self) -> list[str]:
        """The names of all goals that are begun."""
        return self.library.folders(SPECS)

    @property
    def is_approved(self) -> bool:
        """May a team work on it?"""
        return self._has(self.files.runbook)

    def reopen(self) -> None:
        """What is written anew has to be approved anew."""
        self.library.remove(self.files.runbook)

    def _lacks(self, path: str) -> str:
        return "" if self._has(path) else f"there is no {path}, or nothing is in it"

    def _has(self, path: str) -> bool:
        return bool((self.library.read(path).text or "").strip())

    def _tasks_lack(self) -> str:
        try:
            return (
                "" if self.placed() else f"there are no code tasks in {self.files.implementation}"
            )
        except RalphError as error:
            return str(error)

    def placed(self) -> tuple[Placed, ...]:
        """Its code tasks in order; UnusableData where they cannot be built."""
        folder = self.files.implementation
        found = []
        for path in code_task_paths(self.library, folder):
            content = self.library.content(path)
            if content is not None:
                found.append(read_code_task(path, decode(content).text, folder))
        return compiled(found)

    def errand(self, step: Step) -> Errand:
        """What a session is sent for."""
        asked = {
            Step.REFERENTS: texts.ask_referents,
            Step.DESIGN: texts.ask_design,
            Step.TASKS: texts.ask_tasks,
        }[step]
        return Errand(
            alias=f"{self.name}-{step.value}",
            title=f"Plan {self.name}: {step.value}",
            description=asked(self.files, self.text),
            phase=Phase.PLANNING,
            missing=lambda: self.lacks(step),
            command=f"ralph team plan {self.name}",
        )

    def talk(self, context: str) -> Talk:
        """The design, with the person: it decides more than all that follows."""
        return Talk(
            title=f"Design of {self.name}",
            phase=Phase.PLANNING,
            rules="\n\n".join(
                (
                    "You help a person to design how a goal is reached. Look at the code first,"
                    " then ask about one thing at a time what it does not answer, and offer"
                    " choices. When enough is clear, write the document, show it, and change it"
                    " until the person is content.",
                    texts.ask_design(self.files, self.text),
                    context,
                )
            ),
            opening=f"Let us write `{self.files.design}`.\n\n{self.text}",
        )

    # What Ralph writes itself

    def write_request(self, said: str) -> None:
        """What was asked for, the first time."""
        if not self.library.exists(self.files.request):
            self.library.put(self.files.request, said.strip().encode("utf-8", "replace") + b"\n")

    def stacks(self) -> tuple[Stack, ...]:
        """What the project is built with."""
        pages = {name: self.library.read(name).text for name in LOOKED_AT}
        return found_in({name: text for name, text in pages.items() if text is not None})

    def write_gates(self, known: Mapping[str, str]) -> dict[str, str]:
        """Gates that follow from the stack go to `config.sh`, where none are set at all; return
        those that hold then."""
        if known:
            return dict(known)
        derived = gates_of(self.stacks())
        if not derived:
            return {}
        before = decode(self.library.content(CONFIG) or b"")
        lines = [
            shell_variables.written(f"GATE_{name.upper()}", derived[name])
            for name in GATES
            if name in derived
        ]
        gap = "" if before.text.endswith("\n") or not before.text else "\n"
        text = before.text + gap + "\n".join(lines) + "\n"
        self.library.put(CONFIG, before.bytes_of(text))
        return {name: derived[name] for name in GATES if name in derived}

    def write_guide(self, gates: Mapping[str, str]) -> None:
        """`.ralph/agents.md`, unless somebody has written one."""
        if self._has(GUIDE):
            return
        text = texts.guide(
            self.stacks(),
            gates,
            files=self.files,
            catalog=self.library.read(self.files.catalog).text or "",
            design=self.library.read(self.files.design).text or "",
        )
        self.library.put(GUIDE, text.encode("utf-8", "replace"))

    def write_runbook(self, gates: Mapping[str, str]) -> None:
        """From the tasks as they are now."""
        text = texts.runbook(self.files, self.text, self.placed(), gates)
        self.library.put(self.files.runbook, text.encode("utf-8", "replace"))

    @property
    def own(self) -> tuple[str, ...]:
        """Everything about it that is in the project, and committed with it."""
        found = [*_all_below(self.library, self.files.folder), GUIDE, CONFIG]
        return tuple(path for path in found if self.library.exists(path))


def _all_below(library: Library, folder: str, depth: int = 4) -> list[str]:
    found = [f"{folder}/{name}" for name in library.files(folder, "")]
    for name in library.folders(folder) if depth else ():
        found += _all_below(library, f"{folder}/{name}", depth - 1)
    return found


def papers(library: Library) -> tuple[str, ...]:
    """What has been written about all goals, besides their code tasks."""
    goals = (GoalFiles(name=name) for name in library.folders(SPECS))
    return tuple(path for one in goals for path in one.papers if library.exists(path))


def find_goal(library: Library, said: str) -> Goal:
    """The goal of that name, or a new one with these words. UsageError where that is no name, or
    that of another goal: only the beginning of a long sentence is in it."""
    name, words = slug(said), words_of(said)
    if not name:
        raise UsageError(
            "a goal needs a few letters or digits", hint='ralph team plan "add search"'
        )
    goal = Goal(library=library, files=GoalFiles(name=name))
    is_cut, is_known = "-".join(words) != name, library.exists(goal.files.request)
    if is_cut and is_known and words_of(goal.text) != words:
        raise UsageError(
            f"goal {name} is another one: {one_line(goal.text, 200)}",
            hint=f"begin with other words; ralph team plan {name} goes on with that one",
        )
    return goal


def require_own_name(store: Store, goal: Goal) -> None:
    """A goal is the feature of its name. UsageError where that has tasks from elsewhere, such as
    stories: no file of the goal has them, so they would go."""
    feature = store.feature(goal.name)
    if feature is None or feature.spec_path == goal.files.design:
        return
    folder = goal.files.implementation
    own = {name_of(path, folder) for path in code_task_paths(goal.library, folder)}
    tasks = store.tasks(Filter(feature=feature.id))
    if others := [task.alias for task in tasks if task.alias and task.alias not in own]:
        raise UsageError(
            f"{goal.name} is a feature with tasks of its own, such as {others[0]}",
            hint="give the goal another name",
        )


class GoalFolder(OneFile):
    """`Document` on a goal's folder: sessions write there, and nowhere else."""

    def __init__(self, kit: Kit, goal: Goal) -> None:
        super().__init__(kit, goal.files.folder, goal.own)
        self.goal = goal

    def leave(self, task: Task) -> tuple[str, ...]:
        """What it has just written there is to stay."""
        self.paths = self.goal.own
        return super().leave(task)


def is_unfinished(store: Store, goal: Goal, step: Step) -> bool:
    """Was the session that was sent for a step stopped in the middle? Then what is there may be
    half of a document, or some of the tasks."""
    sent = _sent_for(store, goal, step)
    if sent is None or sent.attempt == 0 or sent.status not in UNFINISHED:
        return False
    sessions = store.sessions(task=sent.id, limit=1)
    ending = sessions[-1].ending if sessions else None
    # An agent that could not even start has left nothing.
    return ending is None or ending.cost is not Cost.END_RUN


def finish(store: Store, goal: Goal, step: Step) -> None:
    """Somebody else has done what a session was sent for, and was stopped at."""
    sent = _sent_for(store, goal, step)
    if sent is not None and sent.status in UNFINISHED:
        store.force_done(sent.id)


def _sent_for(store: Store, goal: Goal, step: Step) -> Task | None:
    try:
        return store.find(goal.errand(step).alias)
    except NoSuchTask:
        return None


def plan_step(kit: Kit, goal: Goal, step: Step) -> RunEnded:
    """Send a session for one step."""
    kit.document = GoalFolder(kit, goal)
    # What was asked for has only just been written down, by Ralph.
    told = uncommitted_edits(kit, tuple(path for path in goal.own if path != goal.files.request))
    kit.settings = replace(kit.settings, warnings=(*kit.settings.warnings, *told))
    return send(kit, goal.errand(step))


def approved_goals(store: Store, library: Library, but: str = "") -> list[Goal]:
    """Those that were approved, and whose tasks are in the graph; all or all but one."""
    found = []
    for name in library.folders(SPECS):
        goal = Goal(library=library, files=GoalFiles(name=name))
        feature = store.feature(name) if name != but else None
        is_known = feature is not None and feature.spec_path == goal.files.design
        if is_known and goal.step() is Step.READY:
            found.append(goal)
    return found


def code_tasks_of(
    goal: Goal,
    store: Store,
    clock: Clock,
    max_retries: int,
    *,
    seat: str = "",
    writes: bool = True,
) -> CodeTasks:
    """Its tasks, as the document of a run. The design is what sessions are told as its
    specification, and the runbook as its plan. `seat` is who works on them, where the store does
    not know."""
    feature = feature_of(goal, store)
    return CodeTasks(
        store=store,
        library=goal.library,
        clock=clock,
        folder=goal.files.implementation,
        feature=feature,
        max_retries=max_retries,
        seat=lambda task: seat or _seat_of(store, task),
        beside=(goal.files.runbook,),
        needs=goal.files.papers,
        writes=writes,
    )


def _seat_of(store: Store, task: Task) -> str:
    """Who works, or has worked last, on a task."""
    sessions = store.sessions(task=task.id, limit=1)
    if not sessions:
        return FIRST
    crew = {member.worker: member.seat for member in store.crew(sessions[-1].run_id)}
    return crew.get(sessions[-1].worker) or FIRST


def feature_of(goal: Goal, store: Store) -> Feature:
    """A goal is the feature of its name."""
    feature = store.add_feature(goal.name)
    spec, plan = goal.files.design, goal.files.runbook
    if (feature.spec_path, feature.plan_path) == (spec, plan):
        return feature
    return store.document_feature(feature.id, spec_path=spec, plan_path=plan)
