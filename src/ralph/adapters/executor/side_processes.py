"""Programs beside the work: notifications, and one that keeps the machine awake."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ralph.adapters.executor.process_control import NotStarted, start_detached
from ralph.adapters.executor.process_table import MARKER, signal_group
from ralph.ports.executor import Command

PROGRAMS: Final[dict[str, Callable[[], tuple[str, ...]]]] = {
    # Ends by itself with the process that it is told of.
    "caffeinate": lambda: ("-i", "-w", str(os.getpid())),
    # Holds as long as `cat` runs, which is as long as we hold the other end of its pipe.
    "systemd-inhibit": lambda: (
        *("--what=idle:sleep", "--who=Ralph", "--why=A run is at work", "--mode=block"),
        "/bin/cat",
    ),
}


def awake_command(path: str) -> tuple[str, ...] | None:
    """What to start, looked for on this PATH; None where the system has no such thing."""
    for name, arguments in PROGRAMS.items():
        if found := shutil.which(name, path=path):
            return (found, *arguments())
    return None


PATIENCE_S: Final = 60.0
"""A notifier that takes longer hangs."""
MOST: Final = 20
"""So many notifiers at a time; if they all hang, the next one would hang as well."""
PIPE_BYTES: Final = 60 * 1024
"""What a pipe takes at once, so that writing does not wait for a reader."""


class SideProcesses:
    """Running helper programs. A program that cannot be started is not an error."""

    def __init__(self) -> None:
        self._notifiers: list[tuple[subprocess.Popen[bytes], float]] = []
        self._lasting: list[subprocess.Popen[bytes]] = []

    def start_notifier(self, argv: Sequence[str], cwd: str, stdin: bytes) -> int | None:
        """Start a notifier; return its process, if it started."""
        self.reap_and_limit()
        if len(self._notifiers) >= MOST:
            return None
        child = _start(argv, cwd, os.environ)
        if child is None:
            return None
        _write_stdin(child, stdin[:PIPE_BYTES])
        self._notifiers.append((child, time.monotonic()))
        return child.pid

    def start_lasting(self, argv: Sequence[str]) -> int | None:
        """Start one that lasts as long as we do, however we end: its stdin ends with us. A line on
        it says that we end in good order. Nothing happens if one like it is still there."""
        self.reap_and_limit()
        if any(child.args == tuple(argv) for child in self._lasting):
            return None
        # Not to be taken for a part of the session that we are in ourselves.
        env = {name: value for name, value in os.environ.items() if name != MARKER}
        child = _start(argv, "/", env)
        if child is None:
            return None
        self._lasting.append(child)
        return child.pid

    def reap_and_limit(self) -> None:
        """Reap dead processes, and end notifiers that hang."""
        for child, since in self._notifiers:
            if child.poll() is None and time.monotonic() - since > PATIENCE_S:
                signal_group(child.pid, signal.SIGKILL)
        self._notifiers = [one for one in self._notifiers if one[0].poll() is None]
        for child in self._lasting:
            if child.poll() is not None:
                _close_stdin(child)
        self._lasting = [child for child in self._lasting if child.returncode is None]

    def close(self) -> None:
        """End the programs that last as long as we do. Notifiers end by themselves."""
        for child in self._lasting:
            _write_stdin(child, b"\n")
            signal_group(child.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(1.0)
        for child, _ in self._notifiers:
            # Python would complain that it was not waited for, which is intended.
            child.returncode = child.poll() or 0
        self._lasting, self._notifiers = [], []


def _start(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> subprocess.Popen[bytes] | None:
    with contextlib.suppress(NotStarted):
        return start_detached(Command(argv=tuple(argv), cwd=cwd, env=env))
    return None


def _write_stdin(child: subprocess.Popen[bytes], stdin: bytes) -> None:
    with contextlib.suppress(OSError):
        if stdin and child.stdin is not None:
            os.write(child.stdin.fileno(), stdin)
    _close_stdin(child)


def _close_stdin(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if child.stdin is not None:
            child.stdin.close()
