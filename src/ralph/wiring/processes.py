"""Start programs on this machine, and tell which of Ralph's own processes are alive."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ralph.store.store import Store

if TYPE_CHECKING:
    from ralph.adapters.executor.process_executor import ProcessExecutor
    from ralph.ports.clock import Clock
    from ralph.ports.executor import CommandOutput
    from ralph.store.claims import StaleClaim
    from ralph.store.runs import Run, WorkerProcess


@contextmanager
def open_executor() -> "Iterator[ProcessExecutor]":
    """An executor that is closed at the end."""
    from ralph.adapters.executor.process_executor import ProcessExecutor

    executor = ProcessExecutor(system_clock())
    try:
        yield executor
    finally:
        executor.close()


def run_own_command(root: str, words: tuple[str, ...], stdin: bytes) -> "CommandOutput":
    """Run a command of Ralph as a person would; from any thread."""
    from ralph.adapters.executor.own_command import run_own_command

    return run_own_command(root, words, stdin)


def start_own_command(root: str, words: tuple[str, ...]) -> "CommandOutput":
    """Start a run as a person would; it goes on by itself. From any thread."""
    from ralph.adapters.executor.own_command import start_own_command

    return start_own_command(root, words)


def system_clock() -> "Clock":
    from ralph.adapters.executor.event_loop import SystemClock

    return SystemClock()


def is_running(owner: "WorkerProcess") -> bool:
    """Whether a process is alive, as far as this machine can tell."""
    from ralph.adapters.executor.own_process import is_alive

    return is_alive(owner) is not False


def live_runs(store: Store) -> "list[Run]":
    return [run for run, owner in store.runs.live() if is_running(owner)]


def abandoned_claims(store: Store) -> "list[StaleClaim]":
    """Claims whose worker is dead, as far as a single look can tell."""
    from ralph.adapters.executor.own_process import is_alive, this_process
    from ralph.core.ids import WorkerId

    def is_dead(claim: "StaleClaim") -> bool:
        alive = is_alive(claim.owner) if claim.owner is not None else None
        return claim.expired if alive is None else not alive

    claims = store.claims.stale(WorkerId("doctor"), this_process().host, 0.0)
    return [one for one in claims if is_dead(one)]
