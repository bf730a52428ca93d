"""A little colour, only where a person sees it."""

import os
import sys
from argparse import Namespace
from typing import TextIO

from ralph.core.safe_text import one_line
from ralph.core.task import Status
from ralph.ui.tables import COLORS
from ralph.wiring.project import Project


class Screen:
    """Paints text, or leaves it alone."""

    def __init__(self, args: Namespace, project: Project | None = None) -> None:
        setting = project.loaded.config.ui.color if project else "auto"
        self.has_colour = _wanted(args.color, setting, sys.stdout)

    def paint(self, text: str, code: str) -> str:
        """The text in a colour."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.has_colour and code else text

    def path(self, path: str) -> str:
        """A file's path; a link to it where a terminal knows links."""
        shown = one_line(path)
        if not (self.has_colour and sys.stdout.isatty()):
            return shown
        from ralph.ui.link import knows_links, linked

        return linked(shown, path) if knows_links(os.environ) else shown

    def bold(self, text: str) -> str:
        """For headings."""
        return self.paint(text, "1")

    def dim(self, text: str) -> str:
        """For what matters less."""
        return self.paint(text, "2")

    def colour(self, status: Status) -> str:
        """The colour that stands for a status."""
        return COLORS[status]

    def status(self, status: Status, width: int = 0) -> str:
        """A task's status in its colour."""
        return self.paint(status.value.ljust(width), COLORS[status])

    @property
    def width(self) -> int:
        """How wide lines may be; 0, without limit, where no person reads them."""
        if not sys.stdout.isatty():
            return 0
        from shutil import get_terminal_size

        return get_terminal_size().columns


def _wanted(flag: str | None, setting: str, stream: TextIO) -> bool:
    """Flags, then the environment, then `.ralph.toml`, then what the stream is."""
    when = flag or ("never" if os.environ.get("NO_COLOR") else setting)
    if when == "auto":
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    return when == "always"
