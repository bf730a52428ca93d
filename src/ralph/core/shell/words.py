"""Reads words of shell text: quotes, and what begins with a dollar sign or a backtick."""

import re
import sys
from typing import Final

from ralph.core.safe_text import one_line
from ralph.core.shell.tree import LiteralText, Part, ShellScript, Substitution, VariableUse, Word

DEEPEST: Final = 40
"""Levels of nesting; a person stops at five, and Python's own stack is not much deeper."""
BLANK: Final = re.compile(r"(?:[ \t]++|\\\n|\r(?=\n|\Z))+")
"""A shell ignores a backslash at the end of a line. The `\r` of a Windows line end is ignored
here; anywhere else it is a letter."""
CONTINUED: Final = re.compile(r"(?:\\\n)+")
PLAIN: Final = re.compile(r"(?:[^ \t\r\n;&|()<>'\"\\$`]++|\r(?!\n|\Z))++")
IN_QUOTES: Final = re.compile(r"[^\"\\$`]+")
IN_TEXT: Final = re.compile(r"[^\\$`]+")
IN_BRACES: Final = re.compile(r"[^}'\"\\$`<>]+|[<>]")
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PARAMETER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]")
BRACED: Final = re.compile(r"([!#]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
INDEX: Final = re.compile(r"\[[^]\[$`'\"\\]*\]")
DEFAULTS: Final = re.compile(r":?[-=+?]")
SINGLE_QUOTED: Final = re.compile(r"'([^']*+)'")
ANSI_QUOTED: Final = re.compile(r"'((?:[^'\\]++|\\.)*+)'", re.DOTALL)
BACKTICKED: Final = re.compile(r"`((?:[^`\\]++|\\.)*+)`", re.DOTALL)
BRACKET: Final = re.compile(
    r"(?:[^()'\"\\]++|\\.|'[^']*+'|\"(?:[^\"\\]++|\\.)*+\")*+([()])", re.DOTALL
)
"""Up to the next bracket in arithmetic."""
ESCAPED: Final = dict(zip("abeEfnrtv\\'\"?", "\a\b\033\033\f\n\r\t\v\\'\"?", strict=True))
ESCAPE: Final = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))", re.DOTALL
)


class TooDeep(Exception):
    """The text is nested more deeply than any text that people write."""


class ShellSyntaxError(Exception):
    """The text is not valid shell."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.at = at
        """Where in the source, or -1."""


class WordReader:
    """Reads words from a text; `Grammar` reads the scripts inside `$(…)`."""

    def __init__(self, text: str, base: int = 0, depth: int = 0) -> None:
        self.text = text
        self.base = base
        """Where the text begins in the source; -1 when it is not there unchanged."""
        self.depth = depth
        self.at = 0

    def place(self, at: int) -> int:
        """The position in the source."""
        return self.base + at if self.base >= 0 else -1

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """Skip and return what matches here."""
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def skip(self, text: str) -> bool:
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def error(self, why: str = "") -> ShellSyntaxError:
        """What is wrong here."""
        if not why and self.at < len(self.text):
            why = f"an unexpected `{one_line(self.text[self.at : self.at + 20])}`"
        return ShellSyntaxError(why or "it stops before it is finished", self.place(self.at))

    def deeper(self) -> None:
        """Enter one level of nesting; `self.depth -= 1` leaves it."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep("it is nested too deeply")

    def script(self) -> ShellScript:
        raise NotImplementedError

    def script_in_brackets(self) -> ShellScript:
        """Read a script up to the bracket that closes it."""
        script = self.script()
        if not self.skip(")"):
            raise self.error()
        return script

    def word(self) -> Word:
        """Read one word; there is one here."""
        start = self.at
        parts: list[Part] = []
        while True:
            if (plain := self.take(PLAIN)) is not None:
                parts.append(LiteralText(text=plain))
            elif self.take(CONTINUED) is None and not self._quoted_or_expanded(parts):
                break
        if self.at == start:
            raise self.error()
        return Word(parts=tuple(parts), start=self.place(start))

    def expanded_text(self, plain: re.Pattern[str], end: str = "") -> list[Part]:
        """Read text in which only dollars, backticks and backslashes are special, up to its end."""
        parts: list[Part] = []
        while not (end and self.skip(end)):
            if self.at >= len(self.text):
                if end:
                    raise self.error(f"a {end} that is never closed")
                break
            if (text := self.take(plain)) is not None:
                parts.append(LiteralText(text=text, quoted=True))
            elif self.peek() == "$":
                parts += self._dollar(quoted=True)
            elif self.peek() == "`":
                parts.append(self._backticks(quoted=True))
            elif self.take(CONTINUED) is None:
                after = self.peek(2)[1:]
                is_escape = after != "" and after in f"$`\\{end}"
                parts.append(LiteralText(text=after if is_escape else f"\\{after}", quoted=True))
                self.at += 2
        return parts

    def arithmetic(self) -> Word | None:
        """`((…))`, or None when these are two subshells, one in the other."""
        level, at = 0, self.at + 2
        while (found := BRACKET.match(self.text, at)) is not None:
            at = found.end()
            level += 1 if found[1] == "(" else -1
            if not 0 <= level <= DEEPEST:
                break
        if found is None and self.text.find(")", at) < 0:
            raise self.error()
        if level >= 0 or not self.text.startswith(")", at):
            return None
        self.deeper()
        start = self.at + 2
        inner = type(self)(self.text[start : at - 1], self.place(start), self.depth)
        word = Word(parts=tuple(inner.expanded_text(IN_TEXT)))
        self.depth -= 1
        self.at = at + 1
        return word

    def _enclosed(self, pattern: re.Pattern[str]) -> str:
        """Skip a pair of quotes, and return what is between them."""
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self.error(f"a {self.peek()} that is never closed")
        self.at = found.end()
        return found[1]

    def _quoted_or_expanded(self, parts: list[Part]) -> bool:
        match self.peek():
            case "'":
                parts.append(LiteralText(text=self._enclosed(SINGLE_QUOTED), quoted=True))
            case '"':
                parts += self._double_quoted()
            case "\\":
                parts.append(LiteralText(text=self.peek(2)[1:], quoted=True))
                self.at += 2
            case "$":
                parts += self._dollar(quoted=False)
            case "`":
                parts.append(self._backticks(quoted=False))
            case "<" | ">" as kind if self.peek(2)[1:] == "(":
                self.at += 2
                parts.append(Substitution(script=self.script_in_brackets(), kind=kind))
            case _:
                return False
        return True

    def _double_quoted(self) -> list[Part]:
        self.at += 1
        return self.expanded_text(IN_QUOTES, '"') or [LiteralText(text="", quoted=True)]

    def _dollar(self, *, quoted: bool) -> list[Part]:
        self.at += 1
        self.take(CONTINUED)
        match self.peek():
            case "(":
                if self.peek(2) == "((" and (sum_ := self.arithmetic()) is not None:
                    return [VariableUse(name="#", word=sum_, quoted=quoted)]
                self.at += 1
                return [Substitution(script=self.script_in_brackets(), quoted=quoted)]
            case "{":
                return [self._braces(quoted=quoted)]
            case "'" if not quoted:
                text = ESCAPE.sub(_unescaped, self._enclosed(ANSI_QUOTED))
                return [LiteralText(text=text, quoted=True)]
            case '"' if not quoted:
                return self._double_quoted()
        name = self.take(PARAMETER)
        if name is None:
            return [LiteralText(text="$", quoted=True)]
        return [VariableUse(name=name, quoted=quoted)]

    def _braces(self, *, quoted: bool) -> VariableUse:
        self.deeper()
        self.at += 1
        found = BRACED.match(self.text, self.at)
        if found is None:
            raise self.error()
        sign, name = found.groups()
        self.at = found.end()
        if sign and self.peek() not in tuple("}[:@*"):
            # `${#}`, `${!}` and the like: the sign is the name.
            self.at, sign, name = found.start() + 1, "", sign
        self.take(INDEX)
        operator = self.take(DEFAULTS) or ""
        parts: list[Part] = []
        while not self.skip("}"):
            if self.peek(2) in ("<(", ">(") and not quoted:
                self._quoted_or_expanded(parts)
            elif (text := self.take(IN_BRACES)) is not None:
                parts.append(LiteralText(text=text, quoted=quoted))
            elif self.at >= len(self.text):
                raise self.error("a ${ that is never closed")
            elif self.take(CONTINUED) is None:
                self._quoted_or_expanded(parts)
        self.depth -= 1
        return VariableUse(
            name=name,
            operator="!" if sign or (parts and not operator) else operator,
            word=Word(parts=tuple(parts)) if parts else None,
            quoted=quoted,
        )

    def _backticks(self, *, quoted: bool) -> Substitution:
        start = self.at + 1
        written = self._enclosed(BACKTICKED)
        text = re.sub(r'\\([$`"\\])' if quoted else r"\\([$`\\])", r"\1", written)
        inner = type(self)(text, self.place(start) if text == written else -1, self.depth)
        script = inner.script()
        if inner.at < len(text):
            raise inner.error()
        return Substitution(script=script, quoted=quoted)


def _unescaped(found: re.Match[str]) -> str:
    """What a backslash in `$'…'` means."""
    if found[5]:
        return ESCAPED.get(found[5], "\\" + found[5])
    code = int(found[found.lastindex or 0], 8 if found[1] else 16)
    # A zero ends the string in a shell, and means "unknown" here.
    return chr(code) if 0 < code <= sys.maxunicode else ""
