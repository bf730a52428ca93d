"""The graph and its history. Every method is one whole transaction.

The store is six small promises; whoever needs only one should ask only for that.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from ralph.core.ending import Ending
from ralph.core.events import Event, Recorded
from ralph.core.gates import GateResult
from ralph.core.ids import FeatureId, RunId, SessionId, TaskId, WorkerId
from ralph.core.memory import Memory
from ralph.core.order import Schedule
from ralph.core.outcome import Outcome
from ralph.core.sections import Given
from ralph.core.snapshot import Snapshot
from ralph.core.target import Target
from ralph.core.task import Draft, Edit, Feature, Status, Task
from ralph.core.transitions import Transition
from ralph.core.tried import Judged, Tried
from ralph.ports.breakers import Breakers
from ralph.ports.ledger import Ledger
from ralph.ports.memories import Memories
from ralph.ports.papers import Papers


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks by status, within a target."""

    pending: int = 0
    in_progress: int = 0
    done: int = 0
    blocked: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.pending + self.in_progress + self.done + self.blocked + self.failed

    @property
    def open(self) -> int:
        return self.pending + self.in_progress + self.blocked


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks to list."""

    statuses: frozenset[Status] = frozenset()
    feature: FeatureId | None = None
    parent: TaskId | None = None
    ready: bool = False
    limit: int = 0
    offset: int = 0


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a task's log."""

    task_id: TaskId
    message: str
    timestamp: str


class Graph(Protocol):
    """Tasks, edges, features."""

    def add_task(self, draft: Draft) -> Task:
        """Add it, pending. Refuses unknown parents and blockers, and cycles. A new child reopens
        a settled parent."""
        ...

    def add_many(self, drafts: Sequence[Draft]) -> int:
        """Add all or none. Drafts may name each other as parent or blocker, in any order."""
        ...

    def edit_task(self, task: TaskId, edit: Edit) -> Task: ...

    def delete_task(self, task: TaskId) -> list[TaskId]:
        """Delete it, everything below it and their edges; return what went."""
        ...

    def find(self, name: str) -> Task:
        """By id or alias; else NoSuchTask with near matches in the hint."""
        ...

    def tasks(self, which: Filter) -> list[Task]:
        """By priority, then age."""
        ...

    def subtree(self, root: TaskId | None, limit: int = 0) -> list[Task]:
        """A task and everything below it (or all), parents before children."""
        ...

    def children(self, task: TaskId) -> list[Task]: ...
    def blockers(self, task: TaskId) -> list[Task]: ...
    def dependents(self, task: TaskId) -> list[Task]: ...
    def blocker_ids(self, tasks: Sequence[TaskId]) -> dict[TaskId, tuple[TaskId, ...]]:
        """The blockers of many tasks at once, for lists."""
        ...

    def link(self, blocker: TaskId, blocked: TaskId) -> None:
        """Add an edge; adding it twice is adding it once. CycleRefused where it must be."""
        ...

    def unlink(self, blocker: TaskId, blocked: TaskId) -> bool: ...

    def apply(self, task: TaskId, steps: Sequence[Transition]) -> Task:
        """Take a task through legal transitions by hand, with all that follows from them.

        On a parent: see `force_done`, `force_failed`, `reset`, which go below it.
        """
        ...

    def force_done(self, task: TaskId) -> Task:
        """Walk it to done; a parent by way of its open leaves."""
        ...

    def force_failed(self, task: TaskId, reason: str) -> Task: ...

    def reset(self, task: TaskId) -> Task:
        """Back to the beginning, and everything below it; what must be open above is reopened."""
        ...

    def retry(self, task: TaskId) -> Task:
        """A failed task (or a failed parent's failed leaves) gets a fresh set of tries."""
        ...

    def add_feature(self, name: str) -> Feature:
        """Add it, or return the one of that name."""
        ...

    def feature(self, name: str) -> Feature | None:
        """By name or id."""
        ...

    def features(self) -> list[Feature]: ...
    def document_feature(
        self, feature: FeatureId, *, spec_path: str | None, plan_path: str | None
    ) -> Feature:
        """Say where its spec and its plan are; None where there is none. Its status follows, as it
        follows whatever happens to its tasks."""
        ...

    def delete_feature(self, feature: FeatureId) -> list[TaskId]:
        """Delete it with all its tasks, what is below them and their edges; return what went."""
        ...

    def log(self, task: TaskId, message: str) -> None: ...
    def logs(self, task: TaskId, limit: int = 0) -> list[LogEntry]:
        """Oldest first; with a limit the newest of them."""
        ...


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Which process a worker is, so that its death can be seen."""

    host: str
    boot_id: str
    pid_namespace: str
    pid: int
    pid_start: str


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A task in one worker's hands. Whatever settles it must show this."""

    task: Task
    worker: WorkerId
    attempt: int


class Mark(StrEnum):
    """How far an attempt has come, durably. After a crash Ralph goes on behind the last mark."""

    STARTED = "started"
    ENDED = "ended"
    """The session is over; its final message is kept."""
    GATED = "gated"
    """The gates have run; their results are kept."""
    ACCEPTED = "accepted"
    """It counts; only committing and settling are left."""
    SETTLED = "settled"


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an agent, for one attempt."""

    id: SessionId
    task_id: TaskId
    attempt: int
    run_id: RunId
    worker: WorkerId
    agent: str
    model: str = ""
    """What was asked for; `ending.model` is what it ran on. Empty was the agent's own choice."""
    tier: str = ""
    """haiku, sonnet or opus, where that is what was chosen."""
    strategy: str = ""
    """By which it was chosen."""
    log: str = ""
    started_at: str = ""
    ended_at: str | None = None
    mark: Mark = Mark.STARTED
    before: Snapshot | None = None
    """The checkout when the session began."""
    after: Snapshot | None = None
    ending: Ending | None = None
    told: str | None = None
    """A claim made over the session's socket."""
    gates: tuple[GateResult, ...] = ()
    commits: tuple[str, ...] = ()
    """Its own, and what Ralph has committed of its work."""
    duration_s: float = 0.0
    verdict: str = ""
    """What was decided about it, for people."""
    judged: Judged | None = None
    """And in a word."""
    given: tuple[Given, ...] = ()
    """What it was told."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """A session that judges another one."""

    session_id: SessionId
    """The one that is judged."""
    number: int
    """The first, or one more since the one before came to no verdict."""
    task_id: TaskId
    run_id: RunId
    agent: str
    model: str = ""
    log: str = ""
    started_at: str = ""
    ended_at: str | None = None
    ending: Ending | None = None
    passed: bool | None = None
    """None: no verdict, yet or at all."""
    reason: str = ""
    duration_s: float = 0.0
    given: tuple[Given, ...] = ()
    """What it was told."""


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """A claim whose owner may be dead."""

    task: Task
    owner: Owner | None
    expired: bool


class Claims(Protocol):
    """Who works on what."""

    def next_ready(self, target: Target, schedule: Schedule) -> Task | None:
        """The task that a claim would get."""
        ...

    def claim(
        self, worker: WorkerId, run: RunId | None, target: Target, schedule: Schedule
    ) -> Claim | None:
        """Hand one ready task to one worker, never the same task to two."""
        ...

    def join(self, worker: WorkerId, run: RunId, owner: Owner, lease_s: float) -> None:
        """Make a worker known, before its first claim."""
        ...

    def heartbeat(self, worker: WorkerId, lease_s: float) -> None:
        """Renew the lease on everything the worker holds."""
        ...

    def holds(self, claim: Claim) -> bool:
        """Is the claim still this worker's, at this attempt?"""
        ...

    def stale(self, me: WorkerId) -> list[Stale]:
        """Claims of others, with what is needed to judge whether their owners live."""
        ...

    def take_over(self, task: TaskId, attempt: int, worker: WorkerId) -> Claim:
        """Continue a dead worker's attempt under the same number. ClaimLost if it moved on."""
        ...

    def settle(
        self,
        claim: Claim,
        transition: Transition,
        *,
        message: str,
        fail_fast: bool,
        run: RunId | None = None,
        events: Sequence[Event] = (),
        memories: Sequence[Memory] = (),
    ) -> Task:
        """State change, log line, events, what is to be remembered and the session's last mark, at
        once; then what follows for parents and dependents. Fenced by worker and attempt: ClaimLost
        if it is not ours.

        A task that got open children in the meantime is given back instead of being done.
        """
        ...

    def base(self, task: TaskId) -> Snapshot | None:
        """The checkout as it was when the task was first claimed since it was last done, or since
        its work was taken out of the checkout."""
        ...

    def move_base(self, task: TaskId, base: Snapshot) -> None:
        """Others have changed the checkout meanwhile: this is what the task begins with now."""
        ...

    def forget_base(self, task: TaskId) -> None:
        """Its work was taken out of the checkout: no session is left to judge, and the next attempt
        starts afresh. A deleted task has nothing to forget."""
        ...

    def counts(self, target: Target) -> Counts: ...
    def has_tasks(self, target: Target) -> bool: ...
    def has_open(self, target: Target) -> bool:
        """Is anything not settled? Costs the same for any number of tasks."""
        ...

    def in_progress(self, target: Target) -> int: ...
    def rank_chains(self) -> None:
        """Bring the critical-path order up to date, if the graph has changed."""
        ...


class Word(StrEnum):
    """What a person may ask of a running loop."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    STOP_NOW = "stop-now"
    SKIP = "skip"


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """One such request."""

    id: int
    word: Word
    task_id: TaskId | None = None
    reason: str = ""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One invocation of the loop."""

    id: RunId
    worker: WorkerId
    target: str
    agent: str
    checkout: str
    started_at: str
    sandbox: str = "off"
    ended_at: str | None = None
    outcome: Outcome | None = None
    reason: str = ""
    baseline: tuple[GateResult, ...] = ()


class History(Protocol):
    """Runs, sessions, and what people say to them."""

    def start_run(self, run: Run, owner: Owner, lease_s: float, event: Event) -> None:
        """Record the run, its worker and its first event."""
        ...

    def end_run(self, run: RunId, outcome: Outcome, reason: str, event: Event) -> None: ...
    def save_baseline(self, run: RunId, results: tuple[GateResult, ...]) -> None: ...
    def runs(self, limit: int = 20) -> list[Run]:
        """Newest first."""
        ...

    def run(self, run: RunId) -> Run | None: ...
    def live_runs(self) -> list[tuple[Run, Owner]]:
        """Runs that have not ended, with their owners."""
        ...

    def start_session(self, session: Session, claim: Claim, event: Event) -> None:
        """Record it, and the task's base if it has none. ClaimLost if the claim is gone."""
        ...

    def end_session(self, session: Session, event: Event) -> None:
        """Mark it ended: final message, ending, changes and cost, durably."""
        ...

    def mark_session(
        self, session: SessionId, mark: Mark, gates: tuple[GateResult, ...] | None = None
    ) -> None: ...
    def add_commit(self, session: SessionId, commit: str, event: Event) -> None:
        """Ralph has committed what the session left: it belongs to the session from now on."""
        ...

    def session(self, task: TaskId, attempt: int) -> Session | None: ...
    def sessions(
        self, *, task: TaskId | None = None, run: RunId | None = None, limit: int = 0
    ) -> list[Session]:
        """Oldest first; with a limit the newest of them."""
        ...

    def save_check(self, check: Check, event: Event) -> None:
        """A check as it is now: begun, or over, with its verdict and its cost."""
        ...

    def checks(self, session: SessionId) -> list[Check]:
        """Those of one session, in order."""
        ...

    def limited_until(self, agent: str) -> float | None:
        """When the allowance of an agent comes back, if a session was told that it is used up and
        that moment has not come yet."""
        ...

    def lift_limits(self) -> None:
        """A person says that there is quota again."""
        ...

    def tried(
        self, *, run: RunId | None = None, task: TaskId | None = None, limit: int
    ) -> list[Tried]:
        """The newest attempts that counted (all but the released), oldest first, each with what was
        logged about it before the task's next one began."""
        ...

    def left_in(self, checkout: str) -> Session | None:
        """The newest session in this checkout whose task has a base and is nobody's now: its work
        lies there, unfinished."""
        ...

    def tell(self, session: SessionId, told: str) -> None:
        """Record a claim that the session makes over its socket."""
        ...

    def inject(self, text: str, task: TaskId | None) -> None: ...
    def guidance(self, task: TaskId, attempt: int) -> list[str]:
        """What people have said to this task: it stays with it, since a session may be cut short
        or its work be rejected. What it hears for the first time is acknowledged by an event."""
        ...

    def guidance_for(self, task: TaskId) -> list[str]:
        """The same, without telling anybody: for whoever looks ahead."""
        ...

    def send(
        self, run: RunId, word: Word, task: TaskId | None = None, reason: str = ""
    ) -> None: ...
    def take_controls(self, run: RunId) -> list[Control]:
        """What was asked since the last look; each is handed out once."""
        ...


class Journal(Protocol):
    """What happened."""

    def record(self, event: Event, run: RunId | None = None) -> None:
        """Append an event that changes no state."""
        ...

    def events(self, after: int = 0, limit: int = 1000) -> list[Recorded]: ...
    def last_seq(self) -> int: ...


class Store(Graph, Papers, Claims, History, Memories, Ledger, Breakers, Journal, Protocol):
    """All of it."""

    def check(self) -> list[str]:
        """What is wrong with the data, one line each; counters are recounted and mended."""
        ...

    def keep_reserve(self) -> None:
        """Set a little space aside, so that a run on a full disk can still record its end."""
        ...

    @property
    def is_full(self) -> bool:
        """The disk is full and the reserve is used up: time to end the run."""
        ...

    def restore_if_removed(self) -> bool:
        """Put the data back if somebody removed its file. True if that was needed."""
        ...

    def close(self) -> None: ...
