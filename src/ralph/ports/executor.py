"""The interface of the executor: starts processes, watches them, and leaves none behind."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from ralph.core.process_exit import ProcessExit
from ralph.core.resource_limits import ResourceLimits
from ralph.core.session_ending import EndingKind

SECOND: Final = "a second SIGINT"
"""The signal after which the run no longer waits for agents."""


Tick = Callable[[], bool]
"""Called at least twice a second; True ends what is waited for."""


class Interrupted(Exception):
    """Ralph was asked to stop while a command ran. The command's result proves nothing."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What to start. The environment is complete: nothing is inherited."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    stdin: bytes = b""
    """Written, then closed."""
    limits: ResourceLimits = ResourceLimits()
    """Over a limit it is ended at once, with all that it started."""
    keeps_branches: bool = False
    """In a sandbox it cannot commit: it only checks."""


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds; 0 means without limit."""

    hard_s: float = 0.0
    idle_s: float = 0.0
    after_result_s: float = 0.0


class OutputListener(Protocol):
    """Watches a running process. It is called from the event loop, never from a thread."""

    def output(self, block: bytes) -> None:
        """Handle more standard output: whole lines, and pieces of an overlong one."""

    @property
    def has_result(self) -> bool:
        """Whether the process has reported its result: then only that timeout applies."""

    @property
    def is_busy(self) -> bool:
        """Return whether a tool call is open. Silence is then not idleness."""

    def tick(self) -> EndingKind | None:
        """Called at least twice a second. Returning a reason stops the process."""


class CommandOutput(msgspec.Struct, frozen=True, kw_only=True):
    code: int
    stdout: bytes
    stderr: bytes


class CommandRunner(Protocol):
    """Runs Ralph's own short commands, such as git."""

    def capture(
        self, command: Command, *, timeout_s: float = 120.0, tick: Tick | None = None
    ) -> CommandOutput:
        """Run a short command of our own (git) and return what it printed. `tick` is called at
        least twice a second; True stops the command with Interrupted, and so does any error."""

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        """Wait before such a command is tried again; a longer wait is shown to users. `is_over` is
        asked at least twice a second, and True ends the wait."""


class CommandServer(Protocol):
    """A process that runs short commands for us, one after the other."""

    def capture(
        self, command: Command, *, timeout_s: float = 120.0, tick: Tick | None = None
    ) -> CommandOutput:
        """As the executor does it. If the server cannot start, or dies, the output is its exit code
        and what it has said."""

    @property
    def is_idle(self) -> bool:
        """Whether it can run a command now. Once it has ended, or a command has left something
        behind there, it never is again."""

    def close(self) -> None:
        """End it."""


class Executor(CommandRunner, Protocol):
    """Starts all processes."""

    def start_server(self, command: Command) -> CommandServer:
        """Start a program that runs commands until it is closed, or we end."""

    def run_long(self, command: Command, *, timeout_s: float, tick: Tick) -> CommandOutput:
        """Run a user's own command, which may take long, and return its output; `tick` is called at
        least twice a second, and True stops it with Interrupted."""

    def run(
        self,
        command: Command,
        *,
        log: str,
        timeouts: Timeouts,
        listener: OutputListener,
        line_limit: int = 64 * 1024,
    ) -> ProcessExit:
        """Run to the end, in a process group of its own, output appended to the file `log`.

        Whatever the process started is gone when this returns, also what left its group.
        """

    def watch(self, fd: int, ready: Callable[[], None], *, writing: bool = False) -> None:
        """Call `ready` whenever `fd` is readable (or writable) while the event loop runs."""

    def unwatch(self, fd: int) -> None: ...

    def sleep(self, seconds: float, tick: Tick) -> None:
        """Wait and serve watched files; `tick`, called twice a second, ends the wait with True."""

    def end_marked(self, marker: str) -> int:
        """End every process whose environment contains `marker` (`NAME=value`); return how many.

        For what a Ralph that was killed has left behind.
        """

    def run_interactive(self, command: Command) -> int:
        """Hand the terminal over to a program and wait for its end; return its exit code as a shell
        would. The terminal is restored afterwards."""

    def start_detached(self, argv: Sequence[str], *, cwd: str = "/", stdin: bytes = b"") -> None:
        """Start a program without waiting for it. A failure to start it is not an error."""
