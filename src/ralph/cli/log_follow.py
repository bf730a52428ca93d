"""Follow the events of a run and the output of its session."""

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from ralph.cli.session_output import Paint, SessionOutput
from ralph.core import events
from ralph.core.ids import RunId, TaskId
from ralph.core.task import OPEN
from ralph.ui.plain_screen import PlainScreen
from ralph.ui.project_view import ProjectView
from ralph.ui.run_view import RunView
from ralph.ui.team_view import SessionBegins, SessionEnds
from ralph.wiring.processes import system_clock

INTERVAL_S: Final = 0.3
"""Prompt enough for the eye, next to nothing for the machine."""


class LogFollower:
    """Follows a run to its end, a task until it is settled, or everything without end."""

    def __init__(
        self,
        view: ProjectView,
        *,
        task: TaskId | None = None,
        run: RunId | None = None,
        raw: bool = False,
        paint: Paint = lambda text, _: text,
        wait: Callable[[], None] = lambda: time.sleep(INTERVAL_S),
    ) -> None:
        self._view = view
        self._store = view.store
        self._root = view.root
        self._task = task
        self._run = run
        self._raw = raw
        self._paint = paint
        self._wait = wait
        self._run_view = RunView()
        self._outputs: dict[TaskId, SessionOutput] = {}
        """Of sessions at work; a team has several."""

    def follow(self, after: int) -> int:
        """Show what comes after an event."""
        for run in self._view.live_runs():
            if self._run in (None, run.id):
                self._run_view = self._view.replay(run.id, after)
                for task in self._run_view.team.tasks.values():
                    if task.log and self._task in (None, task.task_id):
                        self._open(task.task_id, task.log, from_end=True)
        screen = PlainScreen(sys.stdout, system_clock(), self._run_view)
        is_over = False
        while True:
            seen = after
            for recorded in self._store.events.select(after=after, limit=500):
                after = recorded.seq
                if self._is_wanted(recorded):
                    # What the session said before it ended comes before the event of its end.
                    self._print_outputs(recorded.event)
                    screen.event(recorded)
                    self._follow_session(recorded.event)
                    if self._is_last(recorded.event):
                        return 0
            self._print_outputs()
            sys.stdout.flush()
            if after > seen:
                continue
            if is_over:
                return 0
            # A run that was killed records no end. What it wrote last may have come between the
            # two looks, so there is one more.
            is_over = self._is_gone()
            if not is_over:
                self._wait()

    def _is_gone(self) -> bool:
        if self._task is not None:
            return self._store.tasks.find(self._task).status not in OPEN
        return self._run is not None and all(run.id != self._run for run in self._view.live_runs())

    def _is_wanted(self, recorded: events.RecordedEvent) -> bool:
        if self._task is not None:
            return getattr(recorded.event, "task_id", None) == self._task
        return self._run is None or recorded.run_id == self._run

    def _is_last(self, event: events.Event) -> bool:
        match event:
            case events.RunEnded(run_id=run):
                return run == self._run
            case events.TaskDone() | events.TaskFailed() | events.TaskDeleted():
                return self._task is not None
            case _:
                return False

    def _follow_session(self, event: events.Event) -> None:
        if isinstance(event, SessionBegins):
            if not self._run_view.team.exists:
                self._outputs.clear()
            self._open(event.task_id, event.log)
        elif isinstance(event, SessionEnds):
            self._outputs.pop(event.task_id, None)

    def _open(self, task: TaskId, log: str, *, from_end: bool = False) -> None:
        slot = self._run_view.team.worker_of(task)
        who = f"{slot} {self._run_view.name_of(task)} | " if slot else ""
        path = os.path.join(self._root, log)
        self._outputs[task] = SessionOutput(
            path, self._paint, raw=self._raw, from_end=from_end, who=who
        )

    def _print_outputs(self, event: events.Event | None = None) -> None:
        """Print new output; for a session that has ended, all of it."""
        ended = event.task_id if isinstance(event, SessionEnds) else None
        for task, output in self._outputs.items():
            output.print_new(is_over=task == ended)
