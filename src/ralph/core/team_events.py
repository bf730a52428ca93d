"""What happens only where several workers build one branch."""

from ralph.core.happening import Happening
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.outcome import Outcome


class WorkerJoined(Happening, frozen=True, kw_only=True):
    """A worker of a team sits down."""

    run_id: RunId
    worker: WorkerId
    seat: str


class WorkerLeft(Happening, frozen=True, kw_only=True):
    """And leaves: there is nothing left to do, or it cannot go on."""

    run_id: RunId
    worker: WorkerId
    seat: str
    outcome: Outcome | None
    """None: its process has died."""
    reason: str = ""


class MergeQueued(Happening, frozen=True, kw_only=True):
    """Accepted work waits until somebody else's is merged."""

    task_id: TaskId


class MergeBegun(Happening, frozen=True, kw_only=True):
    """It is its turn: nobody else moves the branch meanwhile."""

    task_id: TaskId


class WorkMerged(Happening, frozen=True, kw_only=True):
    """Accepted work has become part of the branch that a team builds."""

    task_id: TaskId
    branch: str
    commit: str
    """The branch's tip since then."""


class TeammateJudged(Happening, frozen=True, kw_only=True):
    """A teammate that somebody else leads says that a task is done, and the gates have run."""

    seat: str
    passed: bool
    subject: str = ""
    """What its team calls the task."""
    task_id: TaskId | None = None
    """The task of the graph that this is, if it is one."""
    reason: str = ""
    """Which gate fails."""


TeamEvent = WorkerJoined | WorkerLeft | MergeQueued | MergeBegun | WorkMerged | TeammateJudged
