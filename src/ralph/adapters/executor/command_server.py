"""A process in a sandbox that runs short commands for us, one after the other.

The other end of its socket is `adapters/sandbox/command_server.py`, which says what goes over it.
"""

import contextlib
import os
import select
import signal
import socket
import subprocess
from collections.abc import Callable
from typing import IO, Final

from ralph.adapters.executor import process_control
from ralph.adapters.executor.process_table import signal_group
from ralph.ports.executor import Command, CommandOutput, Tick

RUN, END, CLEAN = b"R", b"E", b"+"
WORD: Final = 4
SEND_S: Final = 10.0
"""It waits for a request, so it takes one at once."""
CLOSE_S: Final = 2.0
STDERR_BYTES: Final = 16 * 1024
DIED: Final = -signal.SIGKILL


class CommandServerProcess:
    def __init__(self, command: Command, run: "Run") -> None:
        """`run` starts a command here, and waits for its end."""
        self._run = run
        ours, theirs = socket.socketpair()
        with theirs:
            self._child = process_control.start_server(command, theirs.fileno())
        self.socket = ours
        self._is_idle = True

    @property
    def is_idle(self) -> bool:
        return self._is_idle and self._child.poll() is None

    @property
    def pid(self) -> int:
        return self._child.pid

    def capture(
        self, command: Command, *, timeout_s: float = 120.0, tick: Tick | None = None
    ) -> CommandOutput:
        return self._run(self, command, timeout_s, tick)

    def start(self, command: Command) -> "ServedCommand":
        """Start a command; it is looked for on the PATH of its environment."""
        words = [command.cwd, str(len(command.argv)), *command.argv]
        words += [f"{name}={value}" for name, value in command.env.items()]
        payload = b"\0".join(map(os.fsencode, words))
        self._is_idle = False
        served = ServedCommand(self, has_input=bool(command.stdin))
        try:
            # A server that has died is seen at the first look at its answer.
            self.socket.settimeout(SEND_S)
            with contextlib.suppress(OSError):
                socket.send_fds(self.socket, [RUN], served.their_files)
                self.socket.sendall(len(payload).to_bytes(WORD, "big") + payload)
        finally:
            self.socket.settimeout(0)
            served.close_their_files()
        return served

    def ended(self, answer: bytes) -> int:
        """The exit code in an answer; an empty one is the end of the server."""
        self._is_idle = answer[WORD:] == CLEAN
        return int.from_bytes(answer[:WORD], "big", signed=True) if answer else self._end()

    def _end(self) -> int:
        with contextlib.suppress(subprocess.TimeoutExpired):
            # Not as if a command had succeeded.
            return self._child.wait(CLOSE_S) or DIED
        return DIED

    def complaint(self) -> bytes:
        """What it said before it ended: why there is no sandbox."""
        assert self._child.stderr is not None
        if self._child.poll() is None:
            return b""
        with contextlib.suppress(OSError):
            os.set_blocking(self._child.stderr.fileno(), False)
            return os.read(self._child.stderr.fileno(), STDERR_BYTES)
        return b""

    def close(self) -> None:
        """It ends with its socket."""
        self.socket.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(CLOSE_S)
        process_control.kill(self._child, CLOSE_S)
        if self._child.stderr is not None:
            self._child.stderr.close()


Run = Callable[[CommandServerProcess, Command, float, Tick | None], CommandOutput]


class ServedCommand:
    """A command of a server, seen like a child of our own."""

    def __init__(self, server: CommandServerProcess, *, has_input: bool) -> None:
        self._server = server
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = None
        if has_input:
            reads, self.stdin = _pipe_to()
        else:
            reads = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self.stdout, out = _pipe_from()
        self.stderr, err = _pipe_from()
        self.their_files = (reads, out, err)

    @property
    def pid(self) -> int:
        """Of its sandbox."""
        return self._server.pid

    def close_their_files(self) -> None:
        for fd in self.their_files:
            os.close(fd)

    def exit_file(self) -> int:
        """A file that can be read when it has ended."""
        return os.dup(self._server.socket.fileno())

    def poll(self) -> int | None:
        if self.returncode is None:
            try:
                answer = self._server.socket.recv(WORD + 1)
            except BlockingIOError:
                return None
            except OSError:
                answer = b""
            self.returncode = self._server.ended(answer)
        return self.returncode

    def wait(self, timeout: float) -> int:
        """TimeoutExpired as of any child."""
        if self.returncode is None:
            select.select([self._server.socket], [], [], timeout)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired("a command", timeout)
        return code

    def ask_to_end(self) -> None:
        """Like SIGTERM to its group."""
        with contextlib.suppress(OSError):
            self._server.socket.sendall(END)


ShortChild = subprocess.Popen[bytes] | ServedCommand


def exit_file(child: ShortChild) -> int | None:
    """A file that can be read when it has ended, where there is such a thing."""
    if isinstance(child, ServedCommand):
        return child.exit_file()
    return process_control.open_pidfd(child.pid)


def ask_to_end(child: ShortChild) -> None:
    if isinstance(child, ServedCommand):
        child.ask_to_end()
    else:
        signal_group(child.pid, signal.SIGTERM)


def _pipe_from() -> tuple[IO[bytes], int]:
    read, write = os.pipe()
    return open(read, "rb", buffering=0), write


def _pipe_to() -> tuple[int, IO[bytes]]:
    read, write = os.pipe()
    return read, open(write, "wb", buffering=0)
