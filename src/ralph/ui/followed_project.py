"""Follow a project from another process: its events, and what its sessions say while they work."""

import time
from collections.abc import Callable, Iterator

from ralph.core.agent_events import AgentEvent
from ralph.core.events import RunStarted
from ralph.core.ids import RunId, TaskId
from ralph.ui.project_view import LOOKED_AT, FeedPage, FollowedRun, Overview, ProjectView
from ralph.ui.run_view import RunView
from ralph.ui.session_stream import SessionTails


class FollowedProject:
    """The newest run as it is now, for views that stay open: `update` brings it up to date.

    One of these serves any number of clients; each keeps its own place in the feed.
    """

    def __init__(self, view: ProjectView, now: Callable[[], float] = time.time) -> None:
        self._view = view
        self._now = now
        self._begin()

    def _begin(self) -> None:
        view = self._view
        self._tails = SessionTails(view.root)
        self.seq = view.store.events.last_seq()
        run = next(iter((*view.live_runs(), *view.store.runs.newest(limit=1))), None)
        self.run: RunId | None = run.id if run else None
        self.run_view = view.replay(run.id, self.seq) if run else RunView()
        for task in self.run_view.team.tasks.values():
            self._tails.open(task.task_id, task.log)

    def update(self, limit: int = 500) -> FeedPage:
        """Take the events since the last time, a page of them, and what sessions have said."""
        page = self._view.feed(self.seq, limit)
        for item in page.items:
            event = item.event
            if isinstance(event, RunStarted) and self._may_switch():
                self.run, self.run_view = event.run_id, RunView()
                self._tails = SessionTails(self._view.root)
            if item.run_id in (None, self.run):
                self._add_output(self._tails.end(event))
                self.run_view.add(item.recorded)
                self._tails.begin(event)
        self.seq = page.seq
        self._add_output(self._tails.more())
        return page

    def overview(self, most_needs: int = 20) -> Overview:
        """The state of the project after the last update."""
        followed = FollowedRun(self.run, self.run_view) if self.run else None
        return self._view.overview(most_needs, followed)

    def refreshed(self) -> Overview:
        """The state of the project now."""
        if self._view.store.events.last_seq() - self.seq > LOOKED_AT:
            # A caller that comes back after a night is not kept waiting for all of it.
            self._begin()
        while not self.update().is_last:
            pass
        return self.overview()

    def _may_switch(self) -> bool:
        """A run in another checkout does not hide the one that is followed."""
        return all(run.id != self.run for run in self._view.live_runs())

    def _add_output(self, said: Iterator[tuple[TaskId, AgentEvent]]) -> None:
        for task, event in said:
            self.run_view.team.add_agent_event(task, event, self._now())
