"""A child's three pipes: the prompt in, its output to the log and the listener, never blocking."""

import contextlib
import os
import subprocess
from typing import IO, Final

from ralph.adapters.executor.blocks import Blocks
from ralph.adapters.executor.log import Log
from ralph.adapters.executor.loop import Loop

READ_BYTES: Final = 1024 * 1024
STDERR_BYTES: Final = 16 * 1024
LEFTOVER_READS: Final = 64
"""More than a pipe can hold; less than a stranger who goes on writing could send."""


class Pipes:
    """Standard input, output and error of one child."""

    def __init__(
        self, child: subprocess.Popen[bytes], stdin: bytes, *, loop: Loop, log: Log, blocks: Blocks
    ) -> None:
        self._loop = loop
        self._log = log
        self._blocks = blocks
        self._open: dict[int, IO[bytes]] = {}
        self._out = -1
        self._stdin: IO[bytes] | None = None
        self._prompt = memoryview(stdin)
        self._errors = b""
        self.heard = False
        """Output came since someone last cleared this."""
        if child.stdout is not None:
            self._out = child.stdout.fileno()
            widen(self._out)
            self._read_from(child.stdout)
        if child.stderr is not None:
            self._read_from(child.stderr)
        if child.stdin is not None:
            self._write_to(child.stdin)

    @property
    def talking(self) -> bool:
        """Can output still come?"""
        return bool(self._open)

    @property
    def stderr(self) -> str:
        """The last of standard error."""
        return self._errors.decode("utf-8", "replace")

    def _read_from(self, pipe: IO[bytes]) -> None:
        fd = pipe.fileno()
        os.set_blocking(fd, False)
        self._open[fd] = pipe
        self._loop.add_reader(fd, lambda: self._read(fd))

    def _read(self, fd: int) -> bool:
        """Take what is there; False if there is nothing more."""
        try:
            chunk = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._shut(fd)
            return False
        self.heard = True
        self._log.write(chunk)
        if fd == self._out:
            self._blocks.feed(chunk)
        else:
            self._errors = (self._errors + chunk)[-STDERR_BYTES:]
        return True

    def _shut(self, fd: int) -> None:
        self._loop.remove(fd)
        self._open.pop(fd).close()

    def _write_to(self, pipe: IO[bytes]) -> None:
        self._stdin = pipe
        os.set_blocking(pipe.fileno(), False)
        # Most prompts fit into the pipe and need no turn of the loop.
        self._write()
        if self._stdin is not None:
            self._loop.add_writer(pipe.fileno(), self._write)

    def _write(self) -> None:
        if self._stdin is None:
            return
        try:
            written = os.write(self._stdin.fileno(), self._prompt)
            self._prompt = self._prompt[written:]
        except BlockingIOError:
            return
        except OSError:
            # It does not care for its input: its right.
            self._prompt = self._prompt[:0]
        if not self._prompt:
            self.close_stdin()

    def close_stdin(self) -> None:
        """No more input."""
        if self._stdin is not None:
            self._loop.remove(self._stdin.fileno())
            self._stdin.close()
            self._stdin = None

    def drain(self) -> None:
        """Take what still lies in the pipes, and deliver the last line."""
        for fd in list(self._open):
            for _ in range(LEFTOVER_READS):
                if not self._read(fd):
                    break
        self._blocks.flush()

    def close(self) -> None:
        """Let go."""
        self.close_stdin()
        for fd in list(self._open):
            self._shut(fd)


def widen(fd: int) -> None:
    """A pipe of a megabyte means fewer turns for a talkative child. Refusal is no harm."""
    import fcntl

    number = getattr(fcntl, "F_SETPIPE_SZ", None)
    if number is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, number, READ_BYTES)
