"""Guidance for sessions, and requests to runs."""

from enum import StrEnum

import msgspec

from ralph.core.events import ControlSent, GuidanceDelivered, GuidanceGiven
from ralph.core.ids import RunId, TaskId
from ralph.store.database import Part, transaction
from ralph.store.rows import value_of


class ControlWord(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    STOP_NOW = "stop-now"
    SKIP = "skip"
    HAND_OFF = "handoff"


class ControlRequest(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    word: ControlWord
    task_id: TaskId | None = None
    reason: str = ""


class Messages(Part):
    file = "messages"

    @transaction
    def add_guidance(self, text: str, task: TaskId | None) -> None:
        """Add guidance for a task, or for the task that is next."""
        if task is not None:
            self.task(task)
        self.db.execute(self.sql.inject, {"task": task, "text": text, "now": self.db.now()})
        self.emit(GuidanceGiven(text=text, task_id=task))

    @transaction
    def guidance(self, task: TaskId, attempt: int) -> list[str]:
        """The guidance for a task. All its attempts get it, since a session may be cut short or
        its work be rejected. An event records the first delivery."""
        new = self.db.rows(self.sql.deliver, {"task": task, "now": self.db.now()})
        if new:
            self.emit(GuidanceDelivered(task_id=task, attempt=attempt, count=len(new)))
        return self.peek_guidance(task)

    def peek_guidance(self, task: TaskId) -> list[str]:
        """The guidance for a task, without recording a delivery."""
        return [row[0] for row in self.db.rows(self.sql.guidance, {"task": task})]

    @transaction
    def send_control(
        self, run: RunId, word: ControlWord, task: TaskId | None = None, reason: str = ""
    ) -> None:
        self._send(run, word, task, reason)
        self.emit(ControlSent(word=word.value, task_id=task, reason=reason), run)

    @transaction
    def forward_control(self, control: ControlRequest, to: RunId) -> None:
        """Pass a request on to another run, without an event."""
        self._send(to, control.word, control.task_id, control.reason)

    def _send(self, run: RunId, word: ControlWord, task: TaskId | None, reason: str) -> None:
        values = {"run": run, "word": word.value, "task": task, "reason": reason}
        self.db.execute(self.sql.send, values | {"now": self.db.now()})

    def is_stop_requested(self, run: RunId) -> bool:
        return bool(self.db.value(self.sql.is_to_stop, {"run": run}))

    def take_controls(self, run: RunId) -> list[ControlRequest]:
        """The requests since the last call; each is returned once."""
        waiting = self.db.value(self.sql.any_controls, {"run": run})
        return self._take_controls(run) if waiting else []

    @transaction
    def _take_controls(self, run: RunId) -> list[ControlRequest]:
        taken = self.db.rows(self.sql.take_controls, {"run": run, "now": self.db.now()})
        return [value_of(ControlRequest, row) for row in sorted(taken)]
