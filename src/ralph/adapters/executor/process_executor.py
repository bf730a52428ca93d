"""Start, watch and end all of Ralph's child processes."""

import contextlib
import functools
import math
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from ralph.adapters.executor import process_control
from ralph.adapters.executor.child_process import ChildPipes, ChildProcess, SessionLogFile
from ralph.adapters.executor.command_server import CommandServerProcess, ShortChild, ask_to_end
from ralph.adapters.executor.event_loop import TICK_S, EventLoop
from ralph.adapters.executor.process_table import (
    MARKER,
    LeftoverSweeper,
    SessionTraces,
    signal_group,
)
from ralph.adapters.executor.resource_usage import ResourceWatcher
from ralph.adapters.executor.side_processes import SideProcesses
from ralph.core.process_exit import ProcessExit
from ralph.ports.clock import Clock
from ralph.ports.executor import Command, CommandOutput, Interrupted, OutputListener, Tick, Timeouts

LAST_MOMENT_S = 3.0
"""What a short command has left when a signal comes, so that git can finish its commit."""
HURRY_S = 0.5
"""What each further one has, once the first had to be ended."""

TIMED_OUT: Final = 124
"""The code that timeout(1) has made known."""
OVER_LIMIT: Final = 125
END_WAIT_S: Final = 0.5
"""For git to remove its lock files, once it is asked to end."""
KILL_WAIT_S: Final = 2.0
LOOK_AGAIN_S: Final = 0.05
"""Where no file reports an end, and another process holds the output open."""

SHOWN_S: Final = 3.0
"""Shorter waits are not shown."""


def _print_wait(why: str, seconds: float) -> None:
    sys.stderr.write(f"ralph: {why}; waiting for up to {seconds:.0f} s\n")


class ProcessExecutor:
    """The executor: one single-threaded event loop.

    While a child runs, dead orphans are reaped: code that starts processes in this program by other
    means has to do so before, or loses their exit codes.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        stop_grace_s: float = 3.0,
        drain_s: float = 0.5,
        sweep_grace_s: float = 0.5,
    ) -> None:
        self._clock = clock
        self._stop_s = stop_grace_s
        self._drain_s = drain_s
        self._sweep_grace_s = sweep_grace_s
        self._current: tuple[int, SessionTraces] | None = None
        self._short: int | None = None
        """The short command that runs now."""
        self._recent: deque[int] = deque(maxlen=50)
        """The short commands that ran last."""
        self._interrupted_at = math.inf
        self._last_moment_s = LAST_MOMENT_S
        self._side_processes = SideProcesses()
        self.show_wait: Callable[[str, float], None] = _print_wait
        """Tells people why we wait, and for how long at most."""
        self.show_interrupt: Callable[[], object] = lambda: None
        """Tells people that a signal has come."""
        self._short_wake_fd = -1
        """Wakes the loop that waits for a short command."""

    # Made on first use: many commands only capture a little git.
    @functools.cached_property
    def _loop(self) -> EventLoop:
        return EventLoop()

    @functools.cached_property
    def _sweeper(self) -> LeftoverSweeper:
        return LeftoverSweeper(self._sweep_grace_s)

    def run(
        self,
        command: Command,
        *,
        log: str,
        timeouts: Timeouts,
        listener: OutputListener,
        line_limit: int = 64 * 1024,
    ) -> ProcessExit:
        began = self._clock.monotonic()
        traces = self._traces(command)
        file = SessionLogFile(log)
        try:
            child = process_control.start_child(command)
        except process_control.NotStarted as error:
            file.write(f"ralph: {error}\n".encode("utf-8", "replace"))
            file.close()
            return ProcessExit(error=str(error), duration_s=self._clock.monotonic() - began)
        self._current = (child.pid, traces)
        usage = ResourceWatcher(command.limits, child.pid, now=began, log=log)
        try:
            running = ChildProcess(
                child,
                loop=self._loop,
                clock=self._clock,
                log=file,
                listener=listener,
                timeouts=timeouts,
                stdin=command.stdin,
                line_limit=line_limit,
                stop_s=self._stop_s,
                drain_s=self._drain_s,
                chores=lambda: self._reap_others(child.pid, traces),
                usage=usage,
            )
            try:
                running.until_end()
                swept = self._sweeper.after(child.pid, traces)
                # Only now: those who held the pipes may have had something to say.
                running.drain()
            finally:
                running.pipes.close()
        except BaseException:
            # Whatever broke on our side, the child must not outlive it.
            process_control.kill(child, self._stop_s)
            self._sweeper.after(child.pid, traces)
            raise
        finally:
            self._current = None
            limit = usage.close()
            file.close()
        return running.exit(limit, leftovers_ended=swept)

    def _traces(self, command: Command) -> SessionTraces:
        value = command.env.get(MARKER)
        return self._sweeper.before(f"{MARKER}={value}" if value is not None else None)

    def _reap_others(self, child: int, traces: SessionTraces) -> None:
        # Ours first: a dead one in front would keep the others from being reaped.
        self._side_processes.reap_and_limit()
        self._sweeper.reap_orphans(child, traces)

    def capture(
        self, command: Command, *, timeout_s: float = 120.0, tick: Tick | None = None
    ) -> CommandOutput:
        child = self._start_short(command)
        self._is_ours(child.pid)
        return self._collect(child, command, timeout_s=timeout_s, tick=tick, is_brief=True)

    def start_server(self, command: Command) -> CommandServerProcess:
        server = CommandServerProcess(command, self._capture_from)
        self._is_ours(server.pid)
        return server

    def _capture_from(
        self, server: CommandServerProcess, command: Command, timeout_s: float, tick: Tick | None
    ) -> CommandOutput:
        child = server.start(command)
        self._short = server.pid
        self._recent.append(server.pid)
        got = self._collect(child, command, timeout_s=timeout_s, tick=tick, is_brief=True)
        return replace(got, stderr=got.stderr + server.complaint())

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        """A signal ends the wait: Interrupted."""
        if seconds > SHOWN_S:
            self.show_wait(why, seconds)
        self.sleep(seconds, lambda: is_over() or self._interrupted_at < math.inf)
        if self._interrupted_at < math.inf and not is_over():
            raise Interrupted

    def run_long(self, command: Command, *, timeout_s: float, tick: Tick) -> CommandOutput:
        traces = self._sweeper.before(None)
        child = self._start_short(command)
        try:
            return self._collect(child, command, timeout_s=timeout_s, tick=tick)
        finally:
            self._sweeper.after(child.pid, traces)

    def _start_short(self, command: Command) -> subprocess.Popen[bytes]:
        child = process_control.start_child(command)
        self._short = child.pid
        self._recent.append(child.pid)
        return child

    def _collect(
        self,
        child: ShortChild,
        command: Command,
        *,
        timeout_s: float,
        tick: Tick | None,
        is_brief: bool = False,
    ) -> CommandOutput:
        """Wait for a short command, which is in a session of its own, so that Ctrl-C does not end
        git in the middle of a commit. `tick` ends it early, and a signal a moment later:
        Interrupted."""
        began = now = time.monotonic()
        usage = ResourceWatcher(command.limits, child.pid, now=began, brief=is_brief)
        out: list[bytes] = []
        err: list[bytes] = []
        # A loop of its own: nothing else is served meanwhile.
        loop = EventLoop()
        self._short_wake_fd = loop.wake_fd
        if self._interrupted_at < math.inf:
            self.show_interrupt()
        pipes = ChildPipes(child, command.stdin, loop=loop, out=out.append, err=err.append)
        limit = ""
        try:
            # Not until the pipes are closed: a hook that leaves a daemon behind would hold us for
            # the daemon's life.
            while child.poll() is None and now < began + timeout_s and not limit:
                last_moment = max(began, self._interrupted_at) + self._last_moment_s
                if (tick is not None and tick()) or now >= last_moment:
                    self._last_moment_s = HURRY_S
                    raise Interrupted
                pause = TICK_S if pipes.reports_exit else LOOK_AGAIN_S
                if loop.run_once(min(pause, began + timeout_s - now)):
                    self.show_interrupt()
                now = time.monotonic()
                limit = usage.over(now)
            code = child.returncode
            pipes.drain()
        finally:
            _end(child, at_once=bool(limit))
            limit = usage.close() or limit
            pipes.close()
            self._short_wake_fd = -1
            loop.close()
            self._short = None
            if "_sweeper" in self.__dict__:  # only then orphans come to us
                self._sweeper.reap_orphans_of(self._recent)
        if limit:
            code, note = OVER_LIMIT, f"ralph: {limit}\n"
        elif code is None:
            code = TIMED_OUT
            note = f"{command.argv[0]} took more than {timeout_s:g} s and was ended\n"
        else:
            note = ""
        return CommandOutput(code=code, stdout=b"".join(out), stderr=b"".join(err) + note.encode())

    def interrupt(self) -> None:
        """A signal came: short commands have a moment left, then they raise Interrupted."""
        if self._short_wake_fd >= 0:
            os.write(self._short_wake_fd, b"!")
        self._interrupted_at = min(self._interrupted_at, time.monotonic())

    def hurry(self) -> None:
        """A second signal came: the current child is not waited for any more, and short commands
        have hardly a moment left."""
        self._interrupted_at, self._last_moment_s = time.monotonic(), HURRY_S
        self._kill_current()

    def clear_interrupt(self) -> None:
        """The signal was not meant for the run."""
        self._interrupted_at, self._last_moment_s = math.inf, LAST_MOMENT_S

    @property
    def grace_s(self) -> float:
        """How long a child may take to end, from the first signal on."""
        return self._stop_s * len(process_control.ORDER)

    def run_in_foreground(self, command: Command) -> int:
        """Run with a person's own input and output, to the end; return the exit code."""
        traces = self._traces(command)
        child = process_control.start_foreground(command, own_session=True)
        usage = ResourceWatcher(command.limits, child.pid, now=self._clock.monotonic())
        try:
            code = process_control.wait_for_foreground(child, usage.over)
        finally:
            process_control.kill(child, self._stop_s)
            usage.close()
            self._sweeper.after(child.pid, traces)
        # As a shell has it.
        return code if code >= 0 else 128 - code

    def run_interactive(self, command: Command) -> int:
        code = process_control.run_in_terminal(command)
        return code if code >= 0 else 128 - code

    def _is_ours(self, pid: int | None) -> None:
        if self._current is not None and pid is not None:
            # A daemon of ours, left by git during a session, is not the session's.
            self._current[1].sessions.add(pid)

    def watch(self, fd: int, ready: Callable[[], None], *, writing: bool = False) -> None:
        self._loop.add(fd, ready, writing=writing)

    def unwatch(self, fd: int) -> None:
        self._loop.remove(fd)

    def sleep(self, seconds: float, tick: Tick) -> None:
        now = self._clock.monotonic()
        until = now + seconds
        next_tick = now
        woken = False
        while True:
            if woken or now >= next_tick:
                if tick():
                    return
                next_tick = now + TICK_S
            if now >= until:
                return
            woken = self._loop.run_once(min(until, next_tick) - now)
            now = self._clock.monotonic()

    def end_marked(self, marker: str) -> int:
        return self._sweeper.marked(marker)

    def start_detached(self, argv: Sequence[str], *, cwd: str = "/", stdin: bytes = b"") -> None:
        self._is_ours(self._side_processes.start_notifier(argv, cwd, stdin))

    def start_lasting(self, argv: Sequence[str]) -> None:
        """Start a program of our own that lasts as long as we do."""
        self._is_ours(self._side_processes.start_lasting(argv))

    @property
    def wake_fd(self) -> int:
        """For signals: a byte written here wakes the loop."""
        return self._loop.wake_fd

    def kill_now(self) -> None:
        """End the current child and all that is its own, without asking or waiting."""
        if self._short is not None:
            signal_group(self._short, signal.SIGKILL)
        self._kill_current()

    def _kill_current(self) -> None:
        if self._current is None:
            return
        child, traces = self._current
        left = self._sweeper.left_by(child, traces)
        signal_group(child, signal.SIGKILL)
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Give the loop's files back. `Signals` must be closed before: it writes to one of them."""
        self._side_processes.close()
        loop = self.__dict__.pop("_loop", None)
        if loop is not None:
            loop.close()


def _end(child: ShortChild, *, at_once: bool) -> None:
    """Ask first, unless it must end at once: a git that is killed leaves its locks behind."""
    if not at_once and child.poll() is None:
        ask_to_end(child)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(END_WAIT_S)
    process_control.kill(child, KILL_WAIT_S)
