"""Doubles and small programs for the tests of the executor."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.executor.process_table import this_table
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.ports.executor import Command, CommandOutput, Timeouts

FOR_EVER = "import signal\nwhile True: signal.pause()\n"


class RecordingListener:
    """An `OutputListener` that keeps the output, and answers as the test says."""

    def __init__(
        self,
        *,
        stop_when: Callable[["RecordingListener"], bool] = lambda _: False,
        result_when: Callable[["RecordingListener"], bool] = lambda _: False,
        busy_when: Callable[["RecordingListener"], bool] = lambda _: False,
        on_tick: Callable[["RecordingListener"], None] = lambda _: None,
    ) -> None:
        self.blocks: list[bytes] = []
        self.ticks = 0
        self._stop_when = stop_when
        self._result_when = result_when
        self._busy_when = busy_when
        self._on_tick = on_tick

    @property
    def received(self) -> bytes:
        return b"".join(self.blocks)

    def output(self, block: bytes) -> None:
        self.blocks.append(block)

    @property
    def has_result(self) -> bool:
        return self._result_when(self)

    @property
    def is_busy(self) -> bool:
        return self._busy_when(self)

    def tick(self) -> EndingKind | None:
        self.ticks += 1
        self._on_tick(self)
        return EndingKind.INTERRUPTED if self._stop_when(self) else None


def says(word: bytes) -> Callable[[RecordingListener], bool]:
    return lambda listener: word in listener.received


def python(code: str, *args: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-u", "-c", code, *args)


def shell(script: str, *args: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script, "sh", *args)


def captured(
    processes: ProcessExecutor,
    *argv: str,
    cwd: str = "/",
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_s: float = 120.0,
) -> CommandOutput:
    env = os.environ if env is None else env
    command = Command(argv=argv, cwd=cwd, env=env, stdin=stdin)
    return processes.capture(command, timeout_s=timeout_s)


class Bench:
    """An executor, a folder, and one word to run something in it."""

    def __init__(self, folder: Path, processes: ProcessExecutor) -> None:
        self.folder = folder
        self.processes = processes
        self.log = folder / "runs" / "session.log"

    def run(
        self,
        argv: tuple[str, ...],
        listener: RecordingListener | None = None,
        *,
        stdin: bytes = b"",
        timeouts: Timeouts | None = None,
        line_limit: int = 64 * 1024,
        session: str = "run-1:t-1:1",
        log: str = "",
    ) -> ProcessExit:
        return self.processes.run(
            Command(argv=argv, cwd=str(self.folder), env=an_environment(session), stdin=stdin),
            log=log or str(self.log),
            timeouts=timeouts or Timeouts(),
            listener=listener or RecordingListener(),
            line_limit=line_limit,
        )


def an_environment(session: str) -> dict[str, str]:
    env = dict(os.environ)
    if session:
        env["RALPH_SESSION"] = session
    return env


@contextlib.contextmanager
def a_bench(
    folder: Path, *, stop_grace_s: float = 3.0, drain_s: float = 0.05, sweep_grace_s: float = 0.5
) -> Iterator[Bench]:
    processes = ProcessExecutor(
        SystemClock(), stop_grace_s=stop_grace_s, drain_s=drain_s, sweep_grace_s=sweep_grace_s
    )
    try:
        yield Bench(folder, processes)
    finally:
        processes.close()


def lives(pid: int) -> bool:
    process = this_table().look(pid)
    return process is not None and not process.zombie
