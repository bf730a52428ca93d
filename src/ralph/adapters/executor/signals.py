"""What a person's Ctrl-C means: once, end in good order; twice, end now."""

import contextlib
import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final, Self

from ralph.adapters.executor.processes import Processes

CAUGHT: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[int, FrameType | None], Any] | int | None


class Signals:
    """While open, signals are noted and wake the loop; nothing is interrupted half-way."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self.interrupted: str | None = None
        """The name of the first signal that came."""
        self.last_deed: Callable[[], object] = lambda: None
        """What is left to do when there is no time for anything else: the terminal."""
        self._interrupts = 0
        self._old: dict[signal.Signals, Handler] = {}
        self._old_wakeup = -1

    def __enter__(self) -> Self:
        self._old_wakeup = signal.set_wakeup_fd(self._processes.wake_fd, warn_on_full_buffer=False)
        for number in CAUGHT:
            old = signal.getsignal(number)
            if number == signal.SIGHUP and old == signal.SIG_IGN:
                # Someone said `nohup`.
                continue
            self._old[number] = old
            signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def forgive(self) -> None:
        """The person is asked what it was meant for: the next signal counts anew."""
        self.interrupted = None
        self._interrupts = 0

    def close(self) -> None:
        """Put everything back as it was."""
        for number, old in self._old.items():
            # None: set by something that is not Python, so it cannot be put back.
            signal.signal(number, old if old is not None else signal.SIG_DFL)
        if self._old:
            signal.set_wakeup_fd(self._old_wakeup)
        self._old.clear()

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.interrupted = self.interrupted or signal.Signals(number).name
        if number == signal.SIGINT:
            self._interrupts += 1
            if self._interrupts > 1:
                self._processes.kill_now()
                # It was interrupted in the middle of something, perhaps of this very thing.
                with contextlib.suppress(Exception):
                    self.last_deed()
                os._exit(130)
