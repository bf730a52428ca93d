"""Signal handling: the first Ctrl-C ends the run in good order, the second ends it at once."""

import contextlib
import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, Self

from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.ports.executor import SECOND

CAUGHT: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

LIMIT_S: Final = 5.0
"""How long an end in good order may take, beyond the time that the agent has to end."""
GAVE_UP: Final = b"""ralph: interrupted, and something did not end in time
hint: the next run puts everything in order
"""

Handler = Callable[[int, FrameType | None], Any] | int | None


class Signals:
    """While open, signals are noted and wake the loop; nothing is interrupted half-way."""

    def __init__(self, processes: ProcessExecutor) -> None:
        self._processes = processes
        self.interrupted: str | None = None
        """The name of the first signal that came, or `SECOND`."""
        self.restore_terminal: Callable[[], object] = lambda: None
        """Called before Ralph exits at once."""
        self.limit_s = processes.grace_s + LIMIT_S
        """Whatever the run waits for when a signal comes, it ends after so long."""
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def clear(self) -> bool:
        """The person is asked what it was meant for, and the next signal counts as the first.
        False: a second one came meanwhile, so there is nothing to ask."""
        if self.interrupted == SECOND:
            return False
        self.interrupted = None
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._processes.clear_interrupt()
        return True

    def interrupt(self, name: str) -> None:
        """End in good order, as if that signal had come."""
        if self.interrupted is None:
            self.interrupted = name
            self._processes.interrupt()
            signal.setitimer(signal.ITIMER_REAL, self.limit_s)

    def close(self) -> None:
        if self._old:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, old in self._old.items():
            # None: set by something that is not Python, so it cannot be restored.
            signal.signal(number, old if old is not None else signal.SIG_DFL)
        if self._old:
            signal.set_wakeup_fd(self._old_wakeup)
        self._old.clear()

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        name, first = signal.Signals(number).name, self.interrupted
        if first is None:
            self.interrupt(name)
        elif first == SECOND:
            if number == signal.SIGINT:
                self._end_now()
        # In whichever order they arrive: a lead sends its workers SIGTERM, then SIGINT.
        elif "SIGINT" in (name, first):
            self.interrupted = SECOND
            self._processes.hurry()

    def _give_up(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        with contextlib.suppress(OSError):
            os.write(2, GAVE_UP)
        self._end_now()

    def _end_now(self) -> None:
        self._processes.kill_now()
        # It was interrupted in the middle of something, perhaps of this very thing.
        with contextlib.suppress(Exception):
            self.restore_terminal()
        os._exit(130)
