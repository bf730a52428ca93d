"""A terminal with a person at it: what Ralph prints, what is typed, and how it is left behind."""

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable

from tests.e2e.conftest import Project
from tests.e2e.ralph_process import RALPH

CONTROL = re.compile(rb"\x1b\[[0-9;?>=]*[@-~]|\x1b\][^\x07]*\x07|\x1b[^\[\]]")
"""What moves the cursor, sets colours or titles."""
INTERRUPT, SUSPEND = b"\x03", b"\x1a"
HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"
NO_WRAP, WRAP = b"\x1b[?7l", b"\x1b[?7h"

OWN_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""What a terminal program does before it starts a shell."""

JOB_CONTROL = """
import fcntl, os, psutil, signal, sys, termios, time
def is_stopping(one):
    try:
        return os.getpgid(one.pid) == job and one.status() not in ("stopped", "zombie")
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
modes = termios.tcgetattr(0)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
def end(*_):
    os.killpg(job, signal.SIGTERM)
    os.killpg(job, signal.SIGCONT)
    os.waitpid(job, 0)
    os._exit(143)
signal.signal(signal.SIGTERM, end)
while True:
    status = os.waitpid(job, os.WUNTRACED)[1]
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    # On its way to a stop, a program that reads the terminal still takes what is typed next.
    while any(map(is_stopping, psutil.Process(job).children(recursive=True))):
        time.sleep(0.01)
    print("[stopped]", termios.tcgetattr(0)[3] == modes[3], flush=True)
    word = input()
    if word == "fg":
        os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
    if word == "bg":
        input()
        os.tcsetpgrp(0, job)
"""
"""As much of a shell as Ctrl-Z, `fg` and `bg` need."""


class Terminal:
    """Ralph, or another program, in the foreground of a terminal of its own."""

    def __init__(
        self, project: Project, *args: str, under: str = OWN_TERMINAL, program: str = RALPH
    ) -> None:
        self.master, self.slave = pty.openpty()
        termios.tcsetwinsize(self.slave, (24, 80))
        self.seen = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", under, program, *args],
            cwd=project.path,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env={**os.environ, "TERM": "xterm-256color", "PYTHONUTF8": "1"},
        )
        project.started.append(self.process)  # type: ignore[arg-type]

    @property
    def words(self) -> str:
        """What a person could read, without where it stands; some programs move the cursor from
        word to word."""
        return " ".join(CONTROL.sub(b" ", self.seen).decode("utf-8", "replace").split())

    def until(self, condition: Callable[[], bool], what: str, seconds: float = 90.0) -> None:
        """Read on, as a terminal does, until something has happened."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"it never happened: {what}\n{self.seen!r}"
            self._read(0.02)

    def _read(self, timeout: float) -> bool:
        if not select.select([self.master], [], [], timeout)[0]:
            return False
        self.seen += os.read(self.master, 65536)
        return True

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def waiting_keys(self) -> int:
        """How many bytes the next program would read."""
        return int.from_bytes(fcntl.ioctl(self.slave, termios.FIONREAD, bytes(4)), sys.byteorder)

    def ended(self) -> int:
        """Its exit code, when it has ended and said its last word."""
        self.until(lambda: self.process.poll() is not None, "it ended")
        while self._read(0):
            pass
        assert self.process.returncode is not None
        return self.process.returncode

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.slave)
        os.close(self.master)

    def is_sane(self) -> bool:
        """Can a person go on with it?"""
        modes = termios.tcgetattr(self.slave)[3]
        wanted = termios.ECHO | termios.ICANON | termios.ISIG
        return (
            modes & wanted == wanted
            and self.seen.rfind(SHOW) >= self.seen.rfind(HIDE)
            and self.seen.rfind(WRAP) >= self.seen.rfind(NO_WRAP)
        )
