"""The state of a run that screens show, derived from its events.

All screens read it: `RunView` for the run, `TeamView` for its tasks and workers.
"""

from collections import Counter, deque
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from ralph.core import events, session_events
from ralph.core.cost import CostSummary, session_cost
from ralph.core.ids import TaskId
from ralph.core.run import WaitKind
from ralph.core.safe_text import one_line
from ralph.core.task import TaskStatus
from ralph.store.claims import Counts
from ralph.store.messages import ControlWord
from ralph.ui.agent_activity import Activity
from ralph.ui.formatting import first_line, parse_time
from ralph.ui.team_view import TITLE_WIDTH, NewestDict, SessionEnds, TaskProgress, TeamView

KEPT_TASKS: Final = 50
VERIFICATION: Final = "verification"
SAME_S: Final = 10.0
LASTING: Final = frozenset({ControlWord.PAUSE, ControlWord.STOP, ControlWord.STOP_NOW})
"""Requests that take the loop some time."""


class GateState(StrEnum):
    PLANNED = "planned"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"


class SettledTask(msgspec.Struct, frozen=True, kw_only=True):
    task_id: TaskId
    name: str = ""
    """Its alias, if it has one."""
    title: str
    status: TaskStatus
    attempt: int
    duration_s: float | None = None
    spent: CostSummary = CostSummary()
    reason: str = ""


class WaitingTask(NamedTuple):
    """A task that cannot start, and what it waits for."""

    task: str
    title: str
    on: tuple[str, ...]
    is_blocked: bool = False
    """Blocked by a person or a session: it does not start when the others end either."""
    reason: str = ""
    """Why it is blocked."""
    cause: str = ""
    """The task at the end of the chain: the one to examine first."""
    remedy: str = ""
    """The command that helps the cause: `task retry`, `task unblock` or `run`."""


class RunWait(msgspec.Struct, frozen=True, kw_only=True):
    """Why the run waits, and until when (None: until the user resumes it)."""

    reason: str
    kind: WaitKind = WaitKind.OTHER
    until: float | None = None
    since: float | None = None


class RunView:
    def __init__(
        self,
        *,
        counts: Callable[[], Counts] = Counts,
        upcoming: Callable[[], list[str]] = list,
        interrupted: Callable[[], str | None] = lambda: None,
        waits: Callable[[], list[WaitingTask]] = list,
        logs: str = ".ralph/runs",
        again: str = "ralph run",
        is_step: bool = False,
    ) -> None:
        self.run: events.RunStarted | None = None
        self.started: float | None = None
        self.team = TeamView()
        self.gates: dict[str, GateState] = {}
        self.was_red: frozenset[str] = frozenset()
        self.wait: RunWait | None = None
        self.is_news = True
        """False when one more worker of a team waits for the same reason."""
        self.asked = ""
        self.warned = 0
        self.finished: deque[SettledTask] = deque(maxlen=KEPT_TASKS)
        self.failed: deque[SettledTask] = deque(maxlen=KEPT_TASKS)
        self.spent = CostSummary()
        self.agent = ""
        """The agent of the next session."""
        self.accounts: list[str] = []
        """Accounts that pay, as far as they are known; several if agents took turns."""
        self.denied: Counter[str] = Counter()
        """Tool calls that were not permitted, by the tool's name."""
        self.waits = waits
        self.logs = logs
        self.again = again
        self.is_step = is_step
        self.aliases: NewestDict[TaskId, str] = NewestDict()
        self._durations: NewestDict[TaskId, float] = NewestDict()
        self._costs: NewestDict[TaskId, CostSummary] = NewestDict()
        self.interrupted = interrupted
        self._ask_counts = counts
        self._ask_upcoming = upcoming
        # Asked again only when the graph has changed.
        self._counts: Counts | None = None
        self._upcoming: list[str] | None = None

    @property
    def current(self) -> TaskProgress | None:
        """The task of a run with one worker."""
        return None if self.team.exists else next(iter(self.team.tasks.values()), None)

    @property
    def state(self) -> str:
        """What a run that is alive does, in a word or two."""
        match self.asked:
            case ControlWord.PAUSE:
                return "pausing"
            case ControlWord.STOP | ControlWord.STOP_NOW:
                return "stopping"
            case _:
                return self.wait.kind.value if self.wait is not None else "working"

    @property
    def activity(self) -> Activity:
        """What the agent of a run with one worker does, or did last."""
        return self.team.newest.activity if self.team.newest else Activity()

    @property
    def counts(self) -> Counts:
        if self._counts is None:
            self._counts = self._ask_counts()
        return self._counts

    def upcoming(self) -> list[str]:
        """Titles of the next tasks."""
        if self._upcoming is None:
            self._upcoming = self._ask_upcoming()
        return self._upcoming

    def name_of(self, task: str) -> str:
        """The task's name on screens: a story's own id, such as `US-001`, if it has one."""
        return one_line(self.aliases.get(TaskId(task), task), 40)

    def add(self, recorded: events.RecordedEvent) -> None:
        event, at = recorded.event, parse_time(recorded.time)
        held = self.team.tasks.get(getattr(event, "task_id", None) or TaskId(""))
        begun = self.team.newest
        self.team.add(event, at)
        if self.team.newest is not begun:
            self.wait = None
            self._plan_gates()
        if isinstance(event, events.GraphEvent | events.TaskMoved):
            self._counts = self._upcoming = None
        if isinstance(event, SessionEnds):
            spent = session_cost(event.cost_usd, estimated=event.estimated)
            self.spent += spent
            self._costs[event.task_id] = self._costs.get(event.task_id, CostSummary()) + spent
        if isinstance(event, events.TaskMoved):
            self._move(event, at, held)
        elif isinstance(event, events.WaitEvent):
            before = self.wait
            self._wait(event, at)
            self.is_news = not self.team.exists or not _alike(before, self.wait)
        else:
            self._add(event, at)

    def _add(self, event: events.Event, at: float | None) -> None:  # noqa: C901 - one table
        match event:
            case events.RunStarted():
                self.run, self.started = event, at
                self._plan_gates()
                self._work_for(event)
            case events.RunEnded() | events.SessionStarted():
                self.wait = None
            case events.AgentChosen():
                self.wait = None
                self._work_for(event)
            case events.BaselineTaken(red=red):
                self.was_red = frozenset(red)
                self._plan_gates()
            case events.Warned():
                self.warned += 1
            case events.SessionEnded(denied=denied):
                for name in (one_line(tool, 40) for tool in denied):
                    if name in self.denied or len(self.denied) < KEPT_TASKS:
                        self.denied[name] += 1
            case session_events.VerificationStarted() | session_events.ReviewStarted():
                self._paid_by(event.account)
                self._gate(event.task_id, check_name(event))
            case session_events.VerificationEnded() | session_events.ReviewEnded():
                self._gate(event.task_id, check_name(event), passed=bool(event.passed))
            case events.GateStarted(name=name):
                self._gate(event.task_id, name)
            case events.GateEnded(name=name, passed=passed):
                self._gate(event.task_id, name, passed=passed)
            case events.TaskAdded(task=task) if task.alias:
                self.aliases[task.id] = task.alias
            case events.ControlSent(word=word):
                self.asked = word if word in LASTING else ""
            case _:
                pass

    def _wait(self, event: events.WaitEvent, at: float | None) -> None:
        match event:
            case events.RunPaused(reason=reason, kind=kind):
                self.wait, self.asked = RunWait(reason=first_line(reason), kind=kind), ""
            case events.RunWaiting(reason=reason, until=until, kind=kind):
                self.wait = RunWait(
                    reason=first_line(reason), kind=kind, until=parse_time(until), since=at
                )
            case events.BreakerOpened(slot=worker) if self.team.others_go_on(worker):
                pass
            case events.BreakerOpened(reason=reason, until=str(until)):
                why = f"the breaker is open: {first_line(reason)}"
                self.wait = RunWait(reason=why, until=parse_time(until), since=at)
            case events.RunResumed():
                self.wait, self.asked = None, ""
            case events.BreakerOpened() | events.BreakerTried() | events.BreakerClosed():
                self.wait = None

    def _move(self, event: events.TaskMoved, at: float | None, held: TaskProgress | None) -> None:
        """`held`: the task, if a worker of this run had it."""
        task = event.task_id
        if event.alias:
            self.aliases[task] = event.alias
        if isinstance(event, events.TaskClaimed):
            return
        self.failed = deque((one for one in self.failed if one.task_id != task), KEPT_TASKS)
        if held is not None and held.since is not None and at is not None:
            self._durations[task] = self._durations.get(task, 0.0) + max(0.0, at - held.since)
        if isinstance(event, events.TaskDone | events.TaskFailed):
            took = self._durations.pop(task, None)
            settled = SettledTask(
                task_id=task,
                name=event.alias or "",
                title=one_line(event.title, TITLE_WIDTH),
                status=event.status,
                attempt=event.attempt,
                duration_s=took if held else None,
                spent=self._costs.pop(task, CostSummary()),
                reason=first_line(event.reason),
            )
            self.finished.append(settled)
            if isinstance(event, events.TaskFailed):
                self.failed.append(settled)

    def _work_for(self, event: events.RunStarted | events.AgentChosen) -> None:
        self.agent = one_line(event.agent, 40)
        self._paid_by(event.account)

    def _paid_by(self, account: str) -> None:
        account = one_line(account, 80)
        if account and account not in self.accounts:
            self.accounts.append(account)

    def _gate(self, task: TaskId | None, name: str, *, passed: bool | None = None) -> None:
        """`passed`: None while it runs."""
        if task is None or not self.team.exists:  # else the worker's row shows it
            states = {None: GateState.RUNNING, True: GateState.PASSED, False: GateState.FAILED}
            self.gates[name] = states[passed]

    def _plan_gates(self) -> None:
        names = self.run.gates if self.run else ()
        self.gates = dict.fromkeys(names, GateState.PLANNED)


def check_name(event: session_events.CheckStarted | session_events.CheckEnded) -> str:
    """A check is shown with the gates, after the last of them."""
    is_review = isinstance(event, session_events.ReviewStarted | session_events.ReviewEnded)
    return "review" if is_review else VERIFICATION


def _alike(one: RunWait | None, other: RunWait | None) -> bool:
    """Each worker of a team notices the same wait for itself, at slightly different times."""
    if one is None or other is None:
        return one is other
    apart = abs((one.until or 0.0) - (other.until or 0.0))
    return one.reason == other.reason and apart < SAME_S
