"""Reads a shell text into a tree, whatever the text is."""

import re
from typing import Final, NamedTuple

from msgspec.structs import replace

from ralph.core.shell.tree import (
    Assignment,
    Command,
    Compound,
    Function,
    LiteralText,
    Part,
    Pipeline,
    Redirect,
    ShellScript,
    Simple,
    VariableUse,
    Word,
)
from ralph.core.shell.words import BLANK, IN_TEXT, NAME, ShellSyntaxError, WordReader

TRIES: Final = 20
"""How often reading continues after an error."""
COMMENT: Final = re.compile(r"#[^\n]*")
BARE: Final = re.compile(r"(?:[^ \t\r\n;&|()<>'\"\\$`]++|\\\n)++(?=[ \t\n;&|()<>]|\r\n|\r?\Z)")
NEXT: Final = re.compile(r"&&|\|\|")
PIPED: Final = re.compile(r"\|&?(?!\|)")
BRANCH_END: Final = re.compile(r";;&|;;|;&")
PARENTHESES: Final = re.compile(r"[ \t]*\(\s*\)")
TEST_SIGNS: Final = re.compile(r"[()<>&|;]+")
CLOSING: Final = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
OPENING: Final = frozenset({"{", "if", "while", "until", "for", "select", "case", "[[", "function"})
PREFIXES: Final = ("!", "time", "coproc")
COPROC_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*[ \t]+(?=[({])")
ENDS: Final = ("", "\n", ";", "&", "|", ")")
ASSIGNED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^]=\s]*\])?(\+?)=")
EMPTY_VALUE: Final = re.compile(r"(?=[\n;&|) \t\r]|[<>](?!\()|\Z)")
DECLARES: Final = frozenset({"declare", "typeset", "local", "export", "readonly", "eval"})
"""Their arguments may be arrays."""
REDIRECTED: Final = re.compile(
    r"(?:[0-9]*|\{[A-Za-z_][A-Za-z0-9_]*\})(<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)"
)
DELIMITER: Final = re.compile(
    r"(?:[^ \t\n;&|()<>'\"\\]++|\\.|'[^']*+'|\"(?:[^\"\\]++|\\.)*+\")++", re.DOTALL
)
QUOTING: Final = re.compile(r"\$?'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
ALL_ARGUMENTS: Final = Word(parts=(VariableUse(name="@", quoted=True),))
"""The values of a `for` without a list."""


class HereDocument(NamedTuple):
    """A here-document whose body comes after the line."""

    end: str
    quoted: bool
    """Nothing in the body is expanded."""
    indented: bool
    """Tabs at the beginning of its lines are ignored."""
    words: list[Word]
    """Receives the body."""


def read(text: str, base: int = 0) -> ShellScript:
    """Read a text. Of one that is not valid shell, read what can be read: a shell runs the lines
    before an error, and another shell may see no error at all."""
    parser = Grammar(text, base)
    pipelines: list[Pipeline] = []
    error: ShellSyntaxError | None = None
    for _ in range(TRIES):
        try:
            while parser.begins():
                pipelines += parser.line()
            if parser.at >= len(text):
                break
            raise parser.error()
        except ShellSyntaxError as found:
            error = error or found
            at = parser.at + 1
            parser = Grammar(text, base)
            parser.at = at
    if error is None:
        return ShellScript(pipelines=tuple(pipelines))
    return ShellScript(pipelines=tuple(pipelines), error=str(error), error_at=error.at)


class Grammar(WordReader):
    def __init__(self, text: str, base: int = 0, depth: int = 0) -> None:
        super().__init__(text, base, depth)
        self.here_documents: list[HereDocument] = []
        """Those whose bodies begin after this line."""

    def script(self) -> ShellScript:
        """Read pipelines up to a word or sign that cannot begin one."""
        self.deeper()
        pipelines: list[Pipeline] = []
        while self.begins():
            pipelines += self.line()
        self.depth -= 1
        return ShellScript(pipelines=tuple(pipelines))

    def begins(self) -> bool:
        """Skip blanks, and return whether a command begins here."""
        self.gap()
        if self.peek() == "&":
            return self.peek(2) == "&>"
        return self.peek() not in ("", ")", ";", "|") and self.bare() not in CLOSING

    def line(self) -> list[Pipeline]:
        """Pipelines joined by `&&` and `||`, and the sign that ends them."""
        pipelines = [self.pipeline()]
        while (after := self.take(NEXT)) is not None:
            self.gap()
            pipelines.append(self.pipeline(after))
        if self.peek(2) not in (";;", ";&") and self.skip(";"):
            return pipelines
        if self.skip("&"):
            return [replace(each, background=True) for each in pipelines]
        # `{ ls; } fi`: a word such as `fi` may directly follow a compound command.
        last = pipelines[-1].commands[-1:]
        closes = last and isinstance(last[0], Compound) and self.bare() in CLOSING
        if self.peek() not in ("", "\n", ")", ";") and not closes:
            raise self.error()
        return pipelines

    def pipeline(self, after: str = "") -> Pipeline:
        """Commands joined by `|`, and the words that may precede them."""
        self.take(BLANK)
        start, negated, background = self.place(self.at), False, False
        commands: list[Command] = []
        while (word := self.bare()) in PREFIXES:
            here = self.at
            self.next_bare()
            negated ^= word == "!"
            if word == "coproc":
                background = True
                self.take(COPROC_NAME)
            while word == "time" and self.bare() in ("-p", "--"):
                self.next_bare()
            if word == "time" and self.peek() == "-":
                # Only the program of that name has options like this.
                self.at = here
                break
        # A lone `time` or `!` is a command, too.
        if self.place(self.at) == start or self.peek() not in ("", "\n", ";", ")", "&"):
            commands.append(self.command())
            while self.take(PIPED) is not None:
                self.gap()
                commands.append(self.command())
        return Pipeline(
            commands=tuple(commands),
            after=after,
            background=background,
            negated=negated,
            start=start,
        )

    def gap(self) -> None:
        """Skip blanks, comments and ends of lines."""
        self.blank()
        while self.skip("\n"):
            self._read_here_documents()
            self.blank()

    def blank(self) -> None:
        """Skip blanks, and a comment up to the end of the line."""
        self.take(BLANK)
        if self.peek() == "#":
            self.take(COMMENT)

    def bare(self) -> str:
        """The next word if it is without quotes and expansions; it is not skipped."""
        found = BARE.match(self.text, self.at)
        return found.group().replace("\\\n", "") if found else ""

    def next_bare(self) -> str:
        """Skip and return such a word."""
        word = self.bare()
        self.take(BARE)
        self.take(BLANK)
        return word

    def keyword(self, *words: str) -> str:
        """Read one of these words, which has to be the next one."""
        self.gap()
        if self.bare() not in words:
            raise self.error("" if self.peek() else f"no `{words[0]}`")
        return self.next_bare()

    # Commands

    def command(self) -> Command:
        """One command with its redirections."""
        self.take(BLANK)
        word = self.bare()
        if word in CLOSING:
            raise self.error()
        if self.peek() == "(":
            found: Command = self._parentheses()
        elif word in OPENING:
            self.next_bare()
            self.deeper()
            found = self._opened(word)
            self.depth -= 1
        else:
            found = self._simple_or_function()
        return replace(found, redirects=self.redirects()) if isinstance(found, Compound) else found

    def _simple_or_function(self) -> Command:
        simple = self.simple()
        if self.peek() != "(":
            return simple
        if simple.assignments or simple.redirects or self.take(PARENTHESES) is None:
            raise self.error()
        return self._function("".join(getattr(part, "text", "") for part in simple.words[0].parts))

    def _function(self, name: str) -> Function:
        if not name:
            raise self.error()
        self.take(PARENTHESES)
        self.gap()
        self.deeper()
        body = self.command()
        self.depth -= 1
        return Function(name=name, body=body)

    def _parentheses(self) -> Compound:
        if self.peek(2) == "((" and (sum_ := self.arithmetic()) is not None:
            return Compound(kind="((", words=(sum_,))
        self.at += 1
        return Compound(kind="(", scripts=(self.script_in_brackets(),))

    def _opened(self, word: str) -> Compound | Function:
        """The command after its first word."""
        match word:
            case "{":
                script = self.script()
                self.keyword("}")
                return Compound(kind=word, scripts=(script,))
            case "if":
                return self._if()
            case "while" | "until":
                condition = self.script()
                return Compound(kind=word, scripts=(condition, self._body()))
            case "case":
                return self._case()
            case "[[":
                return self._test()
            case "function":
                return self._function(self.next_bare())
            case _:
                return self._for(word)

    def _if(self) -> Compound:
        scripts = [self.script()]
        self.keyword("then")
        scripts.append(self.script())
        while (word := self.keyword("fi", "elif", "else")) != "fi":
            scripts.append(self.script())
            if word == "elif":
                self.keyword("then")
                scripts.append(self.script())
        return Compound(kind="if", scripts=tuple(scripts))

    def _body(self) -> ShellScript:
        """`do … done`, or a group in its place."""
        word = self.keyword("do", "{")
        script = self.script()
        self.keyword("done" if word == "do" else "}")
        return script

    def _for(self, kind: str) -> Compound:
        words = [ALL_ARGUMENTS]
        name = self.take(NAME) or ""
        if not name:
            sum_ = self.arithmetic() if self.peek(2) == "((" else None
            if sum_ is None:
                raise self.error()
            words = [sum_]
        self.gap()
        if name and self.bare() == "in":
            self.next_bare()
            words = []
            while self.peek() not in ("\n", ";", ""):
                words.append(self.word())
                self.blank()
        self.gap()
        self.skip(";")
        return Compound(kind=kind, name=name, words=tuple(words), scripts=(self._body(),))

    def _case(self) -> Compound:
        words = [self.word()]
        scripts: list[ShellScript] = []
        self.keyword("in")
        self.gap()
        while self.bare() != "esac":
            self.skip("(")
            while True:
                self.blank()
                words.append(self.word())
                self.blank()
                if not self.skip("|"):
                    break
            if not self.skip(")"):
                raise self.error()
            scripts.append(self.script())
            self.gap()
            if self.take(BRANCH_END) is None and self.bare() != "esac":
                raise self.error()
            self.gap()
        self.next_bare()
        return Compound(kind="case", words=tuple(words), scripts=tuple(scripts))

    def _test(self) -> Compound:
        words: list[Word] = []
        while self.bare() != "]]":
            sign = self.take(TEST_SIGNS)
            words.append(self.word() if sign is None else Word(parts=(LiteralText(text=sign),)))
            while self.take(BLANK) is not None or self.skip("\n"):
                pass
            if not self.peek():
                raise self.error("a [[ that is never closed")
        self.next_bare()
        return Compound(kind="[[", words=tuple(words))

    def redirects(self) -> tuple[Redirect, ...]:
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
        operator = found[1]
        self.take(BLANK)
        if operator in ("<<", "<<-"):
            words = self._delimiter(indented=operator == "<<-")
            operator = "<<"
        else:
            words = [self.word()]
        redirects.append(Redirect(operator=operator, words=words))
        return True

    def simple(self) -> Simple:
        """Words, assignments and redirections in any order that the shell allows."""
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        declares = False
        while True:
            self.blank()
            if self._redirect(redirects):
                continue
            if self.peek() in ENDS or (self.peek() == "(" and len(words) == 1):
                break
            assigned = ASSIGNED.match(self.text, self.at) if not words or declares else None
            is_list = assigned is not None and self.text.startswith("(", assigned.end())
            if assigned is not None and (is_list or not words):
                assignments.append(self._assignment(assigned, is_list=is_list))
                continue
            if not words:
                declares = self.bare() in DECLARES
            words.append(self.word())
        if not (words or assignments or redirects):
            raise self.error()
        return Simple(
            words=tuple(words), assignments=tuple(assignments), redirects=tuple(redirects)
        )

    def _assignment(self, found: re.Match[str], *, is_list: bool) -> Assignment:
        name, index, adds = found.groups()
        words: list[Word] = []
        if is_list:
            self.at = found.end() + 1
            self.gap()
            while not self.skip(")"):
                words.append(self.word())
                self.gap()
        else:
            # An index is read with the word: it may contain substitutions.
            self.at = self.at if index else found.end()
            words.append(Word() if EMPTY_VALUE.match(self.text, self.at) else self.word())
        return Assignment(
            name=name, words=tuple(words), array=is_list or bool(index), adds=bool(adds or index)
        )

    # Here-documents

    def _delimiter(self, *, indented: bool) -> list[Word]:
        """Read the word after `<<`; the body is added to the list later."""
        written = self.take(DELIMITER)
        if written is None:
            raise self.error()
        end = QUOTING.sub(lambda found: found[1] or found[2] or found[3] or "", written)
        here_document = HereDocument(end, end != written, indented, [])
        self.here_documents.append(here_document)
        return here_document.words

    def _read_here_documents(self) -> None:
        """Read the bodies; a line has just ended."""
        here_documents, self.here_documents = self.here_documents, []
        for each in here_documents:
            # Where the body is expanded, a backslash joins the next line to this one.
            before, joined = ("", "") if each.quoted else (r"(?<![^\\]\\\n)", r"(?:\\\n)*")
            signs = ["\t*" if each.indented else "", *map(re.escape, each.end)]
            end = re.compile(rf"^{before}{joined.join(signs)}{joined}(?:\n|\Z)", re.MULTILINE)
            found = end.search(self.text, self.at)
            written = self.text[self.at : found.start() if found else len(self.text)]
            body = re.sub(r"^\t+", "", written, flags=re.MULTILINE) if each.indented else written
            start = self.place(self.at) if body == written else -1
            self.at = found.end() if found else len(self.text)
            if each.quoted:
                parts: list[Part] = [LiteralText(text=body, quoted=True)]
            else:
                parts = Grammar(body, start, self.depth + 1).expanded_text(IN_TEXT)
            each.words.append(Word(parts=tuple(parts), start=start))
