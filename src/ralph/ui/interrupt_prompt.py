"""The prompt after the first Ctrl-C: the session is stopped, and the user is asked how to
continue."""

import contextlib
import os
import termios
from collections.abc import Callable, Iterator

import msgspec

from ralph.core.safe_text import one_line
from ralph.core.task import Task
from ralph.ports.executor import Executor
from ralph.ports.user_interface import EventSink
from ralph.ui.output_stream import OutputStream


class TerminalPrompt(msgspec.Struct, kw_only=True):
    """A `UserPrompt`, reached by way of the terminal that the run has."""

    executor: Executor
    screen: EventSink
    keyboard: int
    out: OutputStream
    clear_signal: Callable[[], bool]
    """Takes back the signal that led here; False if a second one has come already."""
    typed: str | None = None
    is_gone: bool = False

    def ask_guidance(self, task: Task, tick: Callable[[], bool]) -> str | None:
        """One line; the run listens to others meanwhile."""
        if not self.clear_signal():
            return None
        self.typed, self.is_gone = None, False
        with self.screen.suspended(), self._listening():
            self.out.write(
                f"\nstopped: {task.name} {one_line(task.title, 60)}\n"
                "What should its next session know? Enter goes on without, Ctrl-C ends the run.\n> "
            )

            def is_over() -> bool:
                return tick() or self.typed is not None or self.is_gone

            while not is_over():
                self.executor.sleep(3600.0, is_over)
            if self.typed is None:
                self.out.write("\n")
        return self.typed

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        # An Enter from before the question does not answer it.
        with contextlib.suppress(OSError, termios.error):
            termios.tcflush(self.keyboard, termios.TCIFLUSH)
        self.executor.watch(self.keyboard, self._read_line)
        try:
            yield
        finally:
            self.executor.unwatch(self.keyboard)

    def _read_line(self) -> None:
        """A terminal hands out whole lines. Nothing at all is Ctrl-D, or a closed window."""
        try:
            line = os.read(self.keyboard, 64 * 1024)
        except OSError:
            line = b""
        if line:
            self.typed = line.decode("utf-8", "replace").strip()
        else:
            self.is_gone = True
            self.executor.unwatch(self.keyboard)
