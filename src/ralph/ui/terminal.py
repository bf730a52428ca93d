"""The terminal: a region that is redrawn below permanent lines, Ctrl-Z, and links.

Rich's own Live is not used: it ends the process when the terminal goes away, erases before it
draws (which flickers), and leaves rubbish behind when the window becomes narrower.
"""

import contextlib
import os
import signal
import termios
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, Final, NamedTuple, TextIO
from urllib.parse import quote_from_bytes

from ralph.ui.output_stream import OutputStream

# Synchronised output where the terminal knows it; no wrapping, since a character that is wider
# than we think must not push the rest down.
BEGIN: Final = "\x1b[?2026h\x1b[?25l\x1b[?7l\r"
END: Final = "\x1b[J\x1b[?7h\x1b[?2026l"
SHOW_CURSOR: Final = "\x1b[?25h"
TOP: Final = "\x1b[H\x1b[J"
REST_OF_LINE: Final = "\x1b[K"
Handler = Callable[[int, FrameType | None], Any] | int | None
WITHOUT_LINKS = frozenset({"", "dumb", "linux"})
"""Kinds of terminal that would show the address itself."""


def can_redraw(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Is it a terminal with a cursor that moves, and with more than ASCII?"""
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "")
    return stream.isatty() and encoding == "utf8" and env.get("TERM", "") not in ("", "dumb")


class Size(NamedTuple):
    """Of a terminal, in characters."""

    columns: int
    lines: int


class TerminalRegion:
    """Draws rows over the rows drawn before."""

    def __init__(self, out: OutputStream) -> None:
        self._out = out
        self._height = 0
        self._echo = _Echo(out.fd)
        self._was_in_front = False
        self._is_away = False
        self.enter()

    def enter(self) -> None:
        """Begin below whatever others have written."""
        self._height = 0
        self._is_away = False
        self._was_in_front = self._was_in_front or _is_in_front(self._out.fd) is True
        self._echo.off()

    def leave(self) -> None:
        """Take the region away and leave the terminal to others for a while."""
        if self._height:
            self._out.write_if_ready(self._over([], []))
            self._height = 0
        self._echo.restore()
        self._out.write_if_ready(SHOW_CURSOR)

    def draw(self, stay: Sequence[str], rows: Sequence[str], *, afresh: bool = False) -> bool:
        """Print rows that stay, and the region below them; False if the terminal is not reading.

        Without a region it is the last time, so then it is worth waiting for.

        `afresh` empties the window first: when its width changes, some terminals fold what was
        drawn and some cut it, so the start of the region is unknown.
        """
        self._look_around()
        if not rows:
            self._out.write(self._over(stay, rows, afresh=afresh))
        elif self._is_away or not self._out.write_if_ready(self._over(stay, rows, afresh=afresh)):
            return False
        self._height = len(rows)
        return True

    def _over(self, stay: Sequence[str], rows: Sequence[str], *, afresh: bool = False) -> str:
        pieces = [BEGIN]
        if afresh:
            pieces.append(TOP)
        elif self._height > 1:
            pieces.append(f"\x1b[{self._height - 1}A")
        pieces.extend(f"{row}{REST_OF_LINE}\r\n" for row in stay)
        pieces.append(f"{REST_OF_LINE}\r\n".join(rows))
        pieces.append(END)
        return "".join(pieces)

    def _look_around(self) -> None:
        """After `bg` the terminal is a shell's: what we would draw falls between its lines.

        A process that never was in front, such as a child of `timeout`, draws all the same.
        """
        in_front = _is_in_front(self._out.fd)
        if in_front is False:
            if self._was_in_front:
                self._is_away, self._height = True, 0
        elif self._is_away:
            self.enter()

    def close(self) -> None:
        self._echo.restore()
        self._out.write(SHOW_CURSOR)


class _Echo:
    """Keys that a person presses would be written into the region, and Enter would move it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._was_on = False

    def off(self) -> None:
        self._was_on = self._set(on=False) or self._was_on

    def restore(self) -> None:
        """Also drop what was typed meanwhile: it was not meant for the shell."""
        if self._was_on and _is_in_front(self._fd):
            self._set(on=True)
            with contextlib.suppress(OSError, termios.error):
                termios.tcflush(self._fd, termios.TCIFLUSH)

    def _set(self, *, on: bool) -> bool:
        """Return how it was."""
        try:
            if not _is_in_front(self._fd):
                return False  # in the background a process is stopped for touching the terminal
            modes = termios.tcgetattr(self._fd)
            was_on = bool(modes[3] & termios.ECHO)
            modes[3] = modes[3] | termios.ECHO if on else modes[3] & ~termios.ECHO
            # Not after a drain: a terminal held by Ctrl-S never drains.
            termios.tcsetattr(self._fd, termios.TCSANOW, modes)
        except (OSError, termios.error):
            return False
        return was_on


def _is_in_front(fd: int) -> bool | None:
    """Is this process in the foreground? None without a terminal that processes share."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp() if fd >= 0 else None
    except OSError:
        return None


def terminal_size(fd: int) -> Size:
    """Of the terminal behind `fd`; 80 by 24 where it does not say."""
    with contextlib.suppress(OSError):
        columns, lines = os.get_terminal_size(fd)
        if columns > 0 and lines > 0:
            return Size(columns, lines)
    return Size(80, 24)


class TerminalSuspend:
    """Notes Ctrl-Z and `fg`; the screen then calls `stop` or redraws.

    A handler that drew or stopped by itself would do so in the middle of a half-written frame.
    """

    def __init__(self) -> None:
        self._noted: set[int] = set()
        self._old: dict[int, Handler] = {}

    def watch(self) -> None:
        for number in (signal.SIGTSTP, signal.SIGCONT):
            # Where job control is off it stays off.
            if signal.getsignal(number) == signal.SIG_DFL:
                self._old[number] = signal.signal(number, self._note)

    @property
    def is_asked(self) -> bool:
        """Has the person pressed Ctrl-Z?"""
        return signal.SIGTSTP in self._noted

    def stop(self) -> None:
        """Stop as any program does, until `fg`."""
        self._noted.discard(signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._note)

    def was_suspended(self) -> bool:
        """Was this process stopped since the last time that was asked?"""
        was = signal.SIGCONT in self._noted
        self._noted.discard(signal.SIGCONT)
        return was

    def close(self) -> None:
        for number, old in self._old.items():
            signal.signal(number, old)
        self._old.clear()

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._noted.add(number)


def file_url(path: str) -> str:
    """The address of a file on this machine: the terminal may be on another one.

    Every byte that is not a plain letter is escaped, so that a name can neither end the link nor
    say anything to the terminal.
    """
    host = quote_from_bytes(os.fsencode(os.uname().nodename), safe="")
    return f"file://{host}{quote_from_bytes(os.fsencode(os.path.abspath(path)))}"


def knows_links(env: Mapping[str, str]) -> bool:
    """Others show the text alone; these few would show rubbish."""
    return env.get("TERM", "") not in WITHOUT_LINKS


def link_to(path: str) -> str | None:
    """The address of a file, if this terminal knows links."""
    return file_url(path) if knows_links(os.environ) else None


def linked(text: str, path: str) -> str:
    return f"\x1b]8;;{file_url(path)}\x1b\\{text}\x1b]8;;\x1b\\"
