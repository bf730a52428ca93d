"""Clean up at once after a killed Ralph, as the next run would do when it starts.

Until it has looked, git started by hand runs what a session has planted in the checkout. A shell
waits in its place, in a session of its own, so that it outlives Ralph's process group. It costs a
millisecond and less than a megabyte: its input ends with Ralph, after a line if that ends by
itself. Only without that line it becomes this program.
"""

import sys
from typing import Final

from ralph import MODULE

# Signals to all processes are meant for Ralph, which ends in good order.
WAIT: Final = 'trap "" INT TERM HUP; read -r goodbye || exec "$@"'


def watcher_command(state: str) -> tuple[str, ...]:
    """What to start beside Ralph; `state` is where its sandboxes keep what they need."""
    program = (*MODULE, "ralph.wiring.killed_run_cleanup", state)
    return ("/bin/sh", "-c", WAIT, "sh", *program)


def main(state: str) -> None:
    """End what is left of Ralph's commands, disarm what they planted, and leave word of it."""
    from ralph.adapters.executor.event_loop import SystemClock
    from ralph.adapters.executor.process_executor import ProcessExecutor
    from ralph.adapters.sandbox.checkout_sandbox import clear_up_after_the_dead
    from ralph.adapters.sandbox.tamper_check import leave_notes

    if said := clear_up_after_the_dead(state, ProcessExecutor(SystemClock()).end_marked):
        leave_notes(state, said)


if __name__ == "__main__":
    main(sys.argv[1])
