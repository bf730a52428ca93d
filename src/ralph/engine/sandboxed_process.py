"""Run a process in the sandbox of a checkout."""

from collections.abc import Callable

import msgspec

from ralph.core.errors import TemporaryFailure, Unavailable
from ralph.core.ids import TaskId
from ralph.core.process_exit import ProcessExit, is_temporary, signal_of_exit_code
from ralph.ports.executor import Command, Executor, OutputListener, Timeouts
from ralph.ports.sandbox import CheckoutSandbox

TRIES = 5
"""A path that the sandbox covers may disappear while it is built, and another one the next time."""

PAUSE_S = 0.1
"""Before a command for which there was no memory or no process is tried again; each further pause
is longer."""


class SandboxedExecutor(msgspec.Struct, frozen=True, kw_only=True):
    """Runs processes in one sandbox."""

    executor: Executor
    checkout_sandbox: CheckoutSandbox
    interrupted: Callable[[], str | None] = lambda: None
    warn: Callable[[str, TaskId | None], None] = lambda *_: None
    """Reports what the sandbox found after a process."""

    def run(
        self,
        command: Command,
        *,
        log: str,
        timeouts: Timeouts,
        listener: OutputListener,
        line_limit: int = 64 * 1024,
        home: str = "",
        task: TaskId | None = None,
    ) -> ProcessExit:
        why = ""
        for attempt in range(TRIES):
            if is_temporary(why):
                self.executor.wait(why, PAUSE_S * 3**attempt, lambda: bool(self.interrupted()))
            with self.checkout_sandbox.sandboxed(command, home=home) as inside:
                exit_ = self.executor.run(
                    inside.command,
                    log=log,
                    timeouts=timeouts,
                    listener=listener,
                    line_limit=line_limit,
                )
                started = inside.has_started or exit_.code is None or exit_.stop is not None
            for warning in inside.warnings:
                self.warn(warning, task)
            why = exit_.error if exit_.code is None else ""
            if started and not is_temporary(why):
                return exit_
            if signal := signal_of_exit_code(exit_.code or 0):
                why = f"the sandbox died of signal {signal}"
            setup_error = self.checkout_sandbox.setup_error(exit_.code, exit_.stderr)
            why = why or setup_error or f"exit code {exit_.code}"
        if is_temporary(why):
            raise TemporaryFailure(why, hint="free memory or processes, then `ralph run` goes on")
        raise Unavailable(f"the sandbox cannot be built: {why}", hint="ralph doctor")
