"""What happened: the closed union that the journal stores and every screen folds.

A state change and its event are written in one transaction, so replaying the events gives the
stored state (`replay.py`).
"""

from typing import Final

import msgspec

from ralph.core.check_events import CheckEvent
from ralph.core.gates import Evidence
from ralph.core.handoff_events import HandoffEvent
from ralph.core.happening import Happening
from ralph.core.ids import FeatureId, RunId, SessionId, TaskId, WorkerId
from ralph.core.memory import MemoryKind
from ralph.core.outcome import Outcome
from ralph.core.spent import Spent
from ralph.core.task import Edit, Feature, Status, Task
from ralph.core.team_events import TeamEvent

# The graph


class TaskAdded(Happening, frozen=True, kw_only=True):
    task: Task


class TaskEdited(Happening, frozen=True, kw_only=True):
    task_id: TaskId
    edit: Edit


class TaskDeleted(Happening, frozen=True, kw_only=True):
    task_id: TaskId
    title: str


class EdgeAdded(Happening, frozen=True, kw_only=True):
    blocker_id: TaskId
    blocked_id: TaskId


class EdgeRemoved(Happening, frozen=True, kw_only=True):
    blocker_id: TaskId
    blocked_id: TaskId


class FeatureAdded(Happening, frozen=True, kw_only=True):
    feature: Feature


class FeatureChanged(Happening, frozen=True, kw_only=True):
    """Its documents, or how far it has come: the state after it."""

    feature: Feature


class FeatureDeleted(Happening, frozen=True, kw_only=True):
    feature_id: FeatureId
    name: str


class TaskLogged(Happening, frozen=True, kw_only=True):
    task_id: TaskId
    message: str


# A task's state


class _TaskMoved(Happening, frozen=True, kw_only=True):
    """Every change of state says the state after it."""

    task_id: TaskId
    alias: str | None = None
    title: str
    status: Status
    attempt: int
    retry_count: int
    strikes: int
    reason: str | None = None
    verification_status: str | None = None
    review: str | None = None


class TaskClaimed(_TaskMoved, frozen=True, kw_only=True):
    worker: WorkerId


class TaskDone(_TaskMoved, frozen=True, kw_only=True):
    pass


class TaskRejected(_TaskMoved, frozen=True, kw_only=True):
    """The work does not count; the task is pending again."""


class TaskStruck(_TaskMoved, frozen=True, kw_only=True):
    """No usable claim; the task is pending again."""


class TaskReleased(_TaskMoved, frozen=True, kw_only=True):
    """Given back at no cost."""


class TaskConflicted(_TaskMoved, frozen=True, kw_only=True):
    """Its work does not fit what others have merged meanwhile; the task is pending again."""


class TaskFailed(_TaskMoved, frozen=True, kw_only=True):
    pass


class TaskBlocked(_TaskMoved, frozen=True, kw_only=True):
    pass


class TaskUnblocked(_TaskMoved, frozen=True, kw_only=True):
    pass


class TaskReopened(_TaskMoved, frozen=True, kw_only=True):
    """By retry, reset, or a child that can run again."""


# A run


class RunStarted(Happening, frozen=True, kw_only=True):
    run_id: RunId
    worker: WorkerId
    target: str
    agent: str
    checkout: str
    gates: tuple[str, ...] = ()
    sandbox: str = "off"
    account: str = ""
    """Who pays, as far as it is known."""


class AgentChosen(Happening, frozen=True, kw_only=True):
    """Another agent takes over, or the first one is back."""

    run_id: RunId
    agent: str
    reason: str
    account: str = ""


class RunPaused(Happening, frozen=True, kw_only=True):
    """The loop waits for a person."""

    run_id: RunId
    reason: str


class RunResumed(Happening, frozen=True, kw_only=True):
    run_id: RunId


class RunWaiting(Happening, frozen=True, kw_only=True):
    """The loop waits for a moment in time."""

    run_id: RunId
    reason: str
    until: str


class BreakerOpened(Happening, frozen=True, kw_only=True):
    """Only failures: no session starts for now."""

    run_id: RunId
    seat: str
    reason: str
    recovery: str
    """What follows: back_off, skip or person."""
    until: str | None = None
    """When one session is tried."""


class BreakerTried(Happening, frozen=True, kw_only=True):
    """Half open: one session shows whether it works again."""

    run_id: RunId
    seat: str


class BreakerClosed(Happening, frozen=True, kw_only=True):
    """It works again, or a person says so."""

    seat: str
    by: str = ""


class RunEnded(Happening, frozen=True, kw_only=True):
    run_id: RunId
    outcome: Outcome
    exit_code: int
    reason: str = ""
    done: int = 0
    failed: int = 0
    blocked: int = 0
    """Held back by a person, a session or the breaker."""
    attempts: int = 0
    commits: int = 0
    duration_s: float = 0.0
    cost_usd: float | None = None
    """None when any of it is unknown."""
    spent: Spent = Spent()


class BaselineTaken(Happening, frozen=True, kw_only=True):
    run_id: RunId
    red: tuple[str, ...]
    green: tuple[str, ...]


class Warned(Happening, frozen=True, kw_only=True):
    """Something a person should know; nothing stops because of it."""

    message: str
    task_id: TaskId | None = None


# A session


class SessionStarted(Happening, frozen=True, kw_only=True):
    session_id: SessionId
    task_id: TaskId
    title: str
    attempt: int
    agent: str
    log: str
    model: str = ""


class ModelOverridden(Happening, frozen=True, kw_only=True):
    """The last session asked for another model than the strategy would choose, and gets it."""

    task_id: TaskId
    model: str
    planned: str
    strategy: str


class SessionEnded(Happening, frozen=True, kw_only=True):
    session_id: SessionId
    task_id: TaskId
    ended: str
    detail: str = ""
    duration_s: float = 0.0
    model: str = ""
    """What it ran on, as far as it says."""
    cost_usd: float | None = None
    estimated: bool = False
    """The cost is worked out from the tokens."""
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    swept: int = 0
    denied: tuple[str, ...] = ()
    """Tools that it was not permitted to use, one for each call."""


class ToolCalled(Happening, frozen=True, kw_only=True):
    """A session has used one of Ralph's own tools."""

    task_id: TaskId
    session_id: SessionId
    tool: str
    error: str = ""
    """Why it was refused."""


class ToolJudged(Happening, frozen=True, kw_only=True):
    """The policy had something to say about a tool that a session wanted to use."""

    task_id: TaskId
    session_id: SessionId
    tool: str
    decision: str
    """denied, rewritten or doubtful."""
    reason: str = ""
    command: str = ""
    """The shell text it was about, where there is one."""


class GateStarted(Happening, frozen=True, kw_only=True):
    task_id: TaskId | None
    name: str


class GateEnded(Happening, frozen=True, kw_only=True):
    task_id: TaskId | None
    name: str
    passed: bool
    code: int | None
    duration_s: float


class GatesWeighed(Happening, frozen=True, kw_only=True):
    task_id: TaskId
    evidence: Evidence


class WorkCommitted(Happening, frozen=True, kw_only=True):
    task_id: TaskId
    commit: str
    files: int


class WorkSaved(Happening, frozen=True, kw_only=True):
    """Work that did not count, kept under a ref."""

    task_id: TaskId
    ref: str


class MemoryKept(Happening, frozen=True, kw_only=True):
    """Later sessions may be told of it."""

    memory_id: int
    task_id: TaskId
    kind: MemoryKind
    title: str


class MemoryForgotten(Happening, frozen=True, kw_only=True):
    memory_id: int
    task_id: TaskId
    title: str


# People


class GuidanceGiven(Happening, frozen=True, kw_only=True):
    text: str
    task_id: TaskId | None = None


class GuidanceDelivered(Happening, frozen=True, kw_only=True):
    """It is in the brief of this task's session."""

    task_id: TaskId
    attempt: int
    count: int


class ControlSent(Happening, frozen=True, kw_only=True):
    """Someone asked the running loop to pause, resume, stop or skip."""

    word: str
    task_id: TaskId | None = None
    reason: str = ""


TaskMoved = (
    TaskClaimed
    | TaskDone
    | TaskRejected
    | TaskStruck
    | TaskReleased
    | TaskConflicted
    | TaskFailed
    | TaskBlocked
    | TaskUnblocked
    | TaskReopened
)

Event = (
    TaskAdded
    | TaskEdited
    | TaskDeleted
    | EdgeAdded
    | EdgeRemoved
    | FeatureAdded
    | FeatureChanged
    | FeatureDeleted
    | TaskLogged
    | TaskMoved
    | RunStarted
    | AgentChosen
    | RunPaused
    | RunResumed
    | RunWaiting
    | BreakerOpened
    | BreakerTried
    | BreakerClosed
    | RunEnded
    | TeamEvent
    | BaselineTaken
    | Warned
    | ModelOverridden
    | SessionStarted
    | SessionEnded
    | HandoffEvent
    | ToolCalled
    | ToolJudged
    | CheckEvent
    | GateStarted
    | GateEnded
    | GatesWeighed
    | WorkCommitted
    | WorkSaved
    | MemoryKept
    | MemoryForgotten
    | GuidanceGiven
    | GuidanceDelivered
    | ControlSent
)


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """An event in the journal. Outside the union: it says when and in which run, not what."""

    seq: int
    time: str
    run_id: RunId | None
    event: Event


ENCODE: Final = msgspec.json.Encoder().encode
DECODE: Final = msgspec.json.Decoder(Event).decode


def as_line(recorded: Recorded) -> bytes:
    """One JSON object: seq, time, event and what belongs to it."""
    body = msgspec.to_builtins(recorded.event)
    return ENCODE({"seq": recorded.seq, "time": recorded.time, "run_id": recorded.run_id} | body)
