"""A command in a person's own terminal, to its end."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from types import FrameType

from ralph.adapters.executor.starting import NotStarted, reason
from ralph.adapters.executor.stopping import signal_group
from ralph.ports.executor import Command

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start_in_sight(command: Command) -> "subprocess.Popen[bytes]":
    """With a person's own input and output, in a session of its own.

    That session has no terminal to call its own, so it cannot type into the person's.
    """
    try:
        return subprocess.Popen(
            command.argv, cwd=command.cwd, env=command.env, close_fds=True, start_new_session=True
        )
    except OSError as error:
        raise NotStarted(reason(error, command.argv, command.cwd)) from error


def wait_for(child: "subprocess.Popen[bytes]") -> int:
    """Wait, and pass on what people send us meanwhile."""
    with _passing_on(child.pid):
        return child.wait()


@contextlib.contextmanager
def _passing_on(group: int) -> Iterator[None]:
    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        signal_group(group, signal.Signals(number))

    before = {number: signal.signal(number, pass_on) for number in PASSED_ON}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
