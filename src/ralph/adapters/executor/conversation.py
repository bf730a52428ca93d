"""A program with a person: the terminal is handed over whole, and taken back as it was.

What a shell does for its jobs. The program gets a process group of its own in the foreground, so
that Ctrl-C and Ctrl-Z are meant for it; we wait beside it, and stop when it is stopped, so that the
shell above us gets its turn.
"""

import contextlib
import os
import signal
import subprocess
import termios
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final

from ralph.adapters.executor.stopping import signal_group

PASSED_ON: Final = (signal.SIGTERM, signal.SIGHUP)
"""Sent to us, meant for both."""
KEYBOARD: Final = (signal.SIGINT, signal.SIGQUIT)
"""Whoever pressed these meant the program."""
RESET: Final = (
    b"\x1b[?1049l\x1b[?25h\x1b[?7h\x1b[0m"
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l"
)
"""Its own screen, a hidden cursor, the mouse: what a program that was killed leaves switched on."""

Modes = list[Any]


class Terminal:
    """The one that we were started in; with none there is nothing to hand over."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._own = os.getpgrp()
        self.is_ours = self._group() == self._own
        self._modes = self._read_modes() if self.is_ours else None

    def give(self, group: int, modes: Modes | None = None) -> None:
        """Put a group in front, with the modes that it had set."""
        if self.is_ours:
            self._set(group, modes)

    def take_back(self) -> Modes | None:
        """Put ourselves in front again, with the modes that we found; return the program's."""
        if not self.is_ours:
            return None
        theirs = self._read_modes()
        self._set(self._own, self._modes)
        return theirs

    def wait_until_in_front(self) -> None:
        """`bg` lets a job go on without its terminal: a program with a person cannot."""
        while self.is_ours and self._group() not in (self._own, None):
            os.killpg(self._own, signal.SIGTTIN)

    def reset(self) -> None:
        """Switch off what nobody is left to switch off."""
        if self.is_ours:
            with contextlib.suppress(OSError):
                os.write(self._fd, RESET)

    def _group(self) -> int | None:
        try:
            return os.tcgetpgrp(self._fd)
        except OSError:
            return None

    def _read_modes(self) -> Modes | None:
        try:
            return termios.tcgetattr(self._fd)
        except (OSError, termios.error):
            return None

    def _set(self, group: int, modes: Modes | None) -> None:
        # Whoever is not in front is stopped for touching the terminal, unless it does not listen.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            with contextlib.suppress(OSError, termios.error):
                os.tcsetpgrp(self._fd, group)
                if modes is not None:
                    termios.tcsetattr(self._fd, termios.TCSANOW, modes)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTTOU})


def attend(child: subprocess.Popen[bytes], terminal: Terminal) -> int:
    """Let the child have the terminal until it ends; return its exit code."""
    with _listening(child, terminal):
        terminal.give(child.pid)
        try:
            while True:
                _, status = os.waitpid(child.pid, os.WUNTRACED)
                if not os.WIFSTOPPED(status):
                    child.returncode = os.waitstatus_to_exitcode(status)
                    break
                if os.WSTOPSIG(status) in (signal.SIGTTIN, signal.SIGTTOU):
                    # It was quicker than we were to give it the terminal.
                    modes = None
                else:
                    modes = terminal.take_back()
                    _stop()
                    terminal.wait_until_in_front()
                terminal.give(child.pid, modes)
                signal_group(child.pid, signal.SIGCONT)
        finally:
            terminal.take_back()
    if child.returncode < 0:
        terminal.reset()
    return child.returncode


def _stop() -> None:
    """Stop as the program has, until someone says `fg`."""
    os.killpg(os.getpgrp(), signal.SIGTSTP)


@contextlib.contextmanager
def _listening(child: subprocess.Popen[bytes], terminal: Terminal) -> Iterator[None]:
    """Handlers, since what is ignored here would be ignored by the program as well."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        if terminal.is_ours:
            signal_group(child.pid, signal.Signals(number))
        else:
            child.send_signal(number)

    def leave_it(number: int, frame: FrameType | None) -> None:
        del number, frame

    before = {number: signal.signal(number, pass_on) for number in PASSED_ON}
    before |= {number: signal.signal(number, leave_it) for number in KEYBOARD}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
