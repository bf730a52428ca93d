"""A place in shell text, and the bookkeeping that keeps reading it safe."""

import re
from typing import Final

from ralph.core.safe_text import one_line

DEEPEST: Final = 40
"""Levels of nesting; a person stops at five, and Python's own stack is not much deeper."""

BLANK: Final = re.compile(r"(?:[ \t]++|\\\n|\r(?=\n|\Z))+")
"""Also a backslash at the end of a line, which the shell does not see at all, and the rest of a
line's end from Windows; anywhere else that is a letter."""

CONTINUED: Final = re.compile(r"(?:\\\n)+")


class NotShell(Exception):
    """The text is no valid shell, or too deep to be read."""

    def __init__(self, reason: str, at: int, *, is_deep: bool = False) -> None:
        super().__init__(reason)
        self.at = at
        """Where in the source, or -1."""
        self.is_deep = is_deep


class Cursor:
    """Text and how far it has been read."""

    def __init__(self, text: str, base: int, depth: int) -> None:
        self.text = text
        self.base = base
        """Where the text begins in the source; -1 when it does not stand there just so."""
        self.depth = depth
        self.at = 0

    def place(self, at: int) -> int:
        """Where that is in the source."""
        return self.base + at if self.base >= 0 else -1

    def peek(self, length: int = 1) -> str:
        """The next characters."""
        return self.text[self.at : self.at + length]

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """What matches just here, which is then behind us."""
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def skip(self, text: str) -> bool:
        """Whether just this stands here; then it is behind us."""
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def trouble(self, why: str = "") -> NotShell:
        """What is wrong just here, in words."""
        if why:
            return NotShell(why, self.place(self.at))
        if self.at >= len(self.text):
            return NotShell("it stops before it is finished", self.place(self.at))
        shown = one_line(self.text[self.at : self.at + 20])
        return NotShell(f"an unexpected `{shown}`", self.place(self.at))

    def deeper(self) -> None:
        """One level down; `self.depth -= 1` is the way back."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotShell("it is nested too deeply", self.place(self.at), is_deep=True)
