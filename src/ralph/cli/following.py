"""Going on with what happens: the journal's events and the words of the session at work."""

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from ralph.cli.hearing import Hearing, Paint
from ralph.cli.living import living_runs
from ralph.core import events, handoff_events
from ralph.core.ids import RunId, TaskId
from ralph.core.task import OPEN
from ralph.ports.store import Store

INTERVAL_S: Final = 0.3
"""Prompt enough for the eye, next to nothing for the machine."""

ENDINGS: Final = (events.SessionEnded, handoff_events.SessionHandedOver, events.VerificationEnded)


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
        from ralph.ui.plain import Plain

        self.store = store
        self.root = root
        self.task = task
        self.run = run
        self.raw = raw
        self.wait = wait
        self.screen = Plain(sys.stdout, SystemClock())
        self.paint = paint
        self.hearing: Hearing | None = None

    def follow(self, after: int, log: str = "") -> int:
        """Show what comes after an event; `log` is the log of a session at work."""
        if log:
            self._open(log, from_end=True)
        is_over = False
        while True:
            seen = after
            for recorded in self.store.events(after=after, limit=500):
                after = recorded.seq
                if self._is_wanted(recorded):
                    # What the session said before it ended comes before the word of its end.
                    self._drain(is_over=isinstance(recorded.event, ENDINGS))
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
            case events.SessionStarted(log=log) | events.VerificationStarted(log=log):
                self._open(log)
            case (
                events.SessionEnded()
                | handoff_events.SessionHandedOver()
                | events.VerificationEnded()
            ):
                self.hearing = None
            case _:
                pass

    def _open(self, log: str, *, from_end: bool = False) -> None:
        path = os.path.join(self.root, log)
        self.hearing = Hearing(path, self.paint, raw=self.raw, from_end=from_end)

    def _drain(self, *, is_over: bool = False) -> None:
        if self.hearing is not None:
            self.hearing.drain(is_over=is_over)
