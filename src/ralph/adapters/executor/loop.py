"""The one loop: pipes, exits, watched files and signals all wake it; nothing polls."""

import os
import selectors
import time
from collections.abc import Callable
from typing import Final

TICK_S: Final = 0.4
"""A little under half a second, so that being late by a block of output keeps the promise."""
TURN_S: Final = 0.1
"""How long one turn serves files before it looks at signals and timers again."""

Ready = Callable[[], object]


class Loop:
    """Waits for whatever comes first, and calls whoever asked for it."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._calls: dict[int, Ready] = {}
        self._woken = False
        self._left: set[int] = set()
        """Files that were ready in the last turn and had no time left."""
        self._wake_read, self.wake_fd = os.pipe()
        # Signals write here from C code: a full pipe must not block them.
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self.wake_fd, False)
        self.add_reader(self._wake_read, self._hear_wake)

    def add_reader(self, fd: int, ready: Ready) -> None:
        """Call `ready` whenever `fd` can be read, or has come to its end."""
        self._add(fd, selectors.EVENT_READ, ready)

    def add_writer(self, fd: int, ready: Ready) -> None:
        """Call `ready` whenever `fd` takes more."""
        self._add(fd, selectors.EVENT_WRITE, ready)

    def _add(self, fd: int, events: int, ready: Ready) -> None:
        self.remove(fd)
        self._selector.register(fd, events, ready)
        self._calls[fd] = ready

    def remove(self, fd: int) -> None:
        """Forget `fd`. Call it before `fd` is closed."""
        if self._calls.pop(fd, None) is not None:
            self._selector.unregister(fd)

    def turn(self, timeout_s: float) -> bool:
        """Wait for something and serve it. True if a signal came."""
        self._woken = False
        ready = self._selector.select(timeout_s)
        # A flood at one file must not starve the others: who had to wait comes first.
        ready.sort(key=lambda one: one[0].fd not in self._left)
        until = time.monotonic() + TURN_S
        for place, (key, _) in enumerate(ready):
            # One call may have removed the next one's file.
            call = self._calls.get(key.fd)
            if call is not None and call is key.data:
                call()
            if time.monotonic() > until:
                self._left = {one.fd for one, _ in ready[place + 1 :]}
                break
        else:
            self._left = set()
        return self._woken

    def _hear_wake(self) -> None:
        self._woken = True
        try:
            while len(os.read(self._wake_read, 4096)) == 4096:
                pass
        except BlockingIOError:
            pass

    def close(self) -> None:
        """Give the files back."""
        self._selector.close()
        self._calls.clear()
        os.close(self._wake_read)
        os.close(self.wake_fd)
