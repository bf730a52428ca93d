"""One child from its start to its end: pipes, timers, and the order in which it is stopped."""

import os
import subprocess
from collections.abc import Callable
from typing import NamedTuple

from ralph.adapters.executor.blocks import Blocks
from ralph.adapters.executor.farewell import open_pidfd
from ralph.adapters.executor.log import Log
from ralph.adapters.executor.loop import TICK_S, Loop
from ralph.adapters.executor.pipes import Pipes
from ralph.adapters.executor.stopping import Stopping
from ralph.adapters.executor.timers import Timers
from ralph.core.ending import Stop
from ralph.ports.clock import Clock
from ralph.ports.executor import Listener, Timeouts


class Patience(NamedTuple):
    """How long we wait for what should happen by itself."""

    stop_s: float
    """After each signal of the ordered stop."""
    drain_s: float
    """After the child's end, for others to close its pipes."""


class Running:
    """A child that runs, with everything that waits for it."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        *,
        loop: Loop,
        clock: Clock,
        log: Log,
        listener: Listener,
        timeouts: Timeouts,
        stdin: bytes,
        line_limit: int,
        patience: Patience,
        chores: Callable[[], None],
        over: Callable[[float], str],
    ) -> None:
        self._child = child
        self._loop = loop
        self._clock = clock
        self._log = log
        self._chores = chores
        self._over = over
        """Which limit it is over, in words."""
        self.limit = ""
        """The one for which we stopped it."""
        self._listener = listener
        self._patience = patience
        self.stop: Stop | None = None
        """Why we stopped it, if we did."""
        now = clock.monotonic()
        self._timers = Timers(timeouts, now)
        self._stopping: Stopping | None = None
        self._next_tick = now
        self._drain_until: float | None = None
        """Set once the child has ended: who still holds its pipes has this long."""
        self.pipes = Pipes(
            child, stdin, loop=loop, log=log, blocks=Blocks(line_limit, listener.output)
        )
        self._pidfd = open_pidfd(child.pid)
        if self._pidfd is not None:
            loop.add_reader(self._pidfd, self._look_for_end)

    def until_end(self) -> None:
        """Serve it until it has ended and its pipes are empty."""
        now = self._clock.monotonic()
        woken = True
        while not self._is_over(now):
            if woken or now >= self._next_tick:
                self._tick(now)
            self._mind_time(now)
            woken = self._loop.turn(max(0.0, self._next_at() - now))
            now = self._clock.monotonic()
            if self.pipes.heard:
                self.pipes.heard = False
                self._timers.heard(now)
            if self._pidfd is None:
                self._look_for_end()

    def _is_over(self, now: float) -> bool:
        if self._drain_until is not None:
            return not self.pipes.talking or now >= self._drain_until
        return self._stopping is not None and self._stopping.given_up

    def _look_for_end(self) -> None:
        if self._drain_until is None and self._child.poll() is not None:
            self._drain_until = self._clock.monotonic() + self._patience.drain_s
            self.pipes.close_stdin()
            self._close_pidfd()

    def _tick(self, now: float) -> None:
        self._next_tick = now + TICK_S
        self._chores()
        asked = self._listener.tick()
        if asked is not None:
            self._begin_stop(asked, now)
        if limit := self._over(now):
            self._end_now(limit, now)

    def _mind_time(self, now: float) -> None:
        if self._drain_until is not None:
            return
        if self._stopping is None:
            due = self._timers.due(now, self._listener)
            if due is not None:
                self._begin_stop(due, now)
        if self._stopping is not None:
            self._stopping.step(now)

    def _begin_stop(self, reason: Stop, now: float) -> None:
        # The first reason is the one that counts, and what has ended cannot be stopped.
        if self._stopping is None and self._drain_until is None:
            self.stop = reason
            self._stopping = Stopping(self._child.pid, self._patience.stop_s, now)

    def _end_now(self, limit: str, now: float) -> None:
        """Without asking: what it does meanwhile harms others."""
        if not self.limit and self._drain_until is None:
            self.stop, self.limit = Stop.OVER_LIMIT, limit
            self._log.write(f"\nralph: {limit}\n".encode())
            self._stopping = Stopping(self._child.pid, self._patience.stop_s, now, at_once=True)

    def _next_at(self) -> float:
        if self._drain_until is not None:
            return min(self._next_tick, self._drain_until)
        if self._stopping is not None:
            return min(self._next_tick, self._stopping.next_at)
        return min(self._next_tick, self._timers.next_at())

    def close(self) -> None:
        """Let go of its pipes."""
        self.pipes.close()
        self._close_pidfd()

    def _close_pidfd(self) -> None:
        if self._pidfd is not None:
            self._loop.remove(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
