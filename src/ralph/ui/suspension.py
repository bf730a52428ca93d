"""Ctrl-Z: the live view stands aside, and comes back when the person does."""

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

# Not on every system that Python knows.
SUSPEND: Final = getattr(signal, "SIGTSTP", None)
CONTINUE: Final = getattr(signal, "SIGCONT", None)

Handler = Callable[[int, FrameType | None], Any] | int | None


class Suspension:
    """Notes that the terminal is wanted, or was used by others; acts only when it is told to.

    A handler that drew or stopped by itself would do so in the middle of a half-written frame.
    """

    def __init__(self) -> None:
        self.is_asked = False
        """The person has pressed Ctrl-Z."""
        self._came_back = False
        self._old: dict[int, Handler] = {}

    def watch(self) -> None:
        """From now on."""
        for number, note in ((SUSPEND, self._ask), (CONTINUE, self._come_back)):
            # Where job control is off it stays off.
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                self._old[number] = signal.signal(number, note)

    def stop(self) -> None:
        """Stop as any program does, until someone says `fg`."""
        self.is_asked = False
        if SUSPEND is None:
            return
        signal.signal(SUSPEND, signal.SIG_DFL)
        os.kill(os.getpid(), SUSPEND)
        signal.signal(SUSPEND, self._ask)

    def came_back(self) -> bool:
        """Was this process stopped since the last time that was asked?"""
        came, self._came_back = self._came_back, False
        return came

    def close(self) -> None:
        """Put everything back as it was."""
        for number, old in self._old.items():
            signal.signal(number, old)
        self._old.clear()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.is_asked = True

    def _come_back(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._came_back = True
