"""The event loop over pipes, process exits, watched files and signals; and the system's clocks."""

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


class EventLoop:
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
        self.add(self._wake_read, self._read_wake)

    def add(self, fd: int, ready: Ready, *, writing: bool = False) -> None:
        """Call `ready` whenever `fd` can be read, has come to its end, or takes more."""
        self.remove(fd)
        events = selectors.EVENT_WRITE if writing else selectors.EVENT_READ
        self._selector.register(fd, events, ready)
        self._calls[fd] = ready

    def remove(self, fd: int) -> None:
        """Forget `fd`. Call it before `fd` is closed."""
        if self._calls.pop(fd, None) is not None:
            self._selector.unregister(fd)

    def run_once(self, timeout_s: float) -> bool:
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

    def _read_wake(self) -> None:
        self._woken = True
        try:
            while len(os.read(self._wake_read, 4096)) == 4096:
                pass
        except BlockingIOError:
            pass

    def close(self) -> None:
        self._selector.close()
        self._calls.clear()
        os.close(self._wake_read)
        os.close(self.wake_fd)


class SystemClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()
