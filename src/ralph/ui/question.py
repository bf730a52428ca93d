"""The first Ctrl-C: the session is stopped, and the person is asked how to go on."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TextIO

from ralph.core.safe_text import one_line
from ralph.core.task import Task
from ralph.ports.executor import Executor
from ralph.ports.sink import Sink
from ralph.ui.outlet import Outlet


class AtTerminal:
    """A `Person`, reached by way of the terminal that the run has."""

    def __init__(
        self,
        executor: Executor,
        screen: Sink,
        keyboard: int,
        terminal: TextIO,
        forgive: Callable[[], object],
    ) -> None:
        """`forgive` takes back the signal that led here, so that the next one counts anew."""
        self._executor = executor
        self._screen = screen
        self._keyboard = keyboard
        self._out = Outlet(terminal)
        self._forgive = forgive
        self._typed: str | None = None
        self._is_gone = False

    def guidance(self, task: Task, tick: Callable[[], bool]) -> str | None:
        """One line; the run listens to others meanwhile."""
        self._forgive()
        self._typed, self._is_gone = None, False
        with self._screen.aside(), self._listening():
            self._out.write(
                f"\nstopped: {task.name} {one_line(task.title, 60)}\n"
                "What should its next session know? Enter goes on without, Ctrl-C ends the run.\n> "
            )

            def is_over() -> bool:
                return tick() or self._typed is not None or self._is_gone

            while not is_over():
                self._executor.sleep(3600.0, is_over)
            if self._typed is None:
                self._out.write("\n")
        return self._typed

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        _drop_what_was_typed_before(self._keyboard)
        self._executor.watch(self._keyboard, self._hear)
        try:
            yield
        finally:
            self._executor.unwatch(self._keyboard)

    def _hear(self) -> None:
        """A terminal hands out whole lines. Nothing at all is Ctrl-D, or a closed window."""
        try:
            line = os.read(self._keyboard, 64 * 1024)
        except OSError:
            line = b""
        if line:
            self._typed = line.decode("utf-8", "replace").strip()
        else:
            self._is_gone = True
            self._executor.unwatch(self._keyboard)


def _drop_what_was_typed_before(keyboard: int) -> None:
    """An Enter from before the question is no answer to it."""
    try:
        import termios
    except ImportError:
        return
    with contextlib.suppress(OSError, termios.error):
        termios.tcflush(keyboard, termios.TCIFLUSH)
