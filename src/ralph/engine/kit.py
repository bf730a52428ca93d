"""What a run works with, and the little it keeps in mind."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence

import msgspec

from ralph.core.breaker import Tolerance
from ralph.core.brief import Telling
from ralph.core.budget import Budget
from ralph.core.context import Room
from ralph.core.errors import CannotWrite, RalphError
from ralph.core.events import Event, Warned
from ralph.core.gates import Gate, GateResult
from ralph.core.ids import FeatureId, RunId, TaskId, WorkerId
from ralph.core.limits import Limits
from ralph.core.models import Preferences
from ralph.core.order import Schedule
from ralph.core.policy.decision import Ground, Phase, Policy
from ralph.core.policy.leash import Leash
from ralph.core.prices import Price
from ralph.core.snapshot import Snapshot
from ralph.core.target import Everything, Target
from ralph.core.task import Task
from ralph.documents import guardrails
from ralph.engine.memo import Memo
from ralph.engine.purse import Purse
from ralph.engine.reading import Reader
from ralph.engine.views import Views
from ralph.ports.agent import Account, Agent, Terms
from ralph.ports.checkouts import Checkouts
from ralph.ports.chronicle import Chronicle
from ralph.ports.clock import Clock
from ralph.ports.crew import Owner
from ralph.ports.document import Document
from ralph.ports.door import Door
from ralph.ports.executor import Executor, Timeouts
from ralph.ports.homes import Homes
from ralph.ports.library import Library
from ralph.ports.person import Person
from ralph.ports.sandbox import Wall
from ralph.ports.sink import Sink
from ralph.ports.store import Store
from ralph.ports.trunk import Trunk
from ralph.ports.workspace import Workspace


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of one run, frozen when it starts."""

    run_id: RunId
    worker: WorkerId
    owner: Owner
    runs_dir: str
    """Logs, briefs and streams, one set for each iteration."""
    env: Mapping[str, str]
    """What sessions and gates inherit."""
    dropped: tuple[str, ...] = ()
    """Likely secrets that they do not."""
    absent: tuple[str, ...] = ()
    """A line about each agent that could step in, were it installed."""
    warnings: tuple[str, ...] = ()
    """What is odd about the set-up, to be said at the start."""
    programs: Mapping[str, str] = {}
    """Where an agent's program is, whatever a session puts on its PATH."""
    target: Target = Everything()
    schedule: Schedule = Schedule.PRIORITY
    gates: tuple[Gate, ...] = ()
    gate_timeout_s: float = 600.0
    timeouts: Timeouts = Timeouts(hard_s=2700.0, idle_s=600.0, after_result_s=30.0)
    limits: Limits = Limits()
    seat: str = "teammate-1"
    """The worker's place in its team; a run of its own sits on the first."""
    address: RunId | None = None
    """Under which it is spoken to, if not as the run."""
    breaker: Tolerance = Tolerance()
    commit: str = "auto"
    keep_steps: bool = False
    """Merge the commits of a session as they are, instead of one for each task."""
    fail_fast: bool = False
    lease_s: float = 60.0
    as_root: bool = False
    room: Room = Room()
    """What a context holds, and when it counts as nearly full."""
    memory_path: str = "MEMORY.md"
    """Where a session leaves what the next one needs; empty: a person has that file."""
    budget_hard: str = "billed"
    budget: Budget = Budget()
    max_turns: int = 0
    home: FeatureId | None = None
    """The feature that tasks of its sessions belong to, where its own task is of none."""
    first_iteration: int = 1
    """Its number: a person may have counted before."""
    phase: Phase = Phase.BUILDING
    """What its sessions are for, and so which tools they have."""
    policy: Policy = Policy()
    hooks: tuple[str, ...] = ()
    """The command that an agent's program asks before it lets a session use a tool."""
    tools: tuple[str, ...] = ()
    """The command that serves Ralph's own tools to sessions."""
    max_retries: int | None = None
    """For every task of this run, instead of each task's own."""
    limit_wait_s: float = 300.0
    """How long to wait for a usage limit that does not say when it ends."""
    verify: bool = False
    """Let a second session check what the gates let through."""
    verify_model: str = ""
    """Which model does; empty is that of the first session."""
    verify_prompt: str = ""
    """A person's own template of how it does; empty is Ralph's."""
    variables: Mapping[str, str] = {}
    """What every template may speak of."""
    review: bool = False
    """Let a reviewer read what the others let through."""
    review_model: str = ""
    review_prompt: str = ""
    """A person's own rules for that."""
    models: Preferences = Preferences()
    prices: Mapping[str, Price] = {}
    """By model, for agents that do not say what a session cost."""
    telling: Telling = Telling()
    guardrails: str = guardrails.PATH
    """Where lessons are, from the project's root."""


MARKER = "RALPH_SESSION"
"""The variable by which everything that a worker has started can be found again."""


class Unfinished(msgspec.Struct, frozen=True, kw_only=True):
    """Work of a task that is not settled, lying in the checkout for its next attempt to mend."""

    task: TaskId
    attempt: int
    base: Snapshot
    """The checkout before the task's first attempt."""


class Kit:
    """The parts of a run, joined, and what it remembers from one iteration to the next."""

    trunk: Trunk | None = None
    """The branch that accepted work is merged into, where others build it as well."""
    withheld: frozenset[str] = frozenset()
    """Of what is kept, what looks like a secret: a session has left it, and it is uncommitted."""
    conflict = ""
    """What the next session is told about work that did not fit."""
    is_project: Callable[[str], bool] = staticmethod(lambda _: False)
    """Has a person made that folder of the checkout a project?"""
    as_damage: Callable[[BaseException], RalphError | None] = staticmethod(lambda _: None)
    """What to say of an error where the data are to blame; None: it is a bug."""
    library_at: Callable[[str], Library] | None = None
    """The project's files in another checkout, where there are several."""

    def __init__(
        self,
        *,
        settings: Settings,
        store: Store,
        agents: Sequence[Agent],
        workspace: Workspace,
        executor: Executor,
        clock: Clock,
        sink: Sink,
        door: Door,
        homes: Homes,
        wall: Wall,
        library: Library,
        checkouts: Checkouts,
        interrupted: Callable[[], str | None],
        is_alive: Callable[[Owner], bool | None],
        verifiers: Sequence[Agent] = (),
        reviewers: Sequence[Agent] = (),
        person: Person | None = None,
        views: Views | None = None,
    ) -> None:
        self.settings = settings
        self.env = {**settings.env, MARKER: settings.worker}
        self.store = store
        self.agents = agents
        """The first one does the work; the others, in this order, while it is out of quota."""
        self.agent = agents[0]
        self.workspace = workspace
        self.executor = executor
        self.clock = clock
        self.sink = sink
        self.door = door
        self.homes = homes
        self.wall = wall
        self.library = library
        self.reader = Reader(library, settings.guardrails)
        self.memo = Memo(library, store, settings.memory_path)
        self.views = views
        self.checkouts = checkouts
        self.verifiers, self.reviewers = verifiers, reviewers
        """Who checks the work, and who steps in for that; nobody: whoever is at work does."""
        self.interrupted, self.is_alive = interrupted, is_alive
        self.person = person
        """Who can be asked; nobody where the run has no terminal to itself."""
        self.missing: Callable[[Task], str] = lambda _: ""
        """What a claim still lacks, in a sentence: for tasks whose result is not in the tree."""

        self.purse = Purse(
            store,
            clock,
            settings.run_id,
            budget=settings.budget,
            hard=settings.budget_hard,
            prices=settings.prices,
        )
        self.document: Document | None = None
        """Where the tasks stand, if they stand in one."""
        self.chronicle: Chronicle | None = None

        self.seen, self.next_beat = store.last_seq(), 0.0
        self.iteration = settings.first_iteration - 1
        self.attempts = self.commits = 0
        self.baseline: tuple[GateResult, ...] = ()
        self.kept: frozenset[str] = frozenset()
        """Never committed: a person's uncommitted files at the start, and what gates dropped."""
        self.snapshot: Snapshot | None = None
        """The checkout after the last session, while nothing else has touched it."""
        self.unfinished: Unfinished | None = None
        self.earlier: tuple[RunId, ...] | None = None
        """The runs that this one goes on with, newest first; None until somebody asks."""
        self.stopping: str | None = None
        """Why the run is to end after this session."""
        self.stop_now = False
        self.paused = False
        self.hurry = False
        """A person wants a run that waits to go on."""
        self.skipped: dict[TaskId, str] = {}
        """Tasks that a person wants left out, and why."""
        self._warned: set[str] = set()

    @property
    def files(self) -> str:
        """The common beginning of this iteration's files."""
        part = f".{self.memo.part}" if self.memo.part > 1 else ""
        name = f"run-{self.settings.run_id}-iter-{self.iteration}{part}"
        return os.path.join(self.settings.runs_dir, name)

    @property
    def address(self) -> RunId:
        """Under which people, or the lead, speak to it."""
        return self.settings.address or self.settings.run_id

    @property
    def own(self) -> frozenset[str]:
        """The documents that Ralph itself writes, from the top of the checkout."""
        paths = self.document.paths if self.document is not None else ()
        return frozenset(self.workspace.prefix + path for path in paths)

    @property
    def everyone(self) -> tuple[Agent, ...]:
        """Whoever may have a session."""
        return (*self.agents, *self.verifiers, *self.reviewers)

    def account(self, agent: Agent) -> Account:
        """Who pays for its sessions."""
        home = agent.traits.home
        return agent.account(self.env, self.homes.files(home) if home is not None else {})

    def is_billed(self, agent: Agent) -> bool:
        """Does a spent budget stop the work of this agent?"""
        return self.purse.is_hard(billed=self.account(agent).billed)

    def terms(self, agent: Agent) -> Terms:
        """Under which conditions a session of it works."""
        s = self.settings
        left = self.purse.left_usd() if self.is_billed(agent) else None
        return Terms(
            fenced=self.wall.stands,
            as_root=s.as_root,
            budget_usd=left or 0.0,
            max_turns=s.max_turns,
            tools=s.tools,
            hooks=s.hooks,
            phase=s.phase,
        )

    def leash(self) -> Leash:
        """What the session at hand may do with its tools."""
        # The project may be a folder in what git looks after.
        top = self.workspace.path.removesuffix(f"/{self.workspace.prefix.strip('/')}")
        return Leash(
            policy=self.settings.policy,
            ground=Ground(checkout=top, home=self.env.get("HOME", "/")),
            toolbox=self.agent.traits.tools,
            phase=self.settings.phase,
        )

    def checking_leash(self, agent: Agent, checkout: str) -> Leash:
        """The same for a session that checks another one's work, in a checkout of its own."""
        return Leash(
            policy=self.settings.policy,
            ground=Ground(checkout=checkout, home=self.env.get("HOME", "/")),
            toolbox=agent.traits.tools,
            phase=Phase.VALIDATION,
            speaks=False,
        )

    def publish(self) -> None:
        """Show what has been recorded since the last look, by whomever."""
        while recorded := self.store.events(after=self.seen, limit=1000):
            for one in recorded:
                if self.views is not None:
                    self.views.event(one)
                # How another run begins, waits and ends is no news: a screen takes it for ours.
                if getattr(one.event, "run_id", self.settings.run_id) == self.settings.run_id:
                    self.sink.event(one)
            self.seen = recorded[-1].seq

    def record(self, event: Event) -> None:
        """Write an event that changes no state, and show it."""
        self.store.record(event, self.settings.run_id)
        self.publish()

    def warn(self, message: str, task: TaskId | None = None) -> None:
        """Tell people something that stops nothing."""
        self.record(Warned(message=message, task_id=task))

    def warn_once(self, message: str) -> None:
        """Tell people something that they would else hear with every session."""
        if message not in self._warned:
            self._warned.add(message)
            self.warn(message)

    def look_after(self) -> None:
        """Renew the lease and save logins when it is time; put back what was removed underneath."""
        if self.store.restore_if_removed():
            self.warn("the database was removed while the run was at work; it is back")
        self.door.look_after()
        now = self.clock.monotonic()
        if now >= self.next_beat:
            self.next_beat = now + self.settings.lease_s / 3
            # A full disk must not cost a session that is under way; its end is written
            # with the space that the store keeps in reserve.
            with contextlib.suppress(CannotWrite):
                self.store.heartbeat(self.settings.worker, self.settings.lease_s)
            self.homes.save()

    def show(self, *, is_last: bool = False) -> None:
        """Let other programs see how things stand."""
        if self.views is not None:
            self.views.draw(self.settings.phase.value, is_last=is_last)
            troubles, self.views.troubles = self.views.troubles, []
            for line in troubles if not self.store.is_full else ():
                self.warn_once(line)

    def take_snapshot(self) -> Snapshot:
        """The checkout as it is; the look after a session also serves before the next one."""
        if self.snapshot is None:
            self.snapshot = self.workspace.snapshot()
        return self.snapshot
