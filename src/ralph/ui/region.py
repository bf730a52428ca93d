"""The part of a terminal that is drawn again and again, below lines that stay.

Rich's own Live is not used: it ends the process when the terminal goes away, erases before it
draws (which flickers), and leaves rubbish behind when the window becomes narrower.
"""

import contextlib
import os
from collections.abc import Sequence
from typing import Final, NamedTuple

from ralph.ui.outlet import Outlet

# Synchronised output where the terminal knows it; no wrapping, since a character that is wider
# than we think must not push the rest down.
BEGIN: Final = "\x1b[?2026h\x1b[?25l\x1b[?7l\r"
END: Final = "\x1b[J\x1b[?7h\x1b[?2026l"
SHOW_CURSOR: Final = "\x1b[?25h"
TOP: Final = "\x1b[H\x1b[J"
REST_OF_LINE: Final = "\x1b[K"


class Size(NamedTuple):
    """Of a terminal, in characters."""

    columns: int
    lines: int


class Region:
    """Draws rows over the rows drawn before."""

    def __init__(self, out: Outlet) -> None:
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
            self._out.offer(self._over([], []))
            self._height = 0
        self._echo.restore()
        self._out.offer(SHOW_CURSOR)

    def draw(self, stay: Sequence[str], rows: Sequence[str], *, afresh: bool = False) -> bool:
        """Print rows that stay, and the region below them; False if the terminal is not reading.

        Without a region it is the last time, so then it is worth waiting for.

        `afresh` empties the window first: when its width changes, some terminals fold what was
        drawn and some cut it, so that nobody knows where the region begins.
        """
        self._look_around()
        if not rows:
            self._out.write(self._over(stay, rows, afresh=afresh))
        elif self._is_away or not self._out.offer(self._over(stay, rows, afresh=afresh)):
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

        Whoever never was in front, such as a child of `timeout`, is watched all the same.
        """
        in_front = _is_in_front(self._out.fd)
        if in_front is False:
            if self._was_in_front:
                self._is_away, self._height = True, 0
        elif self._is_away:
            self.enter()

    def close(self) -> None:
        """Leave the terminal as it was found."""
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
        if self._was_on:
            self._set(on=True)

    def _set(self, *, on: bool) -> bool:
        """Return how it was."""
        try:
            import termios
        except ImportError:
            return False
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
    """Do we have the terminal? None where there is none, or nobody shares it."""
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
