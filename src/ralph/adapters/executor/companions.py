"""Programs of our own beside the work: messengers that nobody waits for, and company that ends when
we do."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Final

from ralph.adapters.executor.stopping import signal_group

PATIENCE_S: Final = 60.0
"""A messenger that takes longer hangs."""
MOST: Final = 20
"""So many messengers at a time; if they all hang, the next one would hang as well."""

PIPE_BYTES: Final = 60 * 1024
"""What a pipe takes at once, so that writing does not wait for a reader."""


class Companions:
    """Who is out, and since when. If one cannot be started, that is no error."""

    def __init__(self) -> None:
        self._messengers: list[tuple[subprocess.Popen[bytes], float]] = []
        self._company: list[subprocess.Popen[bytes]] = []

    def send(self, argv: Sequence[str], cwd: str, stdin: bytes) -> int | None:
        """Start a messenger; return its process, if it started."""
        self.look_after()
        if len(self._messengers) >= MOST:
            return None
        child = _start(argv, cwd)
        if child is None:
            return None
        _tell(child, stdin[:PIPE_BYTES])
        self._messengers.append((child, time.monotonic()))
        return child.pid

    def keep(self, argv: Sequence[str]) -> int | None:
        """Start one that lasts as long as we do, however we end: its stdin ends with us."""
        child = _start(argv, "/")
        if child is not None:
            self._company.append(child)
        return child.pid if child is not None else None

    def look_after(self) -> None:
        """Bury the dead, and end messengers that hang."""
        for child, since in self._messengers:
            if child.poll() is None and time.monotonic() - since > PATIENCE_S:
                signal_group(child.pid, signal.SIGKILL)
        self._messengers = [one for one in self._messengers if one[0].poll() is None]
        self._company = [child for child in self._company if child.poll() is None]

    def close(self) -> None:
        """End the company. Messengers find their way alone."""
        for child in self._company:
            _hang_up(child)
            signal_group(child.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(1.0)
        for child, _ in self._messengers:
            # Python would complain that it was not waited for; nobody is meant to.
            child.returncode = child.poll() or 0
        self._company, self._messengers = [], []


def _start(argv: Sequence[str], cwd: str) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            # Neither Ctrl-C nor a closed window is meant for it.
            start_new_session=True,
            cwd=cwd,
        )
    except (OSError, ValueError):
        return None


def _tell(child: subprocess.Popen[bytes], stdin: bytes) -> None:
    with contextlib.suppress(OSError):
        if stdin and child.stdin is not None:
            os.write(child.stdin.fileno(), stdin)
    _hang_up(child)


def _hang_up(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if child.stdin is not None:
            child.stdin.close()
