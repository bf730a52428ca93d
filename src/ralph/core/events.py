"""All events of the journal. Every screen is drawn from them."""

from typing import Final

import msgspec

from ralph.core.cost import CostSummary
from ralph.core.gates import GateEvidence
from ralph.core.ids import FeatureId, RunId, SessionId, TaskId, WorkerId
from ralph.core.memory import MemoryKind
from ralph.core.run import RunOutcome, WaitKind
from ralph.core.session_events import CheckEvent, EventBase, HandoffEvent, SessionResultReported
from ralph.core.task import Feature, Task, TaskEdit, TaskStatus


class WorkerJoined(EventBase, frozen=True, kw_only=True):
    run_id: RunId
    worker: WorkerId
    slot: str


class WorkerLeft(EventBase, frozen=True, kw_only=True):
    """It leaves the slot: there is nothing left to do, or it cannot go on."""

    run_id: RunId
    worker: WorkerId
    slot: str
    outcome: RunOutcome | None
    """None: its process has died."""
    reason: str = ""


class MergeQueued(EventBase, frozen=True, kw_only=True):
    """Accepted work waits until another worker's is merged."""

    task_id: TaskId


class MergeBegun(EventBase, frozen=True, kw_only=True):
    """Its merge begins: no other worker moves the branch meanwhile."""

    task_id: TaskId


class WorkMerged(EventBase, frozen=True, kw_only=True):
    """Accepted work has become part of the branch that a team builds."""

    task_id: TaskId
    branch: str
    commit: str
    """The branch's tip since then."""


class TeammateJudged(EventBase, frozen=True, kw_only=True):
    """A teammate that another program leads says that a task is done, and the gates have run."""

    slot: str
    passed: bool
    subject: str = ""
    """What its team calls the task."""
    task_id: TaskId | None = None
    """The task of the graph that this is, if it is one."""
    reason: str = ""
    """Which gate fails."""


TeamEvent = WorkerJoined | WorkerLeft | MergeQueued | MergeBegun | WorkMerged | TeammateJudged


# The graph
class TaskAdded(EventBase, frozen=True, kw_only=True):
    task: Task


class TaskEdited(EventBase, frozen=True, kw_only=True):
    task_id: TaskId
    edit: TaskEdit


class TaskDeleted(EventBase, frozen=True, kw_only=True):
    task_id: TaskId
    title: str


class EdgeAdded(EventBase, frozen=True, kw_only=True):
    blocker_id: TaskId
    blocked_id: TaskId


class EdgeRemoved(EventBase, frozen=True, kw_only=True):
    blocker_id: TaskId
    blocked_id: TaskId


class FeatureAdded(EventBase, frozen=True, kw_only=True):
    feature: Feature


class FeatureChanged(EventBase, frozen=True, kw_only=True):
    """Its documents, or how far it has come: the state after it."""

    feature: Feature


class FeatureDeleted(EventBase, frozen=True, kw_only=True):
    feature_id: FeatureId
    name: str


class TaskLogged(EventBase, frozen=True, kw_only=True):
    task_id: TaskId
    message: str


# A task's state
class _TaskMoved(EventBase, frozen=True, kw_only=True):
    """Every change of state says the state after it."""

    task_id: TaskId
    alias: str | None = None
    title: str
    status: TaskStatus
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
class RunStarted(EventBase, frozen=True, kw_only=True):
    run_id: RunId
    worker: WorkerId
    target: str
    agent: str
    checkout: str
    gates: tuple[str, ...] = ()
    sandbox: str = "off"
    account: str = ""
    """Who pays, as far as it is known."""


class AgentChosen(EventBase, frozen=True, kw_only=True):
    """Another agent takes over, or the first one is back."""

    run_id: RunId
    agent: str
    reason: str
    account: str = ""


class RunPaused(EventBase, frozen=True, kw_only=True):
    """The loop waits for a person."""

    run_id: RunId
    reason: str
    kind: WaitKind = WaitKind.PAUSED


class RunResumed(EventBase, frozen=True, kw_only=True):
    run_id: RunId


class RunWaiting(EventBase, frozen=True, kw_only=True):
    """The loop waits for a moment in time."""

    run_id: RunId
    reason: str
    until: str
    kind: WaitKind = WaitKind.OTHER


class BreakerOpened(EventBase, frozen=True, kw_only=True):
    """Only failures: no session starts for now."""

    run_id: RunId
    slot: str
    reason: str
    recovery: str
    """What follows: back_off, skip or person."""
    until: str | None = None
    """When one session is tried."""


class BreakerTried(EventBase, frozen=True, kw_only=True):
    """Half open: one session shows whether it works again."""

    run_id: RunId
    slot: str


class BreakerClosed(EventBase, frozen=True, kw_only=True):
    """It works again, or a person says so."""

    slot: str
    by: str = ""


class RunEnded(EventBase, frozen=True, kw_only=True):
    run_id: RunId
    outcome: RunOutcome
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
    spent: CostSummary = CostSummary()
    catch_up: str = ""
    """The command that brings what a team has built into the person's branch, if it is behind."""


class BaselineTaken(EventBase, frozen=True, kw_only=True):
    run_id: RunId
    red: tuple[str, ...]
    green: tuple[str, ...]


class Warned(EventBase, frozen=True, kw_only=True):
    """Something a person should know; nothing stops because of it."""

    message: str
    task_id: TaskId | None = None


# A session
class SessionStarted(EventBase, frozen=True, kw_only=True):
    session_id: SessionId
    task_id: TaskId
    title: str
    attempt: int
    agent: str
    log: str
    model: str = ""


class ModelOverridden(EventBase, frozen=True, kw_only=True):
    """The last session asked for another model than the strategy would choose, and gets it."""

    task_id: TaskId
    model: str
    planned: str
    strategy: str


class SessionEnded(SessionResultReported, frozen=True, kw_only=True):
    detail: str = ""
    swept: int = 0
    denied: tuple[str, ...] = ()
    """Tools that it was not permitted to use, one for each call."""


class ToolCalled(EventBase, frozen=True, kw_only=True):
    """A session has used one of Ralph's own tools."""

    task_id: TaskId
    session_id: SessionId
    tool: str
    error: str = ""
    """Why it was refused."""


class ToolJudged(EventBase, frozen=True, kw_only=True):
    """The policy had something to say about a tool that a session wanted to use."""

    task_id: TaskId
    session_id: SessionId
    tool: str
    decision: str
    """denied, rewritten or doubtful."""
    reason: str = ""
    command: str = ""
    """The shell text it was about, where there is one."""


class GateStarted(EventBase, frozen=True, kw_only=True):
    task_id: TaskId | None
    name: str


class GateEnded(EventBase, frozen=True, kw_only=True):
    task_id: TaskId | None
    name: str
    passed: bool
    code: int | None
    duration_s: float


class GatesWeighed(EventBase, frozen=True, kw_only=True):
    task_id: TaskId
    evidence: GateEvidence


class WorkCommitted(EventBase, frozen=True, kw_only=True):
    task_id: TaskId
    commit: str
    files: int


class WorkSaved(EventBase, frozen=True, kw_only=True):
    """Work that did not count, kept under a ref."""

    task_id: TaskId
    ref: str


class MemoryKept(EventBase, frozen=True, kw_only=True):
    """Later sessions may get it."""

    memory_id: int
    task_id: TaskId
    kind: MemoryKind
    title: str


class MemoryForgotten(EventBase, frozen=True, kw_only=True):
    memory_id: int
    task_id: TaskId
    title: str


# People
class GuidanceGiven(EventBase, frozen=True, kw_only=True):
    text: str
    task_id: TaskId | None = None


class GuidanceDelivered(EventBase, frozen=True, kw_only=True):
    """It is in the brief of this task's session."""

    task_id: TaskId
    attempt: int
    count: int


class ControlSent(EventBase, frozen=True, kw_only=True):
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
GraphEvent = (
    TaskAdded
    | TaskEdited
    | TaskDeleted
    | EdgeAdded
    | EdgeRemoved
    | FeatureAdded
    | FeatureChanged
    | FeatureDeleted
    | TaskLogged
)
WaitEvent = RunPaused | RunResumed | RunWaiting | BreakerOpened | BreakerTried | BreakerClosed
"""Events that make a run wait or go on."""
WorkEvent = (
    ToolCalled
    | ToolJudged
    | GateStarted
    | GateEnded
    | GatesWeighed
    | WorkCommitted
    | WorkSaved
    | MemoryKept
    | MemoryForgotten
)
Event = (
    GraphEvent
    | TaskMoved
    | WaitEvent
    | WorkEvent
    | TeamEvent
    | HandoffEvent
    | CheckEvent
    | RunStarted
    | RunEnded
    | AgentChosen
    | BaselineTaken
    | Warned
    | ModelOverridden
    | SessionStarted
    | SessionEnded
    | GuidanceGiven
    | GuidanceDelivered
    | ControlSent
)


class RecordedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event as stored in the journal: with its number, time and run."""

    seq: int
    time: str
    run_id: RunId | None
    event: Event


ENCODE: Final = msgspec.json.Encoder().encode
DECODE: Final = msgspec.json.Decoder(Event).decode


def event_json(recorded: RecordedEvent) -> bytes:
    """One JSON object: seq, time, event and what belongs to it."""
    body = msgspec.to_builtins(recorded.event)
    return ENCODE({"seq": recorded.seq, "time": recorded.time, "run_id": recorded.run_id} | body)
