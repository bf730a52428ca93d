"""The workers of a team as child processes. They end when the lead ends."""

import contextlib
import os
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import IO, Final

import msgspec

from ralph import MODULE
from ralph.adapters.executor.child_process import write_all
from ralph.core.errors import Unavailable
from ralph.core.ids import WorkerId, worker_id
from ralph.core.json_text import NOT_JSON
from ralph.core.run import RunEnding
from ralph.core.safe_text import one_line
from ralph.ports.worker_pool import WorkerExit

COMMAND: Final = (*MODULE, "ralph.wiring.team_worker")
MAX_REPORT_BYTES: Final = 4096
KILLED_S: Final = 5.0


class WorkerChild(msgspec.Struct, frozen=True, kw_only=True):
    worker: WorkerId
    process: subprocess.Popen[bytes]
    said: IO[bytes]
    """Its report."""
    log: IO[bytes]
    """Whatever else it says; empty if all goes well."""


class WorkerProcesses:
    def __init__(
        self, start_line: Callable[[str, WorkerId], bytes], *, cwd: str, env: Mapping[str, str]
    ) -> None:
        """`start_line` is what the worker of a slot has to know."""
        self._start_line = start_line
        self._cwd = cwd
        self._env = env
        self._children: dict[str, WorkerChild] = {}

    def start_worker(self, slot: str) -> WorkerId:
        worker = worker_id(secrets.token_hex(4))
        said, log = _nameless(), _nameless()
        try:
            process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                # Files: a process that inherits a pipe could hold up its reader.
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
        self._children[slot] = WorkerChild(worker=worker, process=process, said=said, log=log)
        # One that dies at once is seen when it is looked at.
        with contextlib.suppress(BrokenPipeError):
            assert process.stdin is not None
            write_all(process.stdin.fileno(), self._start_line(slot, worker) + b"\n")
        return worker

    @property
    def running(self) -> dict[str, WorkerId]:
        return {slot: one.worker for slot, one in self._children.items()}

    def exits(self) -> list[WorkerExit]:
        gone = [
            (slot, one) for slot, one in self._children.items() if one.process.poll() is not None
        ]
        return [self._reap(slot, one) for slot, one in gone]

    def kill(self, worker: WorkerId) -> None:
        for one in self._children.values():
            if one.worker == worker:
                one.process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    one.process.wait(KILLED_S)

    def stop_all(self, *, at_once: bool = False) -> None:
        """Ask all workers to end in good order; `at_once`: without waiting for their agents."""
        for one in self._children.values():
            with contextlib.suppress(ProcessLookupError):
                # A SIGINT that is not the first signal is a second Ctrl-C.
                one.process.send_signal(signal.SIGINT if at_once else signal.SIGTERM)

    def close(self) -> None:
        for one in self._children.values():
            one.process.kill()
        until = time.monotonic() + KILLED_S
        for one in self._children.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.process.wait(max(0.0, until - time.monotonic()))
            _close(one)
        self._children.clear()

    def _reap(self, slot: str, one: WorkerChild) -> WorkerExit:
        del self._children[slot]
        report, words = _report(one.said), _end_of(one.log)
        _close(one)
        code = one.process.returncode
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        reason = f"{how}: {words}" if words else how
        return WorkerExit(worker=one.worker, slot=slot, report=report, reason=reason)


def _nameless() -> IO[bytes]:
    """A file that is gone when it is closed."""
    return tempfile.TemporaryFile()


def _report(said: IO[bytes]) -> RunEnding | None:
    said.seek(0)
    try:
        return msgspec.json.decode(said.read(), type=RunEnding)
    except NOT_JSON:
        return None


def _end_of(log: IO[bytes]) -> str:
    """Its last line, which of a traceback is the one that counts."""
    log.seek(max(0, log.seek(0, os.SEEK_END) - MAX_REPORT_BYTES))
    lines = log.read().decode("utf-8", "replace").strip().splitlines()
    return one_line(lines[-1], 200) if lines else ""


def _close(one: WorkerChild) -> None:
    with contextlib.suppress(OSError):
        if one.process.stdin is not None:
            one.process.stdin.close()
    one.said.close()
    one.log.close()
