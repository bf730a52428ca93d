"""What every screen knows of a run: its events, folded into a few bounded facts."""

from collections import Counter, deque
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from ralph.core import check_events, events, handoff_events, team_events
from ralph.core.agent_events import AgentEvent
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.core.spent import Spent, one_session
from ralph.core.task import Status, Task
from ralph.ports.claims import Counts
from ralph.ports.history import Word
from ralph.ui.activity import Activity
from ralph.ui.names import Names
from ralph.ui.tally import Tally
from ralph.ui.team import Hand, Team
from ralph.ui.wording import first_line, moment

KEPT_TASKS: Final = 50
TITLE_WIDTH: Final = 300
VERIFICATION: Final = "verification"
REVIEW: Final = "review"
"""It stands with the gates, behind the last of them."""
SAME_S: Final = 10.0
LASTING: Final = frozenset({Word.PAUSE, Word.STOP, Word.STOP_NOW})
"""What was asked of the loop and takes its time."""


class GateState(StrEnum):
    """How far a gate has come with the work in hand."""

    PLANNED = "planned"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"


class Current(msgspec.Struct, kw_only=True):
    """The task in hand."""

    task_id: TaskId
    title: str = ""
    attempt: int = 0
    retry_count: int = 0
    since: float | None = None
    agent: str = ""
    log: str = ""
    is_judged: bool = False
    """Its session is over; now Ralph looks at the work."""


class Effort(msgspec.Struct, kw_only=True):
    """What a task has cost in this run, over all its attempts."""

    duration_s: float = 0.0
    spent: Spent = Spent()


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """A task that is done or failed. Without a duration it was settled by its children or a
    person."""

    task_id: TaskId
    name: str = ""
    """What people call it, if that is not its id."""
    title: str
    status: Status
    attempts: int
    duration_s: float | None = None
    spent: Spent = Spent()
    reason: str = ""


class Wait(NamedTuple):
    """A task that cannot start, and the names of those it waits for."""

    task: str
    title: str
    on: tuple[str, ...]
    is_blocked: bool = False
    """Somebody has said so: not even the others' end lets it start."""
    reason: str = ""
    """Why it is blocked."""
    cause: str = ""
    """The task at the end of the chain: what has to be looked at first."""
    remedy: str = ""
    """The command that helps the cause: `task retry`, `task unblock` or `run`."""


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """The loop waits: until a moment, or (None) until a person says so."""

    reason: str
    until: float | None = None
    since: float | None = None


Held = (
    events.RunPaused
    | events.RunWaiting
    | events.RunResumed
    | events.BreakerOpened
    | events.BreakerTried
    | events.BreakerClosed
)
"""What holds a run up, or lets it go on."""


class Board:
    """Folds a run's events. What the events do not say is asked from outside."""

    def __init__(
        self,
        *,
        counts: Counts | None = None,
        upcoming: Callable[[], list[str]] = list,
        waits: Callable[[], list[Wait]] = list,
        logs: str = ".ralph/runs",
        again: str = "ralph run",
    ) -> None:
        self.run: events.RunStarted | None = None
        self.started: float | None = None
        self.ended: events.RunEnded | None = None
        self.current: Current | None = None
        self.activity = Activity()
        self.team = Team()
        """Where several work, none of their tasks is the current one."""
        self.gates: dict[str, GateState] = {}
        self.was_red: frozenset[str] = frozenset()
        self.hold: Hold | None = None
        self.is_news = True
        """Not, when one more worker of a team is held up by the same."""
        self.asked = ""
        self.warned = 0
        self.finished: deque[Settled] = deque(maxlen=KEPT_TASKS)
        self.failed: deque[Settled] = deque(maxlen=KEPT_TASKS)
        self.spent = Spent()
        self.agent = ""
        """Who does the next session."""
        self.accounts: list[str] = []
        """Who pays, as far as it is known; more than one when agents took turns."""
        self.denied: Counter[str] = Counter()
        """Tool calls that were not permitted, by the tool's name."""
        self.waits = waits
        self.logs = logs
        self.again = again
        self.names = Names()
        self._tally = Tally(counts or Counts())
        self._efforts: dict[TaskId, Effort] = {}
        self._ask_upcoming = upcoming
        self._upcoming: list[str] | None = None

    @property
    def counts(self) -> Counts:
        """Tasks by status, within the target."""
        return self._tally.counts

    def upcoming(self) -> list[str]:
        """Titles of what comes next; asked anew only when the graph has changed."""
        if self._upcoming is None:
            self._upcoming = self._ask_upcoming()
        return self._upcoming

    def take(self, recorded: events.Recorded) -> None:
        """Fold one event in."""
        self._take(recorded.event, moment(recorded.time))
        self.team.take(recorded)

    def _take(self, event: events.Event, at: float | None) -> None:  # noqa: C901 - one table
        match event:
            case events.RunStarted():
                self.run, self.started, self.ended = event, at, None
                self._forget_gates()
                self._work_for(event.agent, event.account)
            case events.AgentChosen(agent=agent, account=account):
                self.hold = None
                self._work_for(agent, account)
            case (
                events.RunPaused()
                | events.RunWaiting()
                | events.RunResumed()
                | events.BreakerOpened()
                | events.BreakerTried()
                | events.BreakerClosed()
            ):
                before = self.hold
                self._held(event, at)
                self.is_news = not self.team.is_there or not _alike(before, self.hold)
            case events.RunEnded():
                self.ended, self.hold, self.current = event, None, None
            case events.BaselineTaken(red=red):
                self.was_red = frozenset(red)
                self._forget_gates()
            case events.Warned():
                self.warned += 1
            case (
                events.TaskClaimed()
                | events.TaskDone()
                | events.TaskRejected()
                | events.TaskStruck()
                | events.TaskReleased()
                | events.TaskConflicted()
                | events.TaskFailed()
                | events.TaskBlocked()
                | events.TaskUnblocked()
                | events.TaskReopened()
            ):
                self._tally.moved(event)
                self._upcoming = None
                self._move(event, at)
            case events.SessionStarted():
                self._session_started(event, at)
            case events.SessionEnded() | handoff_events.SessionHandedOver():
                self._session_ended(event)
            case check_events.VerificationStarted() | check_events.ReviewStarted():
                self._check_started(event, at)
            case check_events.VerificationEnded() | check_events.ReviewEnded():
                self._check_ended(event, at)
            case events.GateStarted(task_id=task_id, name=name):
                self._gate(task_id, name, GateState.RUNNING, at)
            case events.GateEnded(task_id=task_id, name=name, passed=passed):
                self._gate(task_id, name, _state(passed=passed), at)
            case events.TaskAdded(task=task):
                self._add(task)
            case events.TaskDeleted(task_id=task_id):
                self._tally.deleted(task_id)
                self._upcoming = None
            case events.TaskEdited() | events.EdgeAdded() | events.EdgeRemoved():
                self._upcoming = None
            case events.ControlSent(word=word):
                self.asked = word if word in LASTING else ""
            case (
                events.FeatureAdded()
                | events.FeatureChanged()
                | events.FeatureDeleted()
                | events.TaskLogged()
                | events.ModelOverridden()
                | events.GatesWeighed()
                | handoff_events.WrapUpAsked()
                | events.ToolCalled()
                | events.ToolJudged()
                | check_events.FindingDismissed()
                | events.WorkCommitted()
                | events.WorkSaved()
                | events.MemoryKept()
                | events.MemoryForgotten()
                | team_events.WorkerJoined()
                | team_events.WorkerLeft()
                | team_events.MergeQueued()
                | team_events.MergeBegun()
                | team_events.WorkMerged()
                | team_events.TeammateJudged()
                | events.GuidanceGiven()
                | events.GuidanceDelivered()
            ):
                pass

    def hear(self, task: TaskId, event: AgentEvent, now: float | None = None) -> None:
        """Fold in what the agent at work on a task says, if that is the task in hand."""
        if self.team.is_there:
            self.team.hear(task, event, now)
        elif self.current is None or self.current.task_id == task:
            self.activity.take(event, now)

    def _held(self, event: Held, at: float | None) -> None:
        match event:
            case events.RunPaused(reason=reason):
                self.hold, self.asked = Hold(reason=first_line(reason)), ""
            case events.RunWaiting(reason=reason, until=until):
                self.hold = Hold(reason=first_line(reason), until=moment(until), since=at)
            case events.BreakerOpened(seat=seat) if seat in self.team.seats:
                pass  # the others go on
            case events.BreakerOpened(reason=reason, until=str(until)):
                why = f"the breaker is open: {first_line(reason)}"
                self.hold = Hold(reason=why, until=moment(until), since=at)
            case events.RunResumed():
                self.hold, self.asked = None, ""
            case events.BreakerOpened() | events.BreakerTried() | events.BreakerClosed():
                self.hold = None

    def _add(self, task: Task) -> None:
        self.names.learn(task.id, task.alias)
        self._tally.added(task.id, task.status)
        self._upcoming = None

    def _move(self, event: events.TaskMoved, at: float | None) -> None:
        self.names.learn(event.task_id, event.alias)
        match event:
            case events.TaskClaimed():
                if self.run is None or event.worker == self.run.worker:
                    self._begin(event, at)
            case events.TaskDone() | events.TaskFailed():
                self._settle(event, at)
            case (
                events.TaskRejected()
                | events.TaskStruck()
                | events.TaskReleased()
                | events.TaskConflicted()
            ):
                self._put_down(event.task_id, at)
            case events.TaskBlocked() | events.TaskUnblocked() | events.TaskReopened():
                self._put_down(event.task_id, at)
                self._forget_failure(event.task_id)

    def _begin(self, event: events.TaskClaimed | events.SessionStarted, at: float | None) -> None:
        retries = event.retry_count if isinstance(event, events.TaskClaimed) else 0
        self.current = Current(
            task_id=event.task_id,
            title=one_line(event.title, TITLE_WIDTH),
            attempt=event.attempt,
            retry_count=retries,
            since=at,
        )
        self.hold = None
        self.activity.clear()
        self._forget_gates()

    def _work_for(self, agent: str, account: str) -> None:
        self.agent = one_line(agent, 40)
        self._paid_by(account)

    def _paid_by(self, account: str) -> None:
        account = one_line(account, 80)
        if account and account not in self.accounts:
            self.accounts.append(account)

    def _focus(self, task: TaskId | None, at: float | None) -> None:
        """After a crash an attempt goes on behind its last mark, without a claim of its own."""
        if task is None or self.team.is_there:
            return
        if self.current is None or self.current.task_id != task:
            self.current = Current(task_id=task, since=at, is_judged=True)
            self._forget_gates()

    def _gate(self, task: TaskId | None, name: str, state: GateState, at: float | None) -> None:
        self._focus(task, at)
        # Those of a team are told with each task in hand.
        if task is None or not self.team.is_there:
            self.gates[name] = state

    def _forget_gates(self) -> None:
        names = self.run.gates if self.run else ()
        self.gates = dict.fromkeys(names, GateState.PLANNED)

    def _session_started(self, event: events.SessionStarted, at: float | None) -> None:
        self.hold = None
        if self.team.is_there:
            return
        if self.current is None or self.current.task_id != event.task_id:
            self._begin(event, at)
        assert self.current is not None
        self.current.attempt, self.current.is_judged = event.attempt, False
        self.current.agent = one_line(event.agent, 60)
        self.activity.clear()
        self.activity.model, self.activity.heard = one_line(event.model, 60), at
        self.current.log = event.log

    def _pay(
        self,
        event: events.SessionEnded | handoff_events.SessionHandedOver | check_events.CheckEnded,
    ) -> None:
        spent = one_session(event.cost_usd, estimated=event.estimated)
        self.spent += spent
        self._effort(event.task_id).spent += spent

    def _session_ended(self, event: events.SessionEnded | handoff_events.SessionHandedOver) -> None:
        self._pay(event)
        if isinstance(event, handoff_events.SessionHandedOver):
            return  # the next one begins at once
        for name in (one_line(denied, 40) for denied in event.denied):
            if name in self.denied or len(self.denied) < KEPT_TASKS:
                self.denied[name] += 1
        if self.current and self.current.task_id == event.task_id:
            self.current.is_judged = True
            self.activity.end()

    def _check_started(self, event: check_events.CheckStarted, at: float | None) -> None:
        self._paid_by(event.account)
        self._gate(event.task_id, _look(event), GateState.RUNNING, at)
        if self.current and self.current.task_id == event.task_id:
            self.current.log = event.log
            self.activity.clear()
            self.activity.model, self.activity.heard = one_line(event.model, 60), at

    def _check_ended(self, event: check_events.CheckEnded, at: float | None) -> None:
        self._gate(event.task_id, _look(event), _state(passed=bool(event.passed)), at)
        self._pay(event)
        if self.current and self.current.task_id == event.task_id:
            self.activity.end()

    def _effort(self, task: TaskId) -> Effort:
        while len(self._efforts) > 1000:
            del self._efforts[next(iter(self._efforts))]
        return self._efforts.setdefault(task, Effort())

    def _put_down(self, task: TaskId, at: float | None) -> bool:
        """A task leaves our hands; False if it was not in them."""
        held: Hand | Current | None = self.team.hands.get(task)
        if held is None and self.current is not None and self.current.task_id == task:
            held, self.current = self.current, None
        if held is None:
            return False
        if at is not None and held.since is not None:
            self._effort(task).duration_s += max(0.0, at - held.since)
        return True

    def _settle(self, event: events.TaskDone | events.TaskFailed, at: float | None) -> None:
        is_ours = self._put_down(event.task_id, at)
        effort = self._efforts.pop(event.task_id, None)
        settled = Settled(
            task_id=event.task_id,
            name=event.alias or "",
            title=one_line(event.title, TITLE_WIDTH),
            status=event.status,
            attempts=event.attempt,
            duration_s=effort.duration_s if effort and is_ours else None,
            spent=effort.spent if effort else Spent(),
            reason=first_line(event.reason),
        )
        self._forget_failure(event.task_id)
        self.finished.append(settled)
        if isinstance(event, events.TaskFailed):
            self.failed.append(settled)

    def _forget_failure(self, task: TaskId) -> None:
        if any(failure.task_id == task for failure in self.failed):
            kept = (failure for failure in self.failed if failure.task_id != task)
            self.failed = deque(kept, maxlen=KEPT_TASKS)


def _state(*, passed: bool) -> GateState:
    return GateState.PASSED if passed else GateState.FAILED


def _look(event: check_events.CheckStarted | check_events.CheckEnded) -> str:
    is_review = isinstance(event, check_events.ReviewStarted | check_events.ReviewEnded)
    return REVIEW if is_review else VERIFICATION


def _alike(one: Hold | None, other: Hold | None) -> bool:
    """The same to whoever looks: each worker finds out for itself, at its own moment."""
    if one is None or other is None:
        return one is other
    apart = abs((one.until or 0.0) - (other.until or 0.0))
    return one.reason == other.reason and apart < SAME_S
