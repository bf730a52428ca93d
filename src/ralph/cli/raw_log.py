"""The end of a raw log, made safe to look at."""

import os
import sys
from typing import Final

from ralph.core.safe_text import block
from ralph.files import open_regular

MOST: Final = 4 * 1024 * 1024
"""How far back to look: one line of a log may be as long as it likes."""
WIDTH: Final = 2000
"""Longer lines are cut on the screen; `--raw` and the file have all of them."""


def show_end(path: str, lines: int, *, raw: bool) -> None:
    """Print the last lines of a log."""
    try:
        end = last_lines(path, lines)
    except FileNotFoundError:
        return
    except OSError as error:
        print(f"ralph: cannot read {path}: {error.strerror}", file=sys.stderr)
        return
    if raw:
        sys.stdout.flush()
        sys.stdout.buffer.write(end)
        return
    shown = safe(end).rstrip("\n")
    if shown:
        print(f"\n{shown}")


def last_lines(path: str, lines: int) -> bytes:
    """The last lines of a file, without reading the rest of it."""
    with open_regular(path) as file:
        position = file.seek(0, os.SEEK_END)
        first = max(0, position - MOST)
        tail = b""
        while position > first and tail.count(b"\n") <= lines:
            step = min(65536, position - first)
            position -= step
            file.seek(position)
            tail = file.read(step) + tail
    return b"".join(tail.splitlines(keepends=True)[-lines:]) if lines else b""


def safe(data: bytes) -> str:
    """Bytes of a log as text for a terminal: control characters visible, long lines cut."""
    lines = block(data.decode("utf-8", "replace").replace("\r\n", "\n")).split("\n")
    return "\n".join(line if len(line) <= WIDTH else f"{line[:WIDTH]}…" for line in lines)
