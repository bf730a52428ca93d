"""Simple commands: words, assignments and redirections, up to the sign that ends them."""

import re
from typing import Final

from ralph.core.shell.cursor import BLANK
from ralph.core.shell.heredocs import Heredocs
from ralph.core.shell.tree import Assignment, Redirect, Simple, Word

BARE: Final = re.compile(r"(?:[^ \t\r\n;&|()<>'\"\\$`]++|\\\n)++(?=[ \t\n;&|()<>]|\r\n|\r?\Z)")
COMMENT: Final = re.compile(r"#[^\n]*")
ASSIGNED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^]=\s]*\])?(\+?)=")
REDIRECTED: Final = re.compile(
    r"(?P<number>[0-9]*|\{[A-Za-z_][A-Za-z0-9_]*\})"
    r"(?P<operator><<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)"
)
ENDS: Final = ("", "\n", ";", "&", "|", ")")
DECLARES: Final = frozenset({"declare", "typeset", "local", "export", "readonly", "eval"})
"""Their arguments may be arrays."""


class Simples(Heredocs):
    """Reads simple commands, and skips what is between commands."""

    def gap(self) -> None:
        """Skip blanks, comments and ends of lines."""
        self.blank()
        while self.skip("\n"):
            self.bodies()
            self.blank()

    def blank(self) -> None:
        """Skip blanks, and a comment up to the end of the line."""
        self.take(BLANK)
        if self.peek() == "#":
            self.take(COMMENT)

    def bare(self) -> str:
        """The next word if it is without quotes and expansions; it stays before us."""
        found = BARE.match(self.text, self.at)
        if found is None:
            return ""
        word = found.group()
        return word.replace("\\\n", "") if "\\" in word else word

    def next_bare(self) -> str:
        """The same, and it is behind us."""
        word = self.bare()
        self.take(BARE)
        self.take(BLANK)
        return word

    def keyword(self, *words: str) -> str:
        """One of these has to be the next word."""
        self.gap()
        if self.bare() not in words:
            raise self.trouble("" if self.peek() else f"no `{words[0]}`")
        return self.next_bare()

    def redirects(self) -> tuple[Redirect, ...]:
        """Those that stand here."""
        found: list[Redirect] = []
        self.blank()
        while self._redirect(found):
            self.blank()
        return tuple(found)

    def _redirect(self, redirects: list[Redirect]) -> bool:
        found = REDIRECTED.match(self.text, self.at)
        if found is None:
            return False
        self.at = found.end()
        operator, number = found.group("operator", "number")
        self.take(BLANK)
        if operator in ("<<", "<<-"):
            words = self.delimiter(indented=operator == "<<-").found
            operator = "<<"
        else:
            words = [self.word()]
        redirects.append(Redirect(operator=operator, number=number, words=words))
        return True

    def simple(self) -> Simple:
        """Words, assignments and redirections in any order that the shell takes."""
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        declares = False
        self.blank()
        start = end = self.at
        while True:
            self.blank()
            if self._redirect(redirects):
                continue
            if self.peek() in ENDS or (self.peek() == "(" and len(words) == 1):
                break
            assigned = ASSIGNED.match(self.text, self.at) if not words or declares else None
            is_array = assigned is not None and self.text.startswith("(", assigned.end())
            if assigned is not None and (is_array or not words):
                assignments.append(self._assignment(assigned, is_array=is_array))
                end = self.at
                continue
            if not words:
                declares = self.bare() in DECLARES
            words.append(self.word())
            end = self.at
        if not (words or assignments or redirects):
            raise self.trouble()
        return Simple(
            words=tuple(words),
            assignments=tuple(assignments),
            redirects=tuple(redirects),
            start=self.place(start),
            end=self.place(end if end > start else self.at),
        )

    def _assignment(self, found: re.Match[str], *, is_array: bool) -> Assignment:
        name, index, adds = found.group(1, 2, 3)
        words: list[Word] = []
        if is_array:
            self.at = found.end() + 1
            self.gap()
            while not self.skip(")"):
                words.append(self.word())
                self.gap()
        elif index:
            # The index is read with the word: it may hold substitutions.
            words.append(self.word())
        else:
            self.at = found.end()
            nothing = self.peek() in (*ENDS, " ", "\t", "\r", "<", ">")
            is_empty = nothing and self.peek(2) not in ("<(", ">(")
            words.append(Word(parts=()) if is_empty else self.word())
        return Assignment(
            name=name,
            words=tuple(words),
            array=is_array,
            adds=bool(adds) or bool(index),
            indexed=bool(index) and not is_array,
        )
