"""Starts, signals and awaits processes; also programs on the user's own terminal."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from ralph.adapters.executor.event_loop import TICK_S
from ralph.adapters.executor.process_table import signal_group
from ralph.core.errors import Unavailable
from ralph.ports.executor import Command


class NotStarted(Unavailable):
    """The child never ran."""


def _start(command: Command, **options: Any) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command.argv, cwd=command.cwd, env=command.env, **options)
    except OSError as error:
        raise NotStarted(_start_error(error, command.argv[0], command.cwd)) from error
    except ValueError as error:
        # A NUL byte in an argument, a `=` in the name of a variable.
        raise NotStarted(f"{command.argv[0]!r} cannot be started: {error}") from error


def start_child(command: Command) -> subprocess.Popen[bytes]:
    """A child in a session and group of its own, its pipes unbuffered.

    `preexec_fn` would cost a real fork of everything Ralph has in memory; this way vfork is used.
    """
    if not command.argv or not command.argv[0]:
        raise NotStarted("no program is named")
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        # Inherited from a careless parent; it would make every exit code 0.
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    stdin = subprocess.PIPE if command.stdin else subprocess.DEVNULL
    outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return _start(command, stdin=stdin, **outputs, bufsize=0, start_new_session=True)


def start_detached(command: Command) -> subprocess.Popen[bytes]:
    """One whose output is not read; neither Ctrl-C nor a closed window is meant for it."""
    outputs = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return _start(command, stdin=subprocess.PIPE, **outputs, bufsize=0, start_new_session=True)


def start_server(command: Command, stdin: int) -> subprocess.Popen[bytes]:
    """One that is spoken to through a socket."""
    outputs = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return _start(command, stdin=stdin, **outputs, bufsize=0, start_new_session=True)


def start_foreground(command: Command, *, own_session: bool = False) -> subprocess.Popen[bytes]:
    """With a person's own input and output. A session of its own has no terminal to call its own,
    so the program cannot type into the person's."""
    return _start(command, start_new_session=own_session)


def _start_error(error: OSError, program: str, cwd: str) -> str:
    if error.filename == cwd:
        return f"{program} cannot start in {cwd}: {error.strerror}"
    match error.errno:
        case errno.ENOENT if os.path.exists(os.path.join(cwd, program)) and "/" in program:
            return f"{program} names an interpreter that does not exist"
        case errno.ENOENT:
            return f"{program} is not installed, or not on PATH"
        case errno.EACCES:
            return f"{program} is not executable"
        case errno.ENOEXEC:
            return f"{program} is not a program for this machine, or lacks its #! line"
        case errno.E2BIG:
            return f"the arguments and environment of {program} are too long"
        case _:
            return f"{program} cannot be started: {error.strerror}"


def open_pidfd(pid: int) -> int | None:
    """A file that can be read when the process has ended."""
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):  # macOS has none
        return None


# An agent that gets SIGINT ends its tools and writes its result; one that gets SIGTERM may leave
# its tools running. So SIGINT comes first.
ORDER: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class GradualStop:
    """The stop of a process group in progress."""

    def __init__(self, group: int, grace_s: float, now: float, *, at_once: bool = False) -> None:
        self._group = group
        self._grace_s = grace_s
        self._left = list(ORDER[-1:] if at_once else ORDER)
        self.next_at = now
        self.given_up = False
        """Even SIGKILL did not help: it runs as another user, or hangs in the kernel."""

    def step(self, now: float) -> None:
        """Send the next signal if the last one had its time."""
        if now < self.next_at:
            return
        if not self._left:
            self.given_up = True
            return
        signal_group(self._group, self._left.pop(0))
        self.next_at = now + self._grace_s


class KillableChild(Protocol):
    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float) -> int: ...


def kill(child: KillableChild, wait_s: float) -> None:
    """End a child and its group without asking."""
    if child.poll() is None:
        signal_group(child.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(wait_s)


FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def wait_for_foreground(child: "subprocess.Popen[bytes]", over: Callable[[float], str]) -> int:
    """Wait, and pass on what people send us meanwhile. Over a limit it is ended, with a message."""
    with _handling(FORWARDED, lambda number: signal_group(child.pid, signal.Signals(number))):
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.wait(TICK_S)
            if limit := over(time.monotonic()):
                sys.stderr.write(f"ralph: the command was ended: {limit}\n")
                signal_group(child.pid, signal.SIGKILL)
                return child.wait()


@contextlib.contextmanager
def _handling(numbers: Iterable[signal.Signals], handle: Callable[[int], object]) -> Iterator[None]:
    before = {number: signal.signal(number, lambda n, _: handle(n)) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


PASSED_ON: Final = (signal.SIGTERM, signal.SIGHUP)
"""Sent to us, meant for both."""
KEYBOARD: Final = (signal.SIGINT, signal.SIGQUIT)
"""These are meant for the program."""
RESET: Final = (
    b"\x1b[?1049l\x1b[?25h\x1b[?7h\x1b[0m"
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l"
)
"""Its own screen, a hidden cursor, the mouse: what a program that was killed leaves switched on."""


def run_in_terminal(command: Command) -> int:
    """Run a program on the user's own terminal until it ends; return its exit code. It is in our
    process group, so what is typed reaches both: Ctrl-C is meant for the program, Ctrl-Z for
    both."""
    modes = _modes()
    child = start_foreground(command)
    # Handlers, since what is ignored here would be ignored by the program as well.
    with _handling(PASSED_ON, child.send_signal), _handling(KEYBOARD, lambda _: None):
        try:
            while True:
                _, status = os.waitpid(child.pid, os.WUNTRACED)
                if not os.WIFSTOPPED(status):
                    break
                if _is_stopped(child.pid):
                    # It has stopped itself alone: stop as well, until `fg`.
                    os.killpg(os.getpgrp(), signal.SIGTSTP)
        finally:
            if modes is not None:
                _retake_terminal(modes)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode < 0 and modes is not None:
        with contextlib.suppress(OSError):
            os.write(0, RESET)
    return child.returncode


def _modes() -> list[Any] | None:
    """The modes of the terminal; None if it is not ours."""
    try:
        return termios.tcgetattr(0) if os.tcgetpgrp(0) == os.getpgrp() else None
    except (OSError, termios.error):
        return None


def _is_stopped(pid: int) -> bool:
    import psutil  # type: ignore[import-untyped]

    return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)


def _retake_terminal(modes: list[Any]) -> None:
    """Put ourselves in front again, if the program has put a group of its own there."""
    # Otherwise it would stop us that we are not in front.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        with contextlib.suppress(OSError, termios.error):
            os.tcsetpgrp(0, os.getpgrp())
            termios.tcsetattr(0, termios.TCSANOW, modes)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTTOU})
