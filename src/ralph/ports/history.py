"""Runs, sessions, and what people say to them."""

from enum import StrEnum
from typing import Protocol

import msgspec

from ralph.core.ending import Ending
from ralph.core.events import Event
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, SessionId, TaskId, WorkerId
from ralph.core.outcome import Outcome
from ralph.core.review import Review
from ralph.core.role import Role
from ralph.core.sections import Given
from ralph.core.snapshot import Snapshot
from ralph.core.tool_uses import ToolUses
from ralph.core.tried import Judged, Tried
from ralph.ports.claims import Claim
from ralph.ports.crew import Owner


class Mark(StrEnum):
    """How far an attempt has come, durably. After a crash Ralph goes on behind the last mark."""

    STARTED = "started"
    ENDED = "ended"
    """The session is over; its final message is kept."""
    GATED = "gated"
    """The gates have run; their results are kept."""
    ACCEPTED = "accepted"
    """It counts; only committing, merging and settling are left."""
    COMMITTED = "committed"
    """And is committed, in a checkout whose work is to be merged."""
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
    checkout: str = ""
    """The project's directory in the checkout where it worked."""
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
    tools: ToolUses = ToolUses()
    """What its hooks tell of its tools, while it works."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """A session that judges another one."""

    session_id: SessionId
    """The one that is judged."""
    role: Role = Role.VERIFY
    """What is looked for."""
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
    review: Review | None = None
    """What a reviewer says, where it is one."""


class Word(StrEnum):
    """What a person may ask of a running loop."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    STOP_NOW = "stop-now"
    SKIP = "skip"
    HAND_OFF = "handoff"


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

    def rename_commits(self, session: SessionId, commits: tuple[str, ...]) -> None:
        """Its work was rebased: these are its commits now."""
        ...

    def session(self, task: TaskId, attempt: int) -> Session | None: ...
    def sessions(
        self, *, task: TaskId | None = None, run: RunId | None = None, limit: int = 0
    ) -> list[Session]:
        """Oldest first; with a limit the newest of them."""
        ...

    def save_check(self, check: Check, event: Event) -> None:
        """A check as it is now: begun, or over, with its verdict and its cost. With its review a
        task in progress is in review."""
        ...

    def checks(self, session: SessionId) -> list[Check]:
        """Those of one session, in order: reviews last."""
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

    def note_tools(self, session: SessionId, uses: ToolUses) -> None:
        """What its tools have told the session so far; its end changes nothing about it."""
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
    def forward(self, control: Control, to: RunId) -> None:
        """Pass on what was asked of us; nobody is told again."""
        ...

    def is_to_stop(self, run: RunId) -> bool:
        """Has somebody asked the run to stop, whoever has heard it?"""
        ...

    def take_controls(self, run: RunId) -> list[Control]:
        """What was asked since the last look; each is handed out once."""
        ...
