"""Words: quotes, and all that begins with a dollar sign or a backtick."""

import re
from typing import Final, NamedTuple

from ralph.core.shell.cursor import CONTINUED, DEEPEST, Cursor, NotShell
from ralph.core.shell.escapes import ansi
from ralph.core.shell.tree import (
    Number,
    Part,
    Process,
    Script,
    Substitution,
    Text,
    Variable,
    Word,
)

PLAIN: Final = re.compile(r"(?:[^ \t\r\n;&|()<>'\"\\$`]++|\r(?!\n|\Z))++")
IN_QUOTES: Final = re.compile(r"[^\"\\$`]+")
IN_HEREDOC: Final = re.compile(r"[^\\$`]+")
IN_BRACES: Final = re.compile(r"[^}'\"\\$`<>]+|[<>]")
IN_SUMS: Final = re.compile(r"[^()'\"\\$`]+")
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PARAMETER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]")
BRACED: Final = re.compile(r"(?P<sign>[!#]?)(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
INDEX: Final = re.compile(r"\[([^]\[$`'\"\\]*)\]")
DEFAULTS: Final = re.compile(r":?[-=+?]")
ANSI_QUOTED: Final = re.compile(r"((?:[^'\\]++|\\.)*+)'", re.DOTALL)
SIGNS: Final = re.compile("(?P<name>[@*#?$!-])")
OLD_SUMS: Final = re.compile(r"[^]()'\"\\$`]+")
FAIR: Final = 8
"""How often the whole text may be read in vain."""
BACKTICKED: Final = re.compile(r"((?:[^`\\]++|\\.)*+)`", re.DOTALL)


class Waiting(NamedTuple):
    """A here-document whose body comes after the line."""

    end: str
    quoted: bool
    """Nothing in the body is expanded."""
    indented: bool
    """Tabs at the beginning of its lines do not count."""
    found: list[Word]
    """Where to put the body."""


class Words(Cursor):
    """Reads words. What stands in `$(…)` is left to the grammar."""

    def __init__(self, text: str, base: int = 0, depth: int = 0) -> None:
        super().__init__(text, base, depth)
        self.waiting: list[Waiting] = []
        self.mistakes: list[NotShell] = []
        """What is wrong in here-documents."""
        self.sums: dict[int, tuple[Word | None, int]] = {}
        """Kept by where they begin: whoever tries both readings at each of forty levels is never
        done."""
        self.in_vain = 0
        """Characters that were read as sums and were none."""

    def script_until(self, closing: str) -> Script:
        """A script that ends with `closing`, which is then behind us."""
        raise NotImplementedError

    def script_of(self, text: str, base: int) -> Script:
        """A text that is a script as a whole."""
        raise NotImplementedError

    def word(self) -> Word:
        """One word; there is one here."""
        start = self.at
        parts: list[Part] = []
        while True:
            here = self.at
            if (plain := self.take(PLAIN)) is not None:
                parts.append(Text(text=plain, start=self.place(here)))
            elif self.take(CONTINUED) is None and not self._quoted_or_expanded(parts):
                break
        if self.at == start:
            raise self.trouble()
        return Word(parts=_joined(parts), start=self.place(start))

    def _quoted_or_expanded(self, parts: list[Part]) -> bool:
        here = self.at
        match self.peek():
            case "'":
                parts.append(self._raw(here))
            case '"':
                self.at += 1
                parts += self._quoted()
            case "\\":
                parts.append(Text(text=self.peek(2)[1:], quoted=True, start=self.place(here + 1)))
                self.at += 2
            case "$":
                parts += self._dollar(quoted=False)
            case "`":
                parts.append(self._backticks(quoted=False))
            case "<" | ">" if self.peek(2)[1:] == "(":
                self.at += 2
                script = self.script_until(")")
                parts.append(Process(script=script, reads=self.text[here] == "<"))
            case _:
                return False
        return True

    def _raw(self, here: int) -> Text:
        end = self.text.find("'", here + 1)
        if end < 0:
            raise self.trouble("a ' that is never closed")
        self.at = end + 1
        return Text(text=self.text[here + 1 : end], quoted=True, start=self.place(here + 1))

    def _quoted(self) -> list[Part]:
        """What stands between double quotes; the first one is behind us."""
        start = self.place(self.at)
        parts: list[Part] = []
        while not self.skip('"'):
            if self.at >= len(self.text):
                raise self.trouble('a " that is never closed')
            self._inside(parts, IN_QUOTES, '$`"\\')
        return parts or [Text(text="", quoted=True, start=start)]

    def _inside(self, parts: list[Part], plain: re.Pattern[str], escaped: str) -> None:
        """One piece of text in which nothing but dollars, backticks and backslashes counts."""
        here = self.at
        if (text := self.take(plain)) is not None:
            parts.append(Text(text=text, quoted=True, start=self.place(here)))
        elif self.peek() == "$":
            parts += self._dollar(quoted=True)
        elif self.peek() == "`":
            parts.append(self._backticks(quoted=True))
        elif self.take(CONTINUED) is None:
            behind = self.peek(2)[1:]
            kept = behind if behind and behind in escaped else "\\" + behind
            start = here if kept != behind else here + 1
            parts.append(Text(text=kept, quoted=True, start=self.place(start)))
            self.at += 2

    def heredoc_parts(self) -> tuple[Part, ...]:
        """The whole text, which is the body of a here-document.

        A mistake in it is found by the shell only as it runs, with what stands before it done.
        """
        parts: list[Part] = []
        try:
            while self.at < len(self.text):
                self._inside(parts, IN_HEREDOC, "$`\\")
        except NotShell as trouble:
            if trouble.is_deep:
                raise
            self.mistakes.append(trouble)
        return _joined(parts)

    def _dollar(self, *, quoted: bool) -> list[Part]:
        here = self.at
        self.at += 1
        self.take(CONTINUED)
        match self.peek():
            case "(":
                return [self._parenthesis(quoted=quoted)]
            case "{":
                self.at += 1
                return [self._braces(quoted=quoted)]
            case "[":
                self.at += 1
                return [self._old_sum(quoted=quoted)]
            case "'" if not quoted:
                return [self._ansi(here)]
            case '"' if not quoted:
                self.at += 1
                return self._quoted()
        name = self.take(PARAMETER)
        if name is None:
            return [Text(text="$", quoted=True, start=self.place(here))]
        return [Variable(name=name, quoted=quoted)]

    def _ansi(self, here: int) -> Text:
        found = ANSI_QUOTED.match(self.text, self.at + 1)
        if found is None:
            raise self.trouble("a ' that is never closed")
        self.at = found.end()
        inner = found.group(1)
        start = -1 if "\\" in inner else self.place(here + 2)
        return Text(text=ansi(inner), quoted=True, start=start)

    def _parenthesis(self, *, quoted: bool) -> Part:
        if self.peek(2) == "((" and (sum_ := self.sum()) is not None:
            return Number(word=sum_, quoted=quoted)
        self.at += 1
        return Substitution(script=self.script_until(")"), quoted=quoted)

    def sum(self) -> Word | None:
        """`((…))`, or None when these are two subshells, one in the other."""
        here = self.at
        if here not in self.sums:
            waiting, count = self.waiting, len(self.waiting)
            self.at += 2
            word = self._sum_until("))", IN_SUMS)
            self.sums[here] = (word, self.at)
            if word is None:
                del waiting[count:]
                self.waiting = waiting
                self.in_vain += self.at - here
            if self.in_vain > FAIR * max(len(self.text), 10_000):
                raise NotShell("its brackets never close", self.place(here), is_deep=True)
        word, end = self.sums[here]
        self.at = end if word is not None else here
        return word

    def _old_sum(self, *, quoted: bool) -> Part:
        word = self._sum_until("]", OLD_SUMS)
        if word is None:
            raise self.trouble()
        return Number(word=word, quoted=quoted)

    def _sum_until(self, closing: str, plain: re.Pattern[str]) -> Word | None:
        """Arithmetic up to `closing`; None if brackets do not match as they do in arithmetic."""
        self.deeper()
        parts: list[Part] = []
        level = 0
        while level or not self.skip(closing):
            if (text := self.take(plain)) is not None:
                parts.append(Text(text=text))
            elif self.take(CONTINUED) is not None:
                continue
            elif self.peek() in ("(", ")"):
                level += 1 if self.peek() == "(" else -1
                if level > DEEPEST:
                    raise NotShell("it is nested too deeply", self.place(self.at), is_deep=True)
                parts.append(Text(text=self.peek()))
                self.at += 1
            elif self.at >= len(self.text) or not self._quoted_or_expanded(parts):
                level = -1
            if level < 0:
                self.depth -= 1
                return None
        self.depth -= 1
        return Word(parts=_joined(parts))

    def _braces(self, *, quoted: bool) -> Variable:
        self.deeper()
        found = BRACED.match(self.text, self.at)
        sign = found.group("sign") if found else ""
        if found is None or (sign and self.text[found.end() : found.end() + 1] not in "}[:@*"):
            # `${#}`, `${!}` and the like: the sign is the name.
            found, sign = SIGNS.match(self.text, self.at), ""
        if found is None:
            raise self.trouble()
        self.at = found.end()
        index = INDEX.match(self.text, self.at)
        if index is not None:
            self.at = index.end()
        operator = self.take(DEFAULTS) or ""
        word = self._in_braces(quoted=quoted)
        changed = sign or (not operator and word.parts)
        variable = Variable(
            name=found.group("name"),
            index=index.group(1) if index is not None else "",
            operator="!" if changed else operator,
            word=word if word.parts else None,
            quoted=quoted,
        )
        self.depth -= 1
        return variable

    def _in_braces(self, *, quoted: bool) -> Word:
        """What follows a variable's name, up to the closing brace."""
        parts: list[Part] = []
        while not self.skip("}"):
            here = self.at
            if self.peek(2) in ("<(", ">(") and not quoted:
                self._quoted_or_expanded(parts)
            elif (text := self.take(IN_BRACES)) is not None:
                parts.append(Text(text=text, quoted=quoted, start=self.place(here)))
            elif self.at >= len(self.text):
                raise self.trouble("a ${ that is never closed")
            elif self.take(CONTINUED) is None:
                self._quoted_or_expanded(parts)
        return Word(parts=_joined(parts))

    def _backticks(self, *, quoted: bool) -> Substitution:
        start = self.at + 1
        found = BACKTICKED.match(self.text, start)
        if found is None:
            raise self.trouble("a ` that is never closed")
        self.at = found.end()
        inner = found.group(1)
        signs = '$`"\\\\' if quoted else "$`\\\\"
        plain = re.sub(rf"\\([{signs}])", r"\1", inner)
        base = self.place(start) if plain == inner else -1
        return Substitution(script=self.script_of(plain, base), quoted=quoted)


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    """Neighbours that are alike become one."""
    if len(parts) < 2:
        return tuple(parts)
    joined: list[Part] = []
    run: list[Text] = []
    for part in [*parts, None]:
        if run and not (isinstance(part, Text) and part.quoted == run[0].quoted):
            joined.append(_one(run))
            run = []
        if isinstance(part, Text):
            run.append(part)
        elif part is not None:
            joined.append(part)
    return tuple(joined)


def _one(run: list[Text]) -> Text:
    if len(run) == 1:
        return run[0]
    start = expected = run[0].start
    for part in run:
        if part.start != expected or expected < 0:
            start = -1
            break
        expected += len(part.text)
    return Text(text="".join(part.text for part in run), quoted=run[0].quoted, start=start)
