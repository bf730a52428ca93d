"""One child process from start to end: pipes, log, timers, and how it is stopped."""

import contextlib
import math
import os
import signal
import subprocess
from collections.abc import Callable
from functools import partial
from io import FileIO
from typing import IO, Final

from ralph.adapters.executor import process_control
from ralph.adapters.executor.command_server import ShortChild, exit_file
from ralph.adapters.executor.event_loop import TICK_S, EventLoop
from ralph.adapters.executor.resource_usage import ResourceWatcher
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.ports.clock import Clock
from ralph.ports.executor import OutputListener, Timeouts


class LineBlocks:
    """Cuts a stream at its newlines, many lines at a time: no work is done for each line. A line
    longer than the limit comes in pieces."""

    def __init__(self, line_limit: int, deliver: Callable[[bytes], None]) -> None:
        self._limit = line_limit
        self._deliver = deliver
        # An unfinished line, in parts: joining at every chunk would copy a long line again and
        # again.
        self._held: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Deliver the lines that are whole now; hold the rest back."""
        if self._size + (chunk.find(b"\n") + 1 or len(chunk)) > self._limit:
            self.flush()
        end = chunk.rfind(b"\n") + 1
        if end:
            self._held.append(chunk[:end])
            self.flush()
        if end < len(chunk):
            self._held.append(chunk[end:])
            self._size += len(chunk) - end

    def flush(self) -> None:
        """Deliver what is held: at the end of a stream, a line without an end."""
        if self._held:
            block = b"".join(self._held)
            self._held.clear()
            self._size = 0
            self._deliver(block)


COPY_BYTES: Final = 1024 * 1024


class SessionLogFile:
    """A file that is only ever appended to, without a buffer: a crash of Ralph loses nothing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.trouble = ""
        """One line: the first thing that went wrong."""
        self._file = self._open()

    def write(self, data: bytes) -> None:
        """Append it. Failing is noted, not raised: the child is worth more than its log."""
        if self._file is None:
            return
        try:
            write_all(self._file.fileno(), data)
        except OSError as error:
            self._note(error)

    def recreate_if_removed(self) -> None:
        """Create the log again if it was removed.

        `git clean -fdx` takes ignored folders away, and agents are fond of it.
        """
        if self._file is None:
            self._file = self._open()
        elif os.fstat(self._file.fileno()).st_nlink == 0 and (new := self._open()) is not None:
            old, self._file = self._file, new
            try:
                with old:
                    old.seek(0)
                    while data := old.read(COPY_BYTES):
                        write_all(new.fileno(), data)
            except OSError as error:
                self._note(error)

    def close(self) -> None:
        if self._file is not None:
            self.recreate_if_removed()
            self._file.close()
            self._file = None

    def _open(self) -> FileIO | None:
        # Readable, so that a removed log can be copied. In its place an agent may have put a link
        # to a file of yours, or a pipe without a reader: neither is followed or waited for.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            with contextlib.suppress(FileExistsError):
                os.makedirs(os.path.dirname(self._path) or ".")
            return FileIO(os.open(self._path, flags, 0o666), "rb+")
        except OSError as error:
            self._note(error)
            return None

    def _note(self, error: OSError) -> None:
        self.trouble = self.trouble or f"log {self._path} is incomplete: {error.strerror}"


def write_all(fd: int, data: bytes) -> None:
    written = os.write(fd, data)
    while written < len(data):
        data = data[written:]
        written = os.write(fd, data)


READ_BYTES: Final = 1024 * 1024
STDERR_BYTES: Final = 16 * 1024
LEFTOVER_READS: Final = 64
"""More than a pipe can hold; less than a stranger who goes on writing could send."""


class ChildPipes:
    """Standard input, output and error of one child; its end wakes the loop as well."""

    def __init__(
        self,
        child: ShortChild,
        stdin: bytes,
        *,
        loop: EventLoop,
        out: Callable[[bytes], object],
        err: Callable[[bytes], object],
    ) -> None:
        assert child.stdout is not None
        assert child.stderr is not None
        self._loop = loop
        self._open: dict[int, IO[bytes]] = {}
        self._stdin = child.stdin
        self._prompt = memoryview(stdin)
        enlarge_pipe(child.stdout.fileno())
        self._takers = {child.stdout.fileno(): out, child.stderr.fileno(): err}
        for pipe in (child.stdout, child.stderr):
            os.set_blocking(pipe.fileno(), False)
            self._open[pipe.fileno()] = pipe
            loop.add(pipe.fileno(), partial(self._read, pipe.fileno()))
        if child.stdin is not None:
            os.set_blocking(child.stdin.fileno(), False)
            loop.add(child.stdin.fileno(), self._write, writing=True)
            self._write()  # most prompts fit into the pipe and need no turn of the loop
        self._exit_file = exit_file(child)
        self.reports_exit = self._exit_file is not None
        if self._exit_file is not None:
            loop.add(self._exit_file, self._close_exit_file)

    @property
    def is_open(self) -> bool:
        """Can output still come?"""
        return bool(self._open)

    def _read(self, fd: int) -> bool:
        """Take what is there; False if there is nothing more."""
        try:
            chunk = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._close_pipe(fd)
            return False
        self._takers[fd](chunk)
        return True

    def _close_pipe(self, fd: int) -> None:
        self._loop.remove(fd)
        self._open.pop(fd).close()

    def _write(self) -> None:
        if self._stdin is None:
            return
        try:
            written = os.write(self._stdin.fileno(), self._prompt)
            self._prompt = self._prompt[written:]
        except BlockingIOError:
            return
        except OSError:
            # It does not read its input, which is no error.
            self._prompt = self._prompt[:0]
        if not self._prompt:
            self.close_stdin()

    def close_stdin(self) -> None:
        if self._stdin is not None:
            self._loop.remove(self._stdin.fileno())
            self._stdin.close()
            self._stdin = None

    def _close_exit_file(self) -> None:
        if self._exit_file is not None:
            self._loop.remove(self._exit_file)
            os.close(self._exit_file)
            self._exit_file = None

    def drain(self) -> None:
        """Take what still lies in the pipes."""
        for fd in list(self._open):
            for _ in range(LEFTOVER_READS):
                if not self._read(fd):
                    break

    def close(self) -> None:
        self.close_stdin()
        self._close_exit_file()
        for fd in list(self._open):
            self._close_pipe(fd)


def enlarge_pipe(fd: int) -> None:
    """A pipe of a megabyte means fewer turns for a talkative child. Refusal is no harm."""
    import fcntl

    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, READ_BYTES)


class SessionTimers:
    """Three timeouts on monotonic time; 0 switches one off."""

    def __init__(self, timeouts: Timeouts, now: float) -> None:
        self._hard_at = now + timeouts.hard_s if timeouts.hard_s > 0 else math.inf
        self._idle_s = timeouts.idle_s if timeouts.idle_s > 0 else math.inf
        self._after_result_s = timeouts.after_result_s
        self.quiet_since = now
        self._result_at = math.inf

    def due(self, now: float, listener: OutputListener) -> EndingKind | None:
        """The timeout that has passed, if one has."""
        if self._after_result_s > 0 and listener.has_result:
            # The work is done and paid for: running out of the hard time now must not undo it.
            self._result_at = min(self._result_at, now)
            return EndingKind.FINISHED if now >= self._result_at + self._after_result_s else None
        if listener.is_busy:
            self.quiet_since = now
        if now >= self._hard_at:
            return EndingKind.TIMED_OUT
        return EndingKind.IDLE if now >= self.quiet_since + self._idle_s else None

    def next_at(self) -> float:
        if self._result_at < math.inf:
            return self._result_at + self._after_result_s
        return min(self._hard_at, self.quiet_since + self._idle_s)


class ChildProcess:
    def __init__(
        self,
        child: subprocess.Popen[bytes],
        *,
        loop: EventLoop,
        clock: Clock,
        log: SessionLogFile,
        listener: OutputListener,
        timeouts: Timeouts,
        stdin: bytes,
        line_limit: int,
        stop_s: float,
        drain_s: float,
        chores: Callable[[], None],
        usage: ResourceWatcher,
    ) -> None:
        """It has `stop_s` after each signal of an ordered stop; after its end others have `drain_s`
        to close its pipes."""
        self._child = child
        self._loop = loop
        self._clock = clock
        self._log = log
        self._chores = chores
        self._usage = usage
        self._limit = ""
        """The one for which we stopped it."""
        self._listener = listener
        self._stop_s = stop_s
        self._drain_s = drain_s
        self._stop: EndingKind | None = None
        """Why we stopped it, if we did."""
        self._began = now = clock.monotonic()
        self._timers = SessionTimers(timeouts, now)
        self._stopping: process_control.GradualStop | None = None
        self._next_tick = now
        self._drain_until: float | None = None
        """Set once the child has ended: who still holds its pipes has this long."""
        self._stderr = b""
        """The last of standard error."""
        self._blocks = LineBlocks(line_limit, listener.output)
        self.pipes = ChildPipes(
            child, stdin, loop=loop, out=self._take_output, err=self._take_errors
        )

    def _take_output(self, chunk: bytes) -> None:
        self._note_output(chunk)
        self._blocks.feed(chunk)

    def _note_output(self, chunk: bytes) -> None:
        self._timers.quiet_since = self._clock.monotonic()
        self._log.write(chunk)

    def _take_errors(self, chunk: bytes) -> None:
        self._note_output(chunk)
        self._stderr = (self._stderr + chunk)[-STDERR_BYTES:]

    def exit(self, limit: str, *, leftovers_ended: int) -> ProcessExit:
        """How it ended; `limit` is the one for which the kernel ended it."""
        limit, child = self._limit or limit, self._child
        unended = f"process {child.pid} could not be ended" if child.poll() is None else ""
        notes = filter(None, (limit, self._log.trouble, unended))
        return ProcessExit(
            code=-signal.SIGKILL if child.returncode is None else child.returncode,
            stop=EndingKind.OVER_LIMIT if limit else self._stop,
            duration_s=self._clock.monotonic() - self._began,
            stderr=self._stderr.decode("utf-8", "replace")
            + "".join(f"\nralph: {note}" for note in notes),
            leftovers_ended=leftovers_ended,
            limit=limit,
        )

    def drain(self) -> None:
        """Take what still lies in the pipes, and deliver the last line."""
        self.pipes.drain()
        self._blocks.flush()

    def until_end(self) -> None:
        """Serve it until it has ended and its pipes are empty."""
        now = self._clock.monotonic()
        woken = True
        while not self._is_over(now):
            if woken or now >= self._next_tick:
                self._tick(now)
            if self._drain_until is None:
                self._check_timeouts(now)
            woken = self._loop.run_once(max(0.0, self._next_at() - now))
            now = self._clock.monotonic()
            if self._drain_until is None and self._child.poll() is not None:
                self._drain_until = now + self._drain_s
                self.pipes.close_stdin()

    def _is_over(self, now: float) -> bool:
        if self._drain_until is not None:
            return not self.pipes.is_open or now >= self._drain_until
        return self._stopping is not None and self._stopping.given_up

    def _tick(self, now: float) -> None:
        self._next_tick = now + TICK_S
        self._log.recreate_if_removed()
        self._chores()
        self._begin_stop(self._listener.tick(), now)
        limit = self._usage.over(now)
        if limit and not self._limit and self._drain_until is None:
            # Without asking: what it does meanwhile harms others.
            self._stop, self._limit = EndingKind.OVER_LIMIT, limit
            self._log.write(f"\nralph: {limit}\n".encode())
            self._stopping = process_control.GradualStop(
                self._child.pid, self._stop_s, now, at_once=True
            )

    def _check_timeouts(self, now: float) -> None:
        if self._stopping is None:
            self._begin_stop(self._timers.due(now, self._listener), now)
        if self._stopping is not None:
            self._stopping.step(now)

    def _begin_stop(self, reason: EndingKind | None, now: float) -> None:
        # The first reason is the one that counts, and what has ended cannot be stopped.
        if reason is not None and self._stopping is None and self._drain_until is None:
            self._stop = reason
            self._stopping = process_control.GradualStop(self._child.pid, self._stop_s, now)

    def _next_at(self) -> float:
        if self._drain_until is not None:
            return min(self._next_tick, self._drain_until)
        stop = self._stopping
        return min(self._next_tick, stop.next_at if stop is not None else self._timers.next_at())
