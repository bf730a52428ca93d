"""Here-documents: their delimiters, and the bodies that stand after the line."""

import re
from typing import Final

from ralph.core.shell.tree import Text, Word
from ralph.core.shell.words import Waiting, Words

DELIMITER: Final = re.compile(
    r"(?:[^ \t\n;&|()<>'\"\\]++|\\.|'[^']*+'|\"(?:[^\"\\]++|\\.)*+\")++", re.DOTALL
)
QUOTING: Final = re.compile(r"\$?'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)


class Heredocs(Words):
    """Reads words, and here-documents between the lines."""

    def delimiter(self, *, indented: bool) -> Waiting:
        """The word after `<<`; the body follows later."""
        written = self.take(DELIMITER)
        if written is None:
            raise self.trouble()
        end = QUOTING.sub(lambda found: found[1] or found[2] or found[3] or "", written)
        waiting = Waiting(end=end, quoted=end != written, indented=indented, found=[])
        self.waiting.append(waiting)
        return waiting

    def bodies(self) -> None:
        """Read all that wait; a line has just ended."""
        all_waiting, self.waiting = self.waiting, []
        for waiting in all_waiting:
            start = self.at
            lines = self._lines(waiting)
            written = self.text[start : start + sum(map(len, lines))]
            body = "".join(line.lstrip("\t") if waiting.indented else line for line in lines)
            base = self.place(start) if body == written else -1
            if waiting.quoted:
                parts: tuple[Text, ...] = (Text(text=body, quoted=True, start=base),)
                waiting.found.append(Word(parts=parts))
            else:
                inner = type(self)(body, base, self.depth + 1)
                waiting.found.append(Word(parts=inner.heredoc_parts()))
                self.mistakes += inner.mistakes

    def _lines(self, waiting: Waiting) -> list[str]:
        """The lines of the body as the shell joins them; the last one is behind us."""
        lines: list[str] = []
        while self.at < len(self.text):
            pieces = [self._line()]
            while not waiting.quoted and _goes_on(pieces[-1]) and self.at < len(self.text):
                pieces[-1] = pieces[-1][:-2]
                pieces.append(self._line())
            line = "".join(pieces)
            plain = line.removesuffix("\n")
            if (plain.lstrip("\t") if waiting.indented else plain) == waiting.end:
                break
            lines.append(line)
        return lines

    def _line(self) -> str:
        end = self.text.find("\n", self.at) + 1 or len(self.text)
        line = self.text[self.at : end]
        self.at = end
        return line


def _goes_on(line: str) -> bool:
    """Whether the next line belongs to this one: an odd number of backslashes ends it."""
    text = line.removesuffix("\n")
    return text != line and (len(text) - len(text.rstrip("\\"))) % 2 == 1
