"""What Ctrl-C means: once, end in good order and within a bounded time; twice, end now."""

import contextlib
import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final, Self

from ralph.adapters.executor.processes import Processes

CAUGHT: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

LIMIT_S: Final = 5.0
"""How long an end in good order may take, beyond the time that the agent has to end."""
GAVE_UP: Final = b"""ralph: interrupted, and something did not end in time
hint: the next run puts everything in order
"""

Handler = Callable[[int, FrameType | None], Any] | int | None


class Signals:
    """While open, signals are noted and wake the loop; nothing is interrupted half-way."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self.interrupted: str | None = None
        """The name of the first signal that came."""
        self.last_deed: Callable[[], object] = lambda: None
        """What is left to do when there is no time for anything else: the terminal."""
        self.limit_s = processes.grace_s + LIMIT_S
        """Whatever the run waits for when a signal comes, it ends after so long."""
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
        self._old[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._give_up)
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
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._processes.forgive()

    def interrupt(self, name: str) -> None:
        """End in good order, as if that signal had come."""
        if self.interrupted is None:
            self.interrupted = name
            self._processes.interrupt()
            signal.setitimer(signal.ITIMER_REAL, self.limit_s)

    def close(self) -> None:
        """Put everything back as it was."""
        if self._old:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, old in self._old.items():
            # None: set by something that is not Python, so it cannot be put back.
            signal.signal(number, old if old is not None else signal.SIG_DFL)
        if self._old:
            signal.set_wakeup_fd(self._old_wakeup)
        self._old.clear()

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.interrupt(signal.Signals(number).name)
        if number == signal.SIGINT:
            self._interrupts += 1
            if self._interrupts > 1:
                self._end_now()

    def _give_up(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        with contextlib.suppress(OSError):
            os.write(2, GAVE_UP)
        self._end_now()

    def _end_now(self) -> None:
        self._processes.kill_now()
        # It was interrupted in the middle of something, perhaps of this very thing.
        with contextlib.suppress(Exception):
            self.last_deed()
        os._exit(130)
