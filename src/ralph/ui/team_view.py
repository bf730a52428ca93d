"""What screens know about the work of a run: its tasks, and the workers of a team."""

from collections.abc import Mapping, Set
from enum import StrEnum
from typing import Final, TypeVar

import msgspec

from ralph.core import events, session_events
from ralph.core.agent_events import AgentEvent
from ralph.core.ids import TaskId, WorkerId
from ralph.core.run import RunOutcome
from ralph.core.safe_text import one_line
from ralph.documents.state_files import slot_order
from ralph.ui.agent_activity import Activity
from ralph.ui.formatting import first_line

TASKS_KEPT: Final = 1000
"""Tasks whose last worker is remembered."""
TITLE_WIDTH: Final = 300
SessionBegins = events.SessionStarted | session_events.CheckStarted
SessionEnds = events.SessionEnded | session_events.SessionHandedOver | session_events.CheckEnded


class TaskStage(StrEnum):
    CLAIMED = "begins"
    WORKING = "works"
    JUDGING = "is judged"
    GATE = "gate"
    CHECKING = "is verified"
    IN_REVIEW = "is reviewed"
    QUEUED = "waits to merge"
    MERGING = "merges"


STAGES: Final[Mapping[type, TaskStage]] = {
    events.SessionStarted: TaskStage.WORKING,
    events.SessionEnded: TaskStage.JUDGING,
    events.GateStarted: TaskStage.GATE,
    events.GateEnded: TaskStage.JUDGING,
    events.MergeQueued: TaskStage.QUEUED,
    events.MergeBegun: TaskStage.MERGING,
    session_events.VerificationStarted: TaskStage.CHECKING,
    session_events.VerificationEnded: TaskStage.JUDGING,
    session_events.ReviewStarted: TaskStage.IN_REVIEW,
    session_events.ReviewEnded: TaskStage.JUDGING,
}
"""The stage that begins with an event."""


class TaskProgress(msgspec.Struct, kw_only=True):
    """A task that a worker has claimed, and how far it has come."""

    task_id: TaskId
    worker: str = ""
    """The worker's name, if the run has several workers."""
    name: str = ""
    title: str = ""
    attempt: int = 0
    retry_count: int = 0
    since: float | None = None
    stage: TaskStage = TaskStage.CLAIMED
    stage_since: float | None = None
    gate: str = ""
    """The gate that runs."""
    agent: str = ""
    log: str = ""
    activity: Activity = msgspec.field(default_factory=Activity)

    @property
    def doing(self) -> str:
        """The stage in a few words. Empty while the agent works: its own actions say more."""
        match self.stage:
            case TaskStage.WORKING:
                return ""
            case TaskStage.GATE:
                return f"gate {self.gate}"
            case TaskStage.MERGING if self.gate:
                return f"{self.stage.value}, gate {self.gate}"
            case _:
                return self.stage.value

    @property
    def is_judged(self) -> bool:
        """Its session has ended; Ralph examines the work."""
        return self.stage not in (TaskStage.CLAIMED, TaskStage.WORKING)

    def add(self, event: events.Event, at: float | None) -> None:
        stage = STAGES.get(type(event))
        if stage is None:
            return
        if isinstance(event, events.SessionStarted):
            self.agent, self.attempt = one_line(event.agent, 60), event.attempt
        if isinstance(event, SessionBegins):
            self.log, self.activity = event.log, Activity(one_line(event.model, 60), at)
        elif isinstance(event, SessionEnds):
            self.activity.end()
        self.gate = one_line(event.name, 40) if isinstance(event, events.GateStarted) else ""
        # Gates that run during a merge are part of the merge.
        if self.stage is TaskStage.MERGING and stage in (TaskStage.GATE, TaskStage.JUDGING):
            return
        if stage is not self.stage:
            self.stage, self.stage_since = stage, at


Key = TypeVar("Key")
Value = TypeVar("Value")


class NewestDict(dict[Key, Value]):
    """A dict that keeps only the entries that were set last."""

    def __init__(self, most: int = TASKS_KEPT) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self._most:
            del self[next(iter(self))]


class WorkerRow(msgspec.Struct, kw_only=True):
    """A worker's results, and whether it is present."""

    name: str
    worker: WorkerId | None = None
    """None: the worker has left."""
    done: int = 0
    failed: int = 0
    """Attempts whose work was not accepted."""
    busy_s: float = 0.0
    left: str = ""
    """Why the worker has left."""
    breaker: str = ""
    """Why its breaker is open."""


class TeamView:
    """The tasks at work and the workers of a team. A run of one worker has no rows."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.workers: dict[str, WorkerRow] = {}
        self.tasks: dict[TaskId, TaskProgress] = {}
        self.newest: TaskProgress | None = None
        """The task that was begun last, whether it has ended or not."""
        self.merges = self.conflicts = self.deaths = 0
        self.branch = ""
        """The branch that the merges went to."""
        self._names: dict[WorkerId, str] = {}
        self._last_worker: NewestDict[TaskId, str] = NewestDict()

    @property
    def exists(self) -> bool:
        return bool(self.workers)

    @property
    def queue(self) -> list[TaskProgress]:
        """Tasks that wait to be merged, the longest wait first."""
        waiting = (task for task in self.tasks.values() if task.stage is TaskStage.QUEUED)
        return sorted(waiting, key=lambda task: task.stage_since or 0.0)

    @property
    def merging(self) -> TaskProgress | None:
        tasks = self.tasks.values()
        return next((task for task in tasks if task.stage is TaskStage.MERGING), None)

    def rows(self) -> list[tuple[WorkerRow, TaskProgress | None]]:
        """Every worker with its task, in a fixed order."""
        held = {task.worker: task for task in self.tasks.values()}
        names = sorted(self.workers, key=slot_order)
        return [(self.workers[name], held.get(name)) for name in names]

    def others_go_on(self, name: str) -> bool:
        """Is another worker there that works, or could?"""
        at_work = {task.worker for task in self.tasks.values()}
        others = (row for row in self.workers.values() if row.worker and row.name != name)
        return any(row.name in at_work or not row.breaker for row in others)

    def worker_of(self, task: TaskId) -> str:
        """The worker that has or had a task; empty if that is not known."""
        current = self.tasks.get(task)
        return current.worker if current else self._last_worker.get(task, "")

    def add_worker(self, worker: WorkerId, name: str) -> None:
        row = self.workers.setdefault(name, WorkerRow(name=name))
        row.worker, row.left = worker, ""
        self._names[worker] = name

    def keep_present(self, present: Set[WorkerId]) -> None:
        """Leave out the tasks of workers that are gone, whatever the events say."""
        for row in self.workers.values():
            if row.worker not in present:
                row.worker = None
        for task in [*self.tasks.values()]:
            holder = self.workers.get(task.worker)
            if self.exists and (holder is None or holder.worker is None):
                del self.tasks[task.task_id]

    def add_agent_event(self, task: TaskId, event: AgentEvent, now: float | None = None) -> None:
        if current := self.tasks.get(task):
            current.activity.add(event, now)

    def add(self, event: events.Event, at: float | None) -> None:
        match event:
            case events.RunStarted(worker=worker):
                self._reset()
                self._names[worker] = ""
            case events.RunEnded():
                self.tasks.clear()
            case events.WorkerJoined(worker=worker, slot=name):
                self.add_worker(worker, one_line(name, 40))
            case events.WorkerLeft():
                self._leave(event)
            case events.TaskClaimed(worker=worker):
                if worker in self._names or not self._names:
                    self._claim(event, at)
            case events.BreakerOpened(slot=name, reason=reason) if name in self.workers:
                self.workers[name].breaker = first_line(reason) or "open"
            case events.BreakerClosed(slot=name) if name in self.workers:
                self.workers[name].breaker = ""
            case _:
                self._add_to_task(event, at)

    def _claim(self, event: events.TaskClaimed, at: float | None) -> None:
        task = TaskProgress(
            task_id=event.task_id,
            worker=self._names.get(event.worker, ""),
            name=one_line(event.alias or event.task_id, 40),
            title=one_line(event.title, TITLE_WIDTH),
            attempt=event.attempt,
            retry_count=event.retry_count,
            since=at,
            stage_since=at,
        )
        self._begin(task)

    def _begin(self, task: TaskProgress) -> None:
        if not self.exists:
            self.tasks.clear()
        self.newest = task
        self.tasks[task.task_id] = task
        self._last_worker[task.task_id] = task.worker

    def _add_to_task(self, event: events.Event, at: float | None) -> None:
        task_id = getattr(event, "task_id", None) or TaskId("")
        task = self.tasks.get(task_id)
        begins = isinstance(event, SessionBegins | events.GateStarted)
        if task is None and task_id and begins and not self.exists:
            # After a crash an attempt goes on after its last checkpoint, without a claim event.
            title = one_line(getattr(event, "title", ""), TITLE_WIDTH)
            task = TaskProgress(task_id=task_id, title=title, since=at)
            self._begin(task)
        if task is not None:
            task.add(event, at)
            self._count(task, event, at)

    def _count(self, task: TaskProgress, event: events.Event, at: float | None) -> None:
        row = self.workers.get(task.worker, WorkerRow(name=""))
        match event:
            case events.WorkMerged(branch=branch):
                self.merges += 1
                self.branch = branch
            case events.TaskDone():
                row.done += 1
            case events.TaskRejected() | events.TaskStruck() | events.TaskFailed():
                row.failed += 1
            case events.TaskConflicted():
                self.conflicts += 1
            case _:
                pass
        if isinstance(event, events.TaskMoved | events.TaskDeleted):
            if at is not None and task.since is not None:
                row.busy_s += max(0.0, at - task.since)
            del self.tasks[task.task_id]

    def _leave(self, event: events.WorkerLeft) -> None:
        self.deaths += event.outcome is None
        row = self.workers.get(one_line(event.slot, 40))
        if row is None or row.worker != event.worker:
            return  # another worker has taken the name
        row.worker = None
        row.left = first_line(event.reason) or (event.outcome or RunOutcome.ERROR).value
