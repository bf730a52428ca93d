"""A command in a person's own terminal, to its end."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType

from ralph.adapters.executor.capture import LOOK_AGAIN_S
from ralph.adapters.executor.farewell import open_pidfd
from ralph.adapters.executor.loop import TICK_S
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


def wait_for(child: "subprocess.Popen[bytes]", over: Callable[[float], str]) -> int:
    """Wait, and pass on what people send us meanwhile. Over a limit it is ended, and told so."""
    pidfd = open_pidfd(child.pid)
    poll = select.poll()
    if pidfd is not None:
        poll.register(pidfd, select.POLLIN)
    with _passing_on(child.pid):
        while child.poll() is None:
            if limit := over(time.monotonic()):
                sys.stderr.write(f"ralph: the command was ended: {limit}\n")
                signal_group(child.pid, signal.SIGKILL)
                return child.wait()
            poll.poll(TICK_S * 1000 if pidfd is not None else LOOK_AGAIN_S * 1000)
    if pidfd is not None:
        os.close(pidfd)
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
