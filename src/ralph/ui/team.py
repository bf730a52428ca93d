"""Who of a team does what: events, folded into one row for each seat."""

from enum import StrEnum
from typing import Final

import msgspec

from ralph.core import check_events, events, team_events
from ralph.core.agent_events import AgentEvent
from ralph.core.ids import TaskId, WorkerId
from ralph.core.outcome import Outcome
from ralph.core.safe_text import one_line
from ralph.ui.activity import Activity
from ralph.ui.wording import first_line, moment

TITLE_WIDTH: Final = 300
REMEMBERED: Final = 1000
"""Tasks of which it is known who had them last."""


class Stage(StrEnum):
    """How far a task in hand has come."""

    CLAIMED = "begins"
    WORKING = "works"
    JUDGING = "is judged"
    GATE = "gate"
    CHECKING = "is verified"
    IN_REVIEW = "is reviewed"
    QUEUED = "waits to merge"
    MERGING = "merges"


class Hand(msgspec.Struct, kw_only=True):
    """A task in somebody's hands."""

    task_id: TaskId
    seat: str
    name: str = ""
    """What people call it."""
    title: str = ""
    attempt: int = 0
    retry_count: int = 0
    since: float | None = None
    stage: Stage = Stage.CLAIMED
    stage_since: float | None = None
    gate: str = ""
    """The one that runs."""
    agent: str = ""
    log: str = ""
    activity: Activity = msgspec.field(default_factory=Activity)

    def come_to(self, stage: Stage, at: float | None, gate: str = "") -> None:
        """One step further. Gates that run while it merges are part of that."""
        if self.stage is Stage.MERGING and stage in (Stage.GATE, Stage.JUDGING):
            self.gate = one_line(gate, 40)
            return
        if stage is not self.stage:
            self.stage_since = at
        self.stage, self.gate = stage, one_line(gate, 40)

    @property
    def doing(self) -> str:
        """In a few words; empty while its agent is at work, which says more by itself."""
        match self.stage:
            case Stage.WORKING:
                return ""
            case Stage.GATE:
                return f"gate {self.gate}"
            case Stage.MERGING if self.gate:
                return f"{self.stage.value}, gate {self.gate}"
            case _:
                return self.stage.value


class Seat(msgspec.Struct, kw_only=True):
    """A place in the team, whoever sits on it."""

    name: str
    worker: WorkerId | None = None
    """None: it is empty."""
    done: int = 0
    failed: int = 0
    """Work that did not count."""
    busy_s: float = 0.0
    left: str = ""
    """Why it is empty."""
    breaker: str = ""
    """Why its breaker is open."""


class Team:
    """Folds a run's events. A run of one worker has no team."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Nothing is known of the run yet."""
        self.seats: dict[str, Seat] = {}
        self.hands: dict[TaskId, Hand] = {}
        self.merges = 0
        self.branch = ""
        """Where the merges went."""
        self.conflicts = 0
        self.deaths = 0
        self._workers: dict[WorkerId, str] = {}
        self._last: dict[TaskId, str] = {}

    @property
    def is_there(self) -> bool:
        """Has anybody sat down?"""
        return bool(self.seats)

    @property
    def queue(self) -> list[Hand]:
        """Who waits for the right to merge, whoever waits longest first."""
        waiting = (hand for hand in self.hands.values() if hand.stage is Stage.QUEUED)
        return sorted(waiting, key=lambda hand: hand.stage_since or 0.0)

    @property
    def merging(self) -> Hand | None:
        """Who merges."""
        hands = self.hands.values()
        return next((hand for hand in hands if hand.stage is Stage.MERGING), None)

    def rows(self) -> list[tuple[Seat, Hand | None]]:
        """Every seat in its place, with what its worker has in hand."""
        held = {hand.seat: hand for hand in self.hands.values()}
        return [(seat, held.get(seat.name)) for seat in sorted(self.seats.values(), key=_place)]

    def who(self, task: TaskId) -> str:
        """Whose task it is, or was; empty where nobody knows."""
        hand = self.hands.get(task)
        return hand.seat if hand else self._last.get(task, "")

    def sit(self, worker: WorkerId, name: str) -> Seat:
        """Somebody is known to sit here."""
        seat = self.seats.setdefault(name, Seat(name=name))
        seat.worker, seat.left = worker, ""
        self._workers[worker] = name
        return seat

    def hold(self, hand: Hand) -> None:
        """Somebody is known to have this in hand."""
        self.hands[hand.task_id] = hand
        self._last.pop(hand.task_id, None)
        self._last[hand.task_id] = hand.seat
        if len(self._last) > REMEMBERED:
            del self._last[next(iter(self._last))]

    def seat_of(self, worker: WorkerId | None) -> str:
        """Where a worker sits, or sat; empty for those of other runs."""
        return self._workers.get(worker, "") if worker else ""

    def hear(self, task: TaskId, event: AgentEvent, now: float | None = None) -> None:
        """What the agent at work on a task says."""
        if hand := self.hands.get(task):
            hand.activity.take(event, now)

    def take(self, recorded: events.Recorded) -> None:
        """Fold one event in."""
        event, at = recorded.event, moment(recorded.time)
        match event:
            case events.RunStarted():
                self._begin()
            case team_events.WorkerJoined(worker=worker, seat=name):
                self.sit(worker, one_line(name, 40))
            case team_events.WorkerLeft():
                self._leave(event)
            case events.TaskClaimed(worker=worker) if name := self.seat_of(worker):
                self.hold(_claimed(event, name, at))
            case events.BreakerOpened(seat=name, reason=reason) if name in self.seats:
                self.seats[name].breaker = first_line(reason) or "open"
            case events.BreakerClosed(seat=name) if name in self.seats:
                self.seats[name].breaker = ""
            case _:
                if hand := self.hands.get(getattr(event, "task_id", None) or TaskId("")):
                    self._go_on(hand, event, at)

    def _go_on(self, hand: Hand, event: events.Event, at: float | None) -> None:  # noqa: C901 - one table
        match event:
            case events.SessionStarted(agent=agent, model=model, log=log):
                hand.come_to(Stage.WORKING, at)
                hand.agent, hand.log = one_line(agent, 60), log
                _listen(hand, model, at)
            case (
                check_events.VerificationStarted(model=model, log=log)
                | check_events.ReviewStarted(model=model, log=log)
            ):
                is_review = isinstance(event, check_events.ReviewStarted)
                hand.come_to(Stage.IN_REVIEW if is_review else Stage.CHECKING, at)
                hand.log = log
                _listen(hand, model, at)
            case (
                events.SessionEnded()
                | check_events.VerificationEnded()
                | check_events.ReviewEnded()
            ):
                hand.come_to(Stage.JUDGING, at)
                hand.activity.end()
            case events.GateStarted(name=name):
                hand.come_to(Stage.GATE, at, name)
            case events.GateEnded():
                hand.come_to(Stage.JUDGING, at)
            case team_events.MergeQueued():
                hand.come_to(Stage.QUEUED, at)
            case team_events.MergeBegun():
                hand.come_to(Stage.MERGING, at)
            case team_events.WorkMerged(branch=branch):
                self.merges += 1
                self.branch = branch
            case events.TaskDone():
                self.seats[hand.seat].done += 1
                self._put_down(hand, at)
            case events.TaskRejected() | events.TaskStruck() | events.TaskFailed():
                self.seats[hand.seat].failed += 1
                self._put_down(hand, at)
            case events.TaskConflicted():
                self.conflicts += 1
                self._put_down(hand, at)
            case (
                events.TaskReleased()
                | events.TaskBlocked()
                | events.TaskUnblocked()
                | events.TaskReopened()
                | events.TaskDeleted()
            ):
                self._put_down(hand, at)
            case _:
                pass

    def _put_down(self, hand: Hand, at: float | None) -> None:
        if at is not None and hand.since is not None:
            self.seats[hand.seat].busy_s += max(0.0, at - hand.since)
        self.hands.pop(hand.task_id, None)

    def _leave(self, event: team_events.WorkerLeft) -> None:
        self.deaths += event.outcome is None
        seat = self.seats.get(one_line(event.seat, 40))
        if seat is None or seat.worker != event.worker:
            return  # somebody else sits there by now
        seat.worker = None
        seat.left = first_line(event.reason) or (event.outcome or Outcome.ERROR).value


def _claimed(event: events.TaskClaimed, seat: str, at: float | None) -> Hand:
    return Hand(
        task_id=event.task_id,
        seat=seat,
        name=one_line(event.alias or event.task_id, 40),
        title=one_line(event.title, TITLE_WIDTH),
        attempt=event.attempt,
        retry_count=event.retry_count,
        since=at,
        stage_since=at,
    )


def _listen(hand: Hand, model: str, at: float | None) -> None:
    hand.activity.clear()
    hand.activity.model, hand.activity.heard = one_line(model, 60), at


def _place(seat: Seat) -> tuple[int, str]:
    """`teammate-2` before `teammate-10`."""
    number = seat.name.rpartition("-")[2]
    return (int(number) if number.isdecimal() and len(number) < 10 else 0, seat.name)
