"""Everything around one loop: doubles that outlive a run, as the disk outlives a process."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ralph.adapters.agents.command import CommandAgent
from ralph.core import events
from ralph.core.breaker import Tolerance
from ralph.core.brief import Telling
from ralph.core.budget import Budget
from ralph.core.context import Room
from ralph.core.gates import Gate
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.limits import Limits
from ralph.core.models import Preferences
from ralph.core.prices import Price
from ralph.core.target import Everything, Target
from ralph.core.task import Draft, Task
from ralph.engine.kit import Kit, Settings
from ralph.engine.loop import run
from ralph.engine.views import Views
from ralph.ports.agent import Agent, Setup
from ralph.ports.crew import Owner
from ralph.ports.homes import Homes
from ralph.testing.clock import FrozenClock
from ralph.testing.doubles import (
    FakeCheckouts,
    FakeExecutor,
    FakeLibrary,
    FakeWorkspace,
    NoHomes,
    NoWall,
    Play,
    RecordingSink,
    ShutDoor,
    says,
)
from ralph.testing.memory_store import MemoryStore

ME = Owner(host="here", boot_id="b", pid_namespace="n", pid=1, pid_start="1")
DEAD = Owner(host="here", boot_id="b", pid_namespace="n", pid=0, pid_start="1")


class Died(BaseException):
    """The process is gone: whatever it would still do does not happen."""


class Fate:
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


class Mortal:
    """A part in the hands of a process that may die."""

    def __init__(self, part: object, fate: Fate) -> None:
        self._part = part
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._part, name)
        return partial(self._fate.call, value) if callable(value) else value


class World:
    """What a run finds, and what it leaves."""

    def __init__(self, runs_dir: Path) -> None:
        self.clock = FrozenClock()
        self.store = MemoryStore(self.clock)
        self.executor = FakeExecutor(self.clock)
        self.workspace = FakeWorkspace()
        self.sink = RecordingSink()
        self.signal: str | None = None
        self.runs_dir = runs_dir
        self.number = 0
        self.gates: tuple[Gate, ...] = ()
        self.limits = Limits()
        self.breaker = Tolerance()
        self.budget = Budget()
        self.budget_hard = "billed"
        self.target: Target = Everything()
        self.homes: Homes = NoHomes()
        self.checkouts = FakeCheckouts()
        self.verifiers: tuple[Agent, ...] = ()
        self.verify = False
        self.verify_model = ""
        self.review = False
        self.review_model = ""
        self.reviewers: tuple[Agent, ...] = ()
        self.agents: tuple[Agent, ...] = (CommandAgent(Setup(command="agent")),)
        self.models = Preferences()
        self.prices: dict[str, Price] = {}
        self.library = FakeLibrary()
        self.telling = Telling()
        self.room = Room()
        self.hooks: tuple[str, ...] = ()
        self.door = ShutDoor()
        self.views = False
        """Are the files kept that show the state to other programs?"""

    def kit(self, fate: Fate | None = None) -> Kit:
        """The parts of the next run, joined. Every run before it is dead by now."""
        fate = fate or Fate()
        self.number += 1
        return Kit(
            settings=Settings(
                run_id=RunId(f"run-{self.number}"),
                worker=WorkerId(f"agent-{self.number}"),
                owner=replace(ME, pid=self.number),
                runs_dir=str(self.runs_dir),
                env={},
                gates=self.gates,
                limits=self.limits,
                breaker=self.breaker,
                budget=self.budget,
                budget_hard=self.budget_hard,
                target=self.target,
                verify=self.verify,
                verify_model=self.verify_model,
                review=self.review,
                review_model=self.review_model,
                models=self.models,
                prices=self.prices,
                telling=self.telling,
                room=self.room,
                hooks=self.hooks,
            ),
            store=Mortal(self.store, fate),  # type: ignore[arg-type]
            agents=self.agents,
            workspace=Mortal(self.workspace, fate),  # type: ignore[arg-type]
            executor=Mortal(self.executor, fate),  # type: ignore[arg-type]
            clock=self.clock,
            sink=self.sink,
            door=self.door,
            homes=self.homes,
            wall=NoWall(),
            library=self.library,
            checkouts=self.checkouts,
            verifiers=self.verifiers,
            views=Views(self.store, self.library, self.clock) if self.views else None,
            reviewers=self.reviewers,
            interrupted=lambda: self.signal,
            is_alive=lambda owner: owner.pid == self.number,
        )

    def run(self, *sessions: Play) -> events.RunEnded:
        """One run, whose sessions must be just these."""
        self.executor.sessions = list(sessions)
        ended = run(self.kit())
        assert not self.executor.sessions, "the script was not used up"
        return ended

    def add(self, title: str = "a task", **fields: object) -> TaskId:
        return self.store.add_task(Draft(title=title, **fields)).id  # type: ignore[arg-type]

    def task(self, task: TaskId) -> Task:
        return self.store.find(task)

    def works(self, name: str = "work.txt", text: str = "x") -> Play:
        """A session that edits a file and claims its task."""
        return says("<task-done>TASK</task-done>", does=lambda: self.workspace.edit(name, text))

    def told(self, kind: type[events.Event]) -> list[events.Event]:
        return [event for event in self.sink.events if isinstance(event, kind)]
