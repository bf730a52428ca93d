"""A short command of our own, such as git: started, read to its end, and that is all."""

import contextlib
import math
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ralph.adapters.executor.farewell import open_pidfd
from ralph.adapters.executor.starting import NotStarted, start
from ralph.adapters.executor.stopping import kill, signal_group
from ralph.adapters.executor.usage import Unlimited, Usage, watch_usage
from ralph.core.errors import Unavailable
from ralph.core.resources import Resources
from ralph.ports.executor import Captured, Interrupted

READ_BYTES: Final = 256 * 1024
TIMED_OUT: Final = 124
"""The code that timeout(1) has made known."""
OVER_LIMIT: Final = 125
END_WAIT_S: Final = 0.5
"""For git to remove its lock files, once it is asked to end."""
KILL_WAIT_S: Final = 2.0
TICK_S: Final = 0.4
LOOK_AGAIN_S: Final = 0.05
"""Where no file tells of an end, and output is held open by someone else."""


def capture(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str] | None,
    stdin: bytes,
    timeout_s: float,
    started: Callable[[int], None],
    limits: Resources,
    tick: Callable[[], bool] | None = None,
    patience: Callable[[float], float] = lambda _: math.inf,
) -> Captured:
    """Run it in a session of its own, so that Ctrl-C does not end git in the middle of a commit.
    What may take long is given a `tick`, which ends it. `patience` gets the moment at which it
    began and returns the moment at which the loop waits no longer: Interrupted."""
    try:
        child = start(argv, cwd=cwd, env=env, stdin=bool(stdin))
    except NotStarted as error:
        raise Unavailable(str(error)) from error
    started(child.pid)
    began = time.monotonic()
    usage = watch_usage(limits, child.pid, now=began, brief=tick is None)
    reading = _Reading(child, stdin, usage)

    def called_off() -> bool:
        return (tick is not None and tick()) or time.monotonic() >= patience(began)

    try:
        timed_out = not reading.until_end(began + timeout_s, called_off)
    finally:
        if reading.limit:
            kill(child, KILL_WAIT_S)
        _end(child)
        limit = usage.close()
        reading.close()
    stdout, stderr = (b"".join(parts) for parts in reading.parts)
    limit = reading.limit or limit
    if limit:
        note = f"ralph: {limit}\n".encode()
        return Captured(code=OVER_LIMIT, stdout=stdout, stderr=stderr + note)
    if not timed_out:
        return Captured(code=child.returncode, stdout=stdout, stderr=stderr)
    note = f"{argv[0]} took more than {timeout_s:g} s and was ended\n".encode()
    return Captured(code=TIMED_OUT, stdout=stdout, stderr=stderr + note)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ask first: a git that is killed leaves its locks behind."""
    if child.poll() is None:
        signal_group(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(END_WAIT_S)
    kill(child, KILL_WAIT_S)


class _Reading:
    """Reads both outputs until the command itself has ended.

    Not until they are closed: a hook that leaves a daemon behind would hold us for the daemon's
    life.
    """

    def __init__(
        self, child: subprocess.Popen[bytes], stdin: bytes, usage: Usage | Unlimited
    ) -> None:
        assert child.stdout is not None
        assert child.stderr is not None
        self._child = child
        self._usage = usage
        self.limit = ""
        """Which limit it was over."""
        self._prompt = memoryview(stdin)
        self._out, self._err = child.stdout.fileno(), child.stderr.fileno()
        self.parts: tuple[list[bytes], list[bytes]] = ([], [])
        self._open = {self._out, self._err}
        self._poll = select.poll()
        self._pidfd = open_pidfd(child.pid)
        for fd in self._open:
            os.set_blocking(fd, False)
            self._poll.register(fd, select.POLLIN)
        if self._pidfd is not None:
            self._poll.register(self._pidfd, select.POLLIN)
        if child.stdin is not None:
            os.set_blocking(child.stdin.fileno(), False)
            self._poll.register(child.stdin.fileno(), select.POLLOUT)

    def until_end(self, until: float, called_off: Callable[[], bool]) -> bool:
        """False if time ran out."""
        while (left := until - time.monotonic()) > 0:
            self.limit = self._usage.over(until - left)
            if self.limit:
                return True
            if called_off():
                raise Interrupted
            left = min(left, TICK_S if self._pidfd is not None else LOOK_AGAIN_S)
            for fd, _ in self._poll.poll(left * 1000):
                if fd in self._open:
                    self._read(fd)
                elif fd != self._pidfd:
                    self._write()
            if self._child.poll() is not None:
                for fd in list(self._open):
                    while self._read(fd):
                        pass
                return True
        return False

    def _read(self, fd: int) -> bool:
        try:
            chunk = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._open.remove(fd)
            self._poll.unregister(fd)
            return False
        self.parts[fd == self._err].append(chunk)
        return True

    def _write(self) -> None:
        pipe = self._child.stdin
        if pipe is None or pipe.closed:
            return
        try:
            written = os.write(pipe.fileno(), self._prompt)
            self._prompt = self._prompt[written:]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._prompt = self._prompt[:0]
        if not self._prompt:
            self._poll.unregister(pipe.fileno())
            pipe.close()

    def close(self) -> None:
        """Give the files back."""
        for pipe in (self._child.stdin, self._child.stdout, self._child.stderr):
            if pipe is not None:
                pipe.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
