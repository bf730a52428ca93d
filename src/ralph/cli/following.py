"""Going on with what happens: the journal's events and the words of the session at work."""

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from ralph.cli.hearing import Hearing, Paint
from ralph.cli.living import living_runs
from ralph.cli.times import moment
from ralph.core import check_events, events, handoff_events
from ralph.core.ids import RunId, TaskId
from ralph.core.task import OPEN, Status
from ralph.ports.store import Filter, Store

INTERVAL_S: Final = 0.3
"""Prompt enough for the eye, next to nothing for the machine."""

MOST: Final = 200
"""Sessions at work at the same time."""
ENDINGS: Final = (
    events.SessionEnded,
    handoff_events.SessionHandedOver,
    check_events.VerificationEnded,
    check_events.ReviewEnded,
)


class Follower:
    """Follows a run to its end, a task until it is settled, everything for ever."""

    def __init__(
        self,
        store: Store,
        root: str,
        *,
        task: TaskId | None = None,
        run: RunId | None = None,
        raw: bool = False,
        paint: Paint = lambda text, _: text,
        wait: Callable[[], None] = lambda: time.sleep(INTERVAL_S),
    ) -> None:
        from ralph.adapters.executor.clock import SystemClock
        from ralph.ui.board import Board
        from ralph.ui.plain import Plain

        self.store = store
        self.root = root
        self.task = task
        self.run = run
        self.raw = raw
        self.wait = wait
        self.board = Board()
        self.screen = Plain(sys.stdout, SystemClock(), self.board)
        self.paint = paint
        self.hearings: dict[TaskId | None, Hearing] = {}
        """Sessions at work, by their task; of a team there are several."""

    def follow(self, after: int, log: str = "") -> int:
        """Show what comes after an event; `log` is the log of a session at work."""
        if not self._join_team() and log:
            self._open(self.task, log, from_end=True)
        is_over = False
        while True:
            seen = after
            for recorded in self.store.events(after=after, limit=500):
                after = recorded.seq
                if self._is_wanted(recorded):
                    # What the session said before it ended comes before the word of its end.
                    self._drain(recorded.event)
                    self.screen.event(recorded)
                    self._turn(recorded.event)
                    if self._is_last(recorded.event):
                        return 0
            self._drain()
            sys.stdout.flush()
            if after > seen:
                continue
            if is_over:
                return 0
            # A run that was killed never says that it has ended. What it wrote last may have
            # come between the two looks, so there is one more.
            is_over = self._is_gone()
            if not is_over:
                self.wait()

    def _is_gone(self) -> bool:
        if self.task is not None:
            return self.store.find(self.task).status not in OPEN
        return self.run is not None and all(run.id != self.run for run in living_runs(self.store))

    def _is_wanted(self, recorded: events.Recorded) -> bool:
        if self.task is not None:
            return getattr(recorded.event, "task_id", None) == self.task
        return self.run is None or recorded.run_id == self.run

    def _is_last(self, event: events.Event) -> bool:
        match event:
            case events.RunEnded(run_id=run):
                return run == self.run
            case events.TaskDone() | events.TaskFailed() | events.TaskDeleted():
                return self.task is not None
            case _:
                return False

    def _turn(self, event: events.Event) -> None:
        match event:
            case (
                events.SessionStarted(task_id=task, log=log)
                | check_events.VerificationStarted(task_id=task, log=log)
                | check_events.ReviewStarted(task_id=task, log=log)
            ):
                if not self.board.team.is_there:
                    self.hearings.clear()
                self._open(task, log)
            case (
                events.SessionEnded(task_id=task)
                | handoff_events.SessionHandedOver(task_id=task)
                | check_events.VerificationEnded(task_id=task)
                | check_events.ReviewEnded(task_id=task)
            ):
                self.hearings.pop(self._heard_as(task), None)
            case _:
                pass

    def _join_team(self) -> bool:
        """Learn who sits where, and listen to all of them; False: no team is at work."""
        from ralph.ui.team import Hand

        team = self.board.team
        for run in living_runs(self.store):
            if self.run in (None, run.id):
                for member in self.store.crew(run.id):
                    if member.seat:
                        team.sit(member.worker, member.seat)
        if not team.is_there:
            return False
        for task in self.store.tasks(Filter(statuses=frozenset({Status.IN_PROGRESS}), limit=MOST)):
            seat = team.seat_of(task.claimed_by)
            session = self.store.session(task.id, task.attempt) if seat else None
            if session is not None and self.task in (None, task.id):
                since = moment(session.started_at)
                team.hold(Hand(task_id=task.id, seat=seat, attempt=task.attempt, since=since))
                self.board.names.learn(task.id, task.alias)
                self._open(task.id, session.log, from_end=True)
        return True

    def _heard_as(self, task: TaskId) -> TaskId | None:
        """Whoever was at work before we looked has no name, unless it is one of a team."""
        return task if task in self.hearings else None

    def _open(self, task: TaskId | None, log: str, *, from_end: bool = False) -> None:
        path = os.path.join(self.root, log)
        seat = self.board.team.who(task) if task is not None else ""
        who = f"{seat} {self.board.names.of(task)} | " if seat and task is not None else ""
        self.hearings[task] = Hearing(path, self.paint, raw=self.raw, from_end=from_end, who=who)

    def _drain(self, event: events.Event | None = None) -> None:
        """Show what was said; all of it, of a session that has ended."""
        ended = self._heard_as(event.task_id) if isinstance(event, ENDINGS) else ""
        for task, hearing in self.hearings.items():
            hearing.drain(is_over=task == ended)
