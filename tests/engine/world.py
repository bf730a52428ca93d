"""Everything around one loop: doubles that outlive a run, as the disk outlives a process."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from msgspec.structs import replace

from ralph.adapters.agents.command_agent import CommandAgent
from ralph.core import events
from ralph.core.gates import Gate
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.run import AllTasks, RunLimits, Target
from ralph.core.settings import (
    BreakerSection,
    BudgetSection,
    Config,
    ContextSection,
    ExecutionSection,
    MemorySection,
    ModelsSection,
    PriceSection,
    SpecsSection,
)
from ralph.core.task import Task, TaskDraft
from ralph.engine.brief_inputs import BriefDocumentReader
from ralph.engine.budget_tracker import BudgetTracker
from ralph.engine.event_log import EventLog
from ralph.engine.lease_watch import LeaseWatch
from ralph.engine.loop import run
from ralph.engine.memory_file import MemoryFile
from ralph.engine.run_context import RunContext
from ralph.engine.run_settings import CheckSettings, GateSettings, RunSettings, SessionSettings
from ralph.engine.run_state import AgentPool, CheckoutState, RunState
from ralph.engine.state_files import StateFiles
from ralph.ports.agent import Agent, AgentHomes, AgentSetup
from ralph.ports.project_files import ProjectFiles
from ralph.store.database import Part
from ralph.store.runs import WorkerProcess
from tests.doubles import (
    FakeCheckouts,
    FakeExecutor,
    FakeProjectFiles,
    FakeWorkspace,
    NoHomes,
    NoSandbox,
    Play,
    RecordingSink,
    UnusedControlSocket,
    says,
)
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store

ME = WorkerProcess(host="here", boot_id="b", pid_namespace="n", pid=1, pid_start="1")
DEAD = WorkerProcess(host="here", boot_id="b", pid_namespace="n", pid=0, pid_start="1")

E = TypeVar("E", bound=events.Event)


class Died(BaseException):
    """The process is gone: whatever it would still do does not happen."""


class CrashPoint:
    """Ends a process at its n-th call of a part, before or after that call has had its effect."""

    def __init__(self, calls: int = -1, *, late: bool = False) -> None:
        self.calls = calls
        """How many calls are left to it; -1 for no end."""
        self.late = late
        self.dead = False

    def call(self, does: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Do it, if the process lives to do it."""
        last = self.calls == 0
        self.calls -= self.calls >= 0
        if self.dead or (last and not self.late):
            self.dead = True
            raise Died
        try:
            return does(*args, **kwargs)
        finally:
            if last:
                self.dead = True
                raise Died


class CrashingPart:
    """A part in the hands of a process that may die."""

    def __init__(self, part: object, crash_point: CrashPoint) -> None:
        self._part = part
        self._fate = crash_point

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._part, name)
        if isinstance(value, Part):
            return CrashingPart(value, self._fate)
        return partial(self._fate.call, value) if callable(value) else value


a_budget = partial(BudgetSection, session_usd=0.0, run_usd=0.0, project_usd=0.0)
"""Without limits, but those given."""


class World:
    """What a run finds, and what it leaves."""

    def __init__(self, runs_dir: Path) -> None:
        self.clock = FrozenClock()
        self.store = memory_store(self.clock)
        self.executor = FakeExecutor(self.clock)
        self.workspace = FakeWorkspace()
        self.sink = RecordingSink()
        self.signal: str | None = None
        self.runs_dir = runs_dir
        self.number = 0
        self.gates: tuple[Gate, ...] = ()
        self.limits = RunLimits()
        self.breaker = BreakerSection()
        self.budget = a_budget()
        self.budget_hard: Literal["billed", "always", "never"] = "billed"
        self.target: Target = AllTasks()
        self.homes: AgentHomes = NoHomes()
        self.checkouts = FakeCheckouts()
        self.verifiers: tuple[Agent, ...] = ()
        self.verify = False
        self.verify_model = ""
        self.verify_prompt = ""
        self.review = False
        self.review_model = ""
        self.reviewers: tuple[Agent, ...] = ()
        self.agents: tuple[Agent, ...] = (CommandAgent(AgentSetup(command="agent")),)
        self.models = ModelsSection()
        self.prices: dict[str, PriceSection] = {}
        self.project_files = FakeProjectFiles()
        self.memory = MemorySection()
        self.specs = SpecsSection()
        self.learn = True
        self.room = ContextSection()
        self.hooks: tuple[str, ...] = ()
        self.control_socket = UnusedControlSocket()
        self.views = False
        """Are the files kept that show the state to other programs?"""

    def _settings(self, **changes: object) -> RunSettings:
        settings = RunSettings(
            run_id=RunId(f"run-{self.number}"),
            worker=WorkerId(f"agent-{self.number}"),
            owner=replace(ME, pid=self.number),
            runs_dir=str(self.runs_dir),
            session=SessionSettings(hooks=self.hooks),
            gates=GateSettings(commands=self.gates),
            verification=CheckSettings(
                is_on=self.verify, model=self.verify_model, prompt=self.verify_prompt
            ),
            review=CheckSettings(is_on=self.review, model=self.review_model),
            limits=self.limits,
            config=Config(
                budget=replace(self.budget, hard=self.budget_hard),
                models=self.models,
                prices=self.prices,
                context=self.room,
                breaker=self.breaker,
                memory=self.memory,
                specs=self.specs,
                execution=ExecutionSection(learn=self.learn),
            ),
            target=self.target,
        )
        return replace(settings, **changes)

    def project_files_for(self, crash_point: CrashPoint) -> ProjectFiles:
        """The files of a process that may die."""
        del crash_point
        return self.project_files

    def ctx(self, crash_point: CrashPoint | None = None, **settings: object) -> RunContext:
        """The parts of the next run, joined. Every run before it is dead by now."""
        crash_point = crash_point or CrashPoint()
        self.number += 1
        s = self._settings(**settings)
        store: Any = CrashingPart(self.store, crash_point)
        workspace: Any = CrashingPart(self.workspace, crash_point)
        executor: Any = CrashingPart(self.executor, crash_point)
        files = self.project_files_for(crash_point)
        views = StateFiles(self.store, self.project_files, self.clock) if self.views else None
        return RunContext(
            settings=s,
            store=store,
            executor=executor,
            clock=self.clock,
            log=EventLog(store, self.sink, views, s.run_id),
            control_socket=self.control_socket,
            homes=self.homes,
            checkout_sandbox=NoSandbox(),
            project_files=files,
            project_files_at=lambda _: files,
            checkouts=self.checkouts,
            budget_tracker=BudgetTracker(store, self.clock, s),
            interrupted=lambda: self.signal,
            leases=LeaseWatch(self._is_alive),
            state=RunState(s.target, s.first_iteration),
            checkout=CheckoutState(workspace, BriefDocumentReader(files, s.guardrails)),
            agents=AgentPool(self.agents, self.verifiers, self.reviewers),
            memory_file=MemoryFile(files, store, s.session.memory_path),
        )

    def _is_alive(self, owner: WorkerProcess) -> bool | None:
        return owner.pid == self.number if owner.host == ME.host else None

    def run(self, *sessions: Play) -> events.RunEnded:
        """One run, whose sessions must be just these."""
        self.executor.sessions = list(sessions)
        ended = run(self.ctx())
        assert not self.executor.sessions, "the script was not used up"
        return ended

    def add(self, title: str = "a task", **fields: object) -> TaskId:
        return self.store.tasks.add(TaskDraft(title=title, **fields)).id  # type: ignore[arg-type]

    def task(self, task: TaskId) -> Task:
        return self.store.tasks.find(task)

    def works(self, name: str = "work.txt", text: str = "x") -> Play:
        """A session that edits a file and claims its task."""
        return says("<task-done>TASK</task-done>", does=lambda: self.workspace.edit(name, text))

    def recorded(self, kind: type[E]) -> list[E]:
        return [event for event in self.sink.events if isinstance(event, kind)]
