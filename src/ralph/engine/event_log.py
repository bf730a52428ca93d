"""The events of a run: recorded in the store, shown on the screen and in the views."""

from ralph.core.events import Event, Warned
from ralph.core.ids import RunId, TaskId
from ralph.core.policy.decision import Phase
from ralph.engine.state_files import StateFiles
from ralph.ports.user_interface import EventSink
from ralph.store.store import Store


class EventLog:
    """Records events and shows all that are recorded, also by other processes."""

    def __init__(
        self, store: Store, sink: EventSink, views: StateFiles | None, run_id: RunId
    ) -> None:
        self.sink = sink
        self.views = views
        self._store = store
        self._run_id = run_id
        self._seen = store.events.last_seq()
        self._warned: set[str] = set()

    def publish(self) -> None:
        """Show what was recorded since the last call."""
        while recorded := self._store.events.select(after=self._seen, limit=1000):
            for one in recorded:
                # A screen would take how another run begins, waits and ends for ours.
                is_ours = getattr(one.event, "run_id", self._run_id) == self._run_id
                if self.views is not None:
                    self.views.event(one, is_ours=is_ours)
                if is_ours:
                    self.sink.event(one)
            self._seen = recorded[-1].seq

    def record(self, event: Event) -> None:
        """Write an event that changes no state, and show it."""
        self._store.events.record(event, self._run_id)
        self.publish()

    def warn(self, message: str, task: TaskId | None = None) -> None:
        self.record(Warned(message=message, task_id=task))

    def warn_once(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            self.warn(message)

    def write_state_files(self, phase: Phase, *, is_last: bool = False) -> None:
        if self.views is not None:
            self.views.write(phase.value, is_last=is_last)
            troubles, self.views.troubles = self.views.troubles, []
            for line in troubles if not self._store.db.is_full else ():
                self.warn_once(line)
