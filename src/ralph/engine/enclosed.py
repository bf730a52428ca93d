"""Running something behind the wall."""

from ralph.core.ending import Exit
from ralph.core.errors import Unavailable
from ralph.core.ids import TaskId
from ralph.engine.kit import Kit
from ralph.ports.executor import Command, Listener, Timeouts

TRIES = 5
"""Something that a wall was to cover may go away just when it is built, and more of it the next
time."""


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
    exit_ = Exit()
    for _ in range(TRIES):
        with kit.wall.around(command, home=home) as inside:
            exit_ = kit.executor.run(
                inside.command, log=log, timeouts=timeouts, listener=listener, line_limit=line_limit
            )
            stood = inside.has_started or exit_.code is None or exit_.stop is not None
        for warning in inside.warnings:
            kit.warn(warning, task)
        if stood:
            return exit_
    why = kit.wall.has_failed(exit_) or f"exit code {exit_.code}"
    raise Unavailable(f"the sandbox cannot be built: {why}", hint="ralph doctor")
