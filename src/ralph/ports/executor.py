"""Starting processes, watching them, and leaving none behind."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from ralph.core.ending import Exit, Stop
from ralph.core.resources import Resources


class Interrupted(Exception):
    """We were asked to stop while something ran: it proves nothing either way."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What to start. The environment is complete: nothing is inherited."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    stdin: bytes = b""
    """Written, then closed."""
    limits: Resources = Resources()
    """What it may use. Over a limit it is ended at once, with all that it started."""


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds; 0 means without limit."""

    hard_s: float = 0.0
    idle_s: float = 0.0
    after_result_s: float = 0.0


class Listener(Protocol):
    """Who watches a process while it runs. Called from the one loop, never from a thread."""

    def output(self, block: bytes) -> None:
        """More standard output: whole lines, except that an overlong line comes in pieces."""
        ...

    @property
    def has_result(self) -> bool:
        """Has it said its last word? Then only the after-result timeout is left to it."""
        ...

    @property
    def is_busy(self) -> bool:
        """Is a tool call open? Then silence is not idleness."""
        ...

    def tick(self) -> Stop | None:
        """Called at least twice a second. A reason ends the process."""
        ...


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """What a short command printed."""

    code: int
    stdout: bytes
    stderr: bytes


class Captures(Protocol):
    """Who runs short commands of our own."""

    def capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 120.0,
    ) -> Captured:
        """Run a short command of our own (git) and return what it printed."""
        ...

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        """Let time pass before such a command is tried again; a longer wait is shown to people.
        `is_over` is asked at least twice a second, and True ends it."""
        ...


class LimitedCaptures(Captures, Protocol):
    """Who runs them within limits."""

    def capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 120.0,
        limits: Resources = ...,
    ) -> Captured:
        """The same; over a limit it is ended at once."""
        ...


class Attends(Protocol):
    """Who runs a person's commands, which may take long."""

    def attend(self, command: Command, *, timeout_s: float, tick: Callable[[], bool]) -> Captured:
        """Run it and return what it printed; `tick` is called at least twice a second, and True
        ends it: Interrupted."""
        ...


class Executor(Captures, Attends, Protocol):
    """The only one who starts processes."""

    def run(
        self,
        command: Command,
        *,
        log: str,
        timeouts: Timeouts,
        listener: Listener,
        line_limit: int = 64 * 1024,
    ) -> Exit:
        """Run to the end, in a process group of its own, output appended to the file `log`.

        Whatever the process started is gone when this returns, also what left its group.
        """
        ...

    def watch(self, fd: int, ready: Callable[[], None], *, writing: bool = False) -> None:
        """Call `ready` whenever `fd` can be read (or written), while anything runs or sleeps."""
        ...

    def unwatch(self, fd: int) -> None:
        """Forget `fd`."""
        ...

    def sleep(self, seconds: float, tick: Callable[[], bool]) -> None:
        """Wait, serving watched files; `tick` is called at least twice a second, True ends it."""
        ...

    def sweep(self, marker: str) -> int:
        """End every process whose environment holds `marker` (`NAME=value`); return how many.

        For what a Ralph that was killed has left behind.
        """
        ...

    def converse(self, command: Command) -> int:
        """Hand the terminal over to a program, whole: foreground, signals, modes. Wait for its end
        and return its exit code as a shell has it; the terminal is as it was before."""
        ...

    def send(self, argv: Sequence[str], *, cwd: str = "/", stdin: bytes = b"") -> None:
        """Start a program of our own and let it go: nobody waits for it, no session is blamed for
        it, and if it cannot be started, that is no error."""
        ...
