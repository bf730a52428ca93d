"""Running something behind the wall."""

from ralph.core.ending import Exit
from ralph.core.errors import TemporaryFailure, Unavailable
from ralph.core.ids import TaskId
from ralph.core.temporary import is_temporary, killed_by
from ralph.engine.kit import Kit
from ralph.ports.executor import Command, Listener, Timeouts

TRIES = 5
"""Something that a wall was to cover may go away just when it is built, and more of it the next
time."""

PAUSE_S = 0.1
"""Before a command is tried again for which there was no memory, or no process; each further one
takes longer."""


def run_enclosed(
    kit: Kit,
    command: Command,
    *,
    log: str,
    timeouts: Timeouts,
    listener: Listener,
    line_limit: int = 64 * 1024,
    home: str = "",
    task: TaskId | None = None,
) -> Exit:
    """Run to the end, and say what was found when the wall came down."""
    why = ""
    for attempt in range(TRIES):
        if is_temporary(why):
            kit.executor.wait(why, PAUSE_S * 3**attempt, lambda: bool(kit.interrupted()))
        with kit.wall.around(command, home=home) as inside:
            exit_ = kit.executor.run(
                inside.command, log=log, timeouts=timeouts, listener=listener, line_limit=line_limit
            )
            stood = inside.has_started or exit_.code is None or exit_.stop is not None
        for warning in inside.warnings:
            kit.warn(warning, task)
        why = exit_.error if exit_.code is None else ""
        if stood and not is_temporary(why):
            return exit_
        if signal := killed_by(exit_.code or 0):
            why = f"the sandbox died of signal {signal}"
        why = why or kit.wall.has_failed(exit_) or f"exit code {exit_.code}"
    if is_temporary(why):
        raise TemporaryFailure(why, hint="see to memory and processes, then `ralph run` goes on")
    raise Unavailable(f"the sandbox cannot be built: {why}", hint="ralph doctor")
