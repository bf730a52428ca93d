"""Nothing survives a session: find what it left behind, also what left its group, and end it."""

import os
import signal
from collections.abc import Callable
from typing import Final

from ralph.adapters.executor.farewell import Notice, send_off
from ralph.adapters.executor.reaper import adopts, first_dead, has_children, reap
from ralph.adapters.executor.stopping import signal_group
from ralph.adapters.executor.table import (
    Nobody,
    Process,
    Table,
    ancestors,
    descendants,
    holds,
    this_table,
)

MARKER: Final = "RALPH_SESSION"
TRIES: Final = (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL)
ROUNDS: Final = 50
"""Something that starts itself anew all the time is not chased for ever."""
REAPED_AT_ONCE: Final = 1000


class Traces:
    """What tells a session's processes from those that this process started for other reasons."""

    def __init__(self, table: Table, env_marker: str | None, *, adopting: bool) -> None:
        self._table = table
        self._marker = os.fsencode(env_marker) if env_marker is not None else None
        # Nobody can enter a session of another; whoever is in one of these is not the child's.
        self.sessions = {os.getsid(0)}
        self._before: set[tuple[int, str]] = set()
        if adopting and has_children():
            for process in filter(None, map(table.look, table.children(os.getpid()))):
                self._before.add((process.pid, process.start))
                self.sessions.add(process.session)

    def is_strange(self, process: Process) -> bool:
        """Is this child of ours none of the session's?"""
        if (process.pid, process.start) in self._before or process.session in self.sessions:
            return True
        return self._marker is not None and self._is_like_us(process)

    def _is_like_us(self, process: Process) -> bool:
        # An environment without the marker proves nothing by itself: `service`, sudo and
        # setproctitle all lose it. One that has all that ours has comes from here.
        environ = self._table.environ(process.pid)
        if not environ or self._marker is None or holds(environ, self._marker):
            return False
        names = {entry.partition(b"=")[0] for entry in environ.split(b"\0")}
        return names >= {os.fsencode(name) for name in os.environ}

    def is_marked(self, process: Process) -> bool:
        """Does it carry the session's variable?"""
        return self._marker is not None and holds(self._table.environ(process.pid), self._marker)


class Sweeper:
    """Ends what is left."""

    def __init__(
        self, grace_s: float, table: Table | None = None, *, adopting: bool | None = None
    ) -> None:
        self._grace_s = grace_s
        self._table = this_table() if table is None else table
        self._adopting = adopts() if adopting is None else adopting

    def before(self, env_marker: str | None) -> Traces:
        """Take note of who is there, before the child is."""
        return Traces(self._table, env_marker, adopting=self._adopting)

    def reap_orphans(self, child: int, traces: Traces) -> None:
        """Bury orphans while the session goes on.

        Each `git commit` may leave a dead daemon to us; thousands would use up the machine's pids.
        """
        if not self._adopting:
            return
        for _ in range(REAPED_AT_ONCE):
            pid = first_dead()
            if pid is None or pid == child:
                return
            process = self._table.look(pid)
            if process is None or traces.is_strange(process) or not reap(pid):
                return

    def after(self, child: int, traces: Traces) -> int:
        """End everything that the child left; return how many."""
        if isinstance(self._table, Nobody):
            # Blind: its group is all that we can reach.
            signal_group(child, signal.SIGKILL)
        return self._end(lambda: self.left_by(child, traces))

    def left_by(self, child: int, traces: Traces) -> list[Process]:
        """Living processes of the child's session, wherever they went."""
        if not self._adopting:
            return self._by_group_and_marker(child, traces)
        orphans: list[Process] = []
        buried = True
        # One that died while we looked has left its own children to us: look again.
        while buried and has_children():
            orphans, buried = self._orphans(traces)
        return _living(descendants(self._table, orphans), also=orphans)

    def _orphans(self, traces: Traces) -> tuple[list[Process], bool]:
        found, buried = [], False
        for process in filter(None, map(self._table.look, self._table.children(os.getpid()))):
            if traces.is_strange(process):
                continue
            if process.zombie and reap(process.pid):
                buried = True
            else:
                found.append(process)
        return found, buried

    def _by_group_and_marker(self, child: int, traces: Traces) -> list[Process]:
        spared = ancestors(self._table)
        everyone = filter(None, map(self._table.look, self._table.pids()))
        roots = [
            process
            for process in everyone
            if process.pid not in spared
            and not process.zombie
            and (child in (process.group, process.session) or traces.is_marked(process))
        ]
        return _living(descendants(self._table, roots))

    def marked(self, marker: str) -> int:
        """End everything with this variable, and what it started; never us or those above us."""
        entry = os.fsencode(marker)
        spared = ancestors(self._table)

        def find() -> list[Process]:
            roots = [
                process
                for pid in self._table.pids()
                if pid not in spared
                and holds(self._table.environ(pid), entry)
                and (process := self._table.look(pid)) is not None
            ]
            return _living(descendants(self._table, roots))

        return self._end(find)

    def _end(self, find: Callable[[], list[Process]]) -> int:
        tried: dict[tuple[int, str], int] = {}
        dying: set[tuple[int, str]] = set()
        for _ in range(ROUNDS):
            notices: list[Notice] = []
            for process in find():
                key = (process.pid, process.start)
                if key not in tried and self._table.is_dying(process.pid):
                    dying.add(key)
                if (tries := tried.get(key, 0)) < len(TRIES):
                    notices.append((process, TRIES[tries]))
                    tried[key] = tries + 1
            if not notices:
                break
            send_off(self._table, notices, self._grace_s)
        # What ends with its parent was waited for, not left behind.
        return len(tried.keys() - dying)


def _living(processes: list[Process], also: list[Process] | None = None) -> list[Process]:
    # A dead process is its parent's to bury. A dead child of ours that cannot be buried still has
    # threads at work, so it counts.
    return [process for process in processes if not process.zombie or process in (also or ())]
