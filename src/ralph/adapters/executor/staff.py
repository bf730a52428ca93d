"""The workers of a team as child processes. Their standard input ends with us, and so do they."""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import IO, Final

import msgspec

from ralph.core.errors import Unavailable
from ralph.core.ids import WorkerId, worker_id
from ralph.core.json_text import NOT_JSON
from ralph.core.safe_text import one_line
from ralph.ports.staff import Departure, Report

# -P: a folder `ralph` in the project is not this program.
COMMAND: Final = (sys.executable, "-P", "-m", "ralph.wiring.teammate")
LAST_WORDS: Final = 4096
KILLED_S: Final = 5.0


class Hired(msgspec.Struct, frozen=True, kw_only=True):
    """One of them."""

    worker: WorkerId
    process: subprocess.Popen[bytes]
    said: IO[bytes]
    """Its report."""
    log: IO[bytes]
    """Whatever else it says; empty if all goes well."""


class Team:
    """A `Staff`."""

    def __init__(
        self, seat: Callable[[str, WorkerId], bytes], *, cwd: str, env: Mapping[str, str]
    ) -> None:
        """`seat` is what a worker has to know, on one line."""
        self._seat = seat
        self._cwd = cwd
        self._env = env
        self._hired: dict[str, Hired] = {}

    def hire(self, seat: str) -> WorkerId:
        """Start a worker for a seat that is free."""
        worker = worker_id(secrets.token_hex(4))
        said, log = _nameless(), _nameless()
        try:
            process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                # Files: whoever inherits a pipe could hold up the one who reads it.
                stdout=said,
                stderr=log,
                bufsize=0,
                cwd=self._cwd,
                env=self._env,
                # A Ctrl-C is meant for the lead, who passes it on.
                start_new_session=True,
            )
        except OSError as error:
            raise Unavailable(f"a worker cannot be started: {error.strerror}") from error
        self._hired[seat] = Hired(worker=worker, process=process, said=said, log=log)
        # One that dies at once is seen when it is looked at.
        with contextlib.suppress(BrokenPipeError):
            assert process.stdin is not None
            _write(process.stdin.fileno(), self._seat(seat, worker) + b"\n")
        return worker

    @property
    def present(self) -> dict[str, WorkerId]:
        """Who is at work, by seat."""
        return {seat: one.worker for seat, one in self._hired.items()}

    def departures(self) -> list[Departure]:
        """Those who have left since the last look."""
        gone = [(seat, one) for seat, one in self._hired.items() if one.process.poll() is not None]
        return [self._see_off(seat, one) for seat, one in gone]

    def dismiss(self, worker: WorkerId) -> None:
        """End one that has stopped to give signs of life."""
        for one in self._hired.values():
            if one.worker == worker:
                one.process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    one.process.wait(KILLED_S)

    def call_off(self) -> None:
        """Ask everybody to end in good order."""
        for one in self._hired.values():
            with contextlib.suppress(ProcessLookupError):
                one.process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        """End whoever is still there."""
        for one in self._hired.values():
            one.process.kill()
        until = time.monotonic() + KILLED_S
        for one in self._hired.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.process.wait(max(0.0, until - time.monotonic()))
            _close(one)
        self._hired.clear()

    def _see_off(self, seat: str, one: Hired) -> Departure:
        del self._hired[seat]
        report, words = _report(one.said), _end_of(one.log)
        _close(one)
        code = one.process.returncode
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        reason = f"{how}: {words}" if words else how
        return Departure(worker=one.worker, seat=seat, report=report, reason=reason)


def _nameless() -> IO[bytes]:
    """A file that is gone when it is closed."""
    return tempfile.TemporaryFile()


def _write(fd: int, content: bytes) -> None:
    while content:
        content = content[os.write(fd, content) :]


def _report(said: IO[bytes]) -> Report | None:
    said.seek(0)
    try:
        return msgspec.json.decode(said.read(), type=Report)
    except NOT_JSON:
        return None


def _end_of(log: IO[bytes]) -> str:
    """Its last line, which of a traceback is the one that counts."""
    log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_WORDS))
    lines = log.read().decode("utf-8", "replace").strip().splitlines()
    return one_line(lines[-1], 200) if lines else ""


def _close(one: Hired) -> None:
    with contextlib.suppress(OSError):
        if one.process.stdin is not None:
            one.process.stdin.close()
    one.said.close()
    one.log.close()
