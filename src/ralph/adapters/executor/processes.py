"""Everything that Ralph starts, it starts here; and nothing of it is left behind."""

import contextlib
import functools
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from ralph.adapters.executor.capture import capture
from ralph.adapters.executor.companions import Companions
from ralph.adapters.executor.conversation import Terminal, attend
from ralph.adapters.executor.farewell import has_pidfd
from ralph.adapters.executor.foreground import start_in_sight, wait_for
from ralph.adapters.executor.log import Log
from ralph.adapters.executor.loop import TICK_S, Loop
from ralph.adapters.executor.running import Patience, Running
from ralph.adapters.executor.starting import NotStarted, start
from ralph.adapters.executor.stopping import ORDER, kill, signal_group
from ralph.adapters.executor.sweep import MARKER, Sweeper, Traces
from ralph.adapters.executor.usage import watch_usage
from ralph.core.ending import Exit, Stop
from ralph.core.errors import Unavailable
from ralph.core.resources import Resources
from ralph.ports.clock import Clock
from ralph.ports.executor import Captured, Command, Interrupted, Listener, Timeouts

LAST_MOMENT_S = 3.0
"""What a short command has left when a signal comes, so that git can finish its commit."""
HURRY_S = 0.5
"""What each further one has, once the first had to be ended."""

SHOWN_S: Final = 3.0
"""Nobody wants to hear of shorter waits."""


def _print_wait(why: str, seconds: float) -> None:
    sys.stderr.write(f"ralph: {why}; waiting for up to {seconds:.0f} s\n")


NO_LIMITS: Final = Resources()


class Processes:
    """An `Executor`: one single-threaded loop over pipes, exits, timers and watched files.

    While a child runs, dead orphans are reaped: whoever starts processes in this program by other
    means should do so before, or ask for their exit codes elsewhere.
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
        self._patience = Patience(stop_s=stop_grace_s, drain_s=drain_s)
        self._sweep_grace_s = sweep_grace_s
        self._current: tuple[int, Traces] | None = None
        self._short: int | None = None
        """The short command that runs now."""
        self._interrupted_at = math.inf
        self._last_moment_s = LAST_MOMENT_S
        self._unkillable: list[subprocess.Popen[bytes]] = []
        self._companions = Companions()
        self.show_wait: Callable[[str, float], None] = _print_wait
        """Tells people why we wait, and for how long at most."""

    # Made on first use: many commands only capture a little git.
    @functools.cached_property
    def _loop(self) -> Loop:
        return Loop()

    @functools.cached_property
    def _sweeper(self) -> Sweeper:
        return Sweeper(self._sweep_grace_s)

    def run(
        self,
        command: Command,
        *,
        log: str,
        timeouts: Timeouts,
        listener: Listener,
        line_limit: int = 64 * 1024,
    ) -> Exit:
        """Run to the end, in a process group of its own, output appended to the file `log`."""
        began = self._clock.monotonic()
        value = command.env.get(MARKER)
        traces = self._sweeper.before(f"{MARKER}={value}" if value is not None else None)
        file = Log(log)
        try:
            child = start(command.argv, cwd=command.cwd, env=command.env, stdin=bool(command.stdin))
        except NotStarted as error:
            file.write(f"ralph: {error}\n".encode("utf-8", "replace"))
            file.close()
            return Exit(error=str(error), duration_s=self._clock.monotonic() - began)
        self._current = (child.pid, traces)
        usage = watch_usage(command.limits, child.pid, now=began, log=log)

        def chores() -> None:
            file.mend()
            # Ours first: a dead one in front would keep the others from being buried.
            self._companions.look_after()
            self._sweeper.reap_orphans(child.pid, traces)

        try:
            running = Running(
                child,
                loop=self._loop,
                clock=self._clock,
                log=file,
                listener=listener,
                timeouts=timeouts,
                stdin=command.stdin,
                line_limit=line_limit,
                patience=self._patience,
                chores=chores,
                over=usage.over,
            )
            swept = self._follow(running, child, traces)
        except BaseException:
            # Whatever broke on our side, the child must not outlive it.
            kill(child, self._patience.stop_s)
            self._sweeper.after(child.pid, traces)
            raise
        finally:
            self._current = None
            limit = usage.close()
            file.close()
        limit = running.limit or limit
        notes = filter(None, (limit, file.trouble, self._unkillable_note(child)))
        return Exit(
            code=-signal.SIGKILL if child.returncode is None else child.returncode,
            stop=Stop.OVER_LIMIT if limit else running.stop,
            duration_s=self._clock.monotonic() - began,
            stderr=running.pipes.stderr + "".join(f"\nralph: {note}" for note in notes),
            swept=swept,
            limit=limit,
        )

    def _follow(self, running: Running, child: subprocess.Popen[bytes], traces: Traces) -> int:
        try:
            with self._hearing_children():
                running.until_end()
            swept = self._sweeper.after(child.pid, traces)
            # Only now: those who held the pipes may have had something to say.
            running.pipes.drain()
            return swept
        finally:
            running.close()

    def _unkillable_note(self, child: subprocess.Popen[bytes]) -> str:
        if child.poll() is not None:
            return ""
        # Kept, so that it can still be reaped one day.
        self._unkillable.append(child)
        return f"process {child.pid} could not be ended"

    @contextlib.contextmanager
    def _hearing_children(self) -> Iterator[None]:
        """Where no file tells of a child's end, its signal wakes the loop."""
        try:
            old = None if has_pidfd() else signal.signal(signal.SIGCHLD, lambda *_: None)
        except ValueError:
            # Not the main thread: the tick will notice.
            old = None
        if old is None:
            yield
            return
        old_fd = signal.set_wakeup_fd(self._loop.wake_fd, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(old_fd)
            signal.signal(signal.SIGCHLD, old)

    def capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 120.0,
        limits: Resources = NO_LIMITS,
    ) -> Captured:
        """Run a short command of our own (git) and return what it printed."""
        return self._capture(
            argv, cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s, limits=limits
        )

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        """Let time pass before a short command is tried again; a longer wait is shown. A signal
        ends it: Interrupted."""
        if seconds > SHOWN_S:
            self.show_wait(why, seconds)
        self.sleep(seconds, lambda: is_over() or self._interrupted_at < math.inf)
        if self._interrupted_at < math.inf and not is_over():
            raise Interrupted

    def attend(self, command: Command, *, timeout_s: float, tick: Callable[[], bool]) -> Captured:
        """Run a command that may take long, until it ends or `tick` says so."""
        return self._capture(
            command.argv,
            cwd=command.cwd,
            env=command.env,
            stdin=command.stdin,
            timeout_s=timeout_s,
            limits=command.limits,
            tick=tick,
        )

    def _capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None,
        stdin: bytes,
        timeout_s: float,
        limits: Resources,
        tick: Callable[[], bool] | None = None,
    ) -> Captured:
        def started(pid: int) -> None:
            self._short = pid
            self._is_ours(pid)

        def patience(began: float) -> float:
            return max(began, self._interrupted_at) + self._last_moment_s

        try:
            return capture(
                argv,
                cwd=cwd,
                env=env,
                stdin=stdin,
                timeout_s=timeout_s,
                started=started,
                limits=limits,
                tick=tick,
                patience=patience,
            )
        except Interrupted:
            self._last_moment_s = HURRY_S
            raise
        finally:
            self._short = None

    def interrupt(self) -> None:
        """A signal came: short commands have a moment left, then they raise Interrupted."""
        self._interrupted_at = min(self._interrupted_at, time.monotonic())

    def forgive(self) -> None:
        """The signal was not meant for the run."""
        self._interrupted_at, self._last_moment_s = math.inf, LAST_MOMENT_S

    @property
    def grace_s(self) -> float:
        """How long a child may take to end, from the first signal on."""
        return self._patience.stop_s * len(ORDER)

    def hand_over(self, command: Command) -> int:
        """Run with a person's own input and output, to the end; return the exit code."""
        value = command.env.get(MARKER)
        traces = self._sweeper.before(f"{MARKER}={value}" if value is not None else None)
        try:
            child = start_in_sight(command)
        except NotStarted as error:
            raise Unavailable(str(error)) from error
        usage = watch_usage(command.limits, child.pid, now=self._clock.monotonic())
        try:
            code = wait_for(child, usage.over)
        finally:
            kill(child, self._patience.stop_s)
            usage.close()
            self._sweeper.after(child.pid, traces)
        # As a shell has it.
        return code if code >= 0 else 128 - code

    def converse(self, command: Command) -> int:
        """Hand the terminal over to a program, whole, until it ends."""
        terminal = Terminal(0)
        try:
            child = subprocess.Popen(
                command.argv,
                cwd=command.cwd,
                env=command.env,
                close_fds=True,
                # None: where we do not have the terminal ourselves, it stays with whoever has it.
                process_group=0 if terminal.is_ours else None,
            )
        except (OSError, ValueError) as error:
            raise Unavailable(f"{command.argv[0]} cannot be started: {error}") from error
        code = attend(child, terminal)
        return code if code >= 0 else 128 - code

    def _is_ours(self, pid: int | None) -> None:
        if self._current is not None and pid is not None:
            # A daemon of ours, left by git during a session, is not the session's.
            self._current[1].sessions.add(pid)

    def watch(self, fd: int, ready: Callable[[], None], *, writing: bool = False) -> None:
        """Call `ready` whenever `fd` can be read (or written), while anything runs or sleeps."""
        (self._loop.add_writer if writing else self._loop.add_reader)(fd, ready)

    def unwatch(self, fd: int) -> None:
        """Forget `fd`."""
        self._loop.remove(fd)

    def sleep(self, seconds: float, tick: Callable[[], bool]) -> None:
        """Wait, serving watched files; `tick` is called at least twice a second, True ends it."""
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
            woken = self._loop.turn(min(until, next_tick) - now)
            now = self._clock.monotonic()

    def sweep(self, marker: str) -> int:
        """End every process whose environment holds `marker` (`NAME=value`); return how many."""
        return self._sweeper.marked(marker)

    def send(self, argv: Sequence[str], *, cwd: str = "/", stdin: bytes = b"") -> None:
        """Start a program of our own and let it go."""
        self._is_ours(self._companions.send(argv, cwd, stdin))

    def keep(self, argv: Sequence[str]) -> None:
        """Start a program of our own that lasts as long as we do."""
        self._is_ours(self._companions.keep(argv))

    @property
    def wake_fd(self) -> int:
        """For signals: a byte written here wakes the loop."""
        return self._loop.wake_fd

    def kill_now(self) -> None:
        """End the current child and all that is its own, without asking or waiting."""
        if self._short is not None:
            signal_group(self._short, signal.SIGKILL)
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
        self._companions.close()
        loop = self.__dict__.pop("_loop", None)
        if loop is not None:
            loop.close()
