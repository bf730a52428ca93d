"""The ordered stop: ask, insist, end."""

import contextlib
import os
import signal
import subprocess
from typing import Final

# An agent that gets SIGINT ends its tools and writes its result; one that gets SIGTERM may leave
# its tools running. So SIGINT comes first.
ORDER: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class Stopping:
    """A child's group on its way out."""

    def __init__(self, group: int, grace_s: float, now: float, *, at_once: bool = False) -> None:
        self._group = group
        self._grace_s = grace_s
        self._left = list(ORDER[-1:] if at_once else ORDER)
        self.next_at = now
        self.given_up = False
        """Even SIGKILL did not help: it runs as another user, or hangs in the kernel."""

    def step(self, now: float) -> None:
        """Send the next signal if the last one had its time."""
        if now < self.next_at:
            return
        if not self._left:
            self.given_up = True
            return
        signal_group(self._group, self._left.pop(0))
        self.next_at = now + self._grace_s


def signal_group(group: int, number: signal.Signals) -> None:
    """Signal a whole group, the stopped ones too."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        if number != signal.SIGKILL:
            # A stopped process gets no signal before it goes on.
            os.killpg(group, signal.SIGCONT)


def kill(child: subprocess.Popen[bytes], wait_s: float) -> None:
    """End a child and its group without asking."""
    if child.poll() is None:
        signal_group(child.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(wait_s)
