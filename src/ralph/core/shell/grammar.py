"""Pipelines, lists, conditions, loops and functions: the shell's grammar."""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from ralph.core.shell.cursor import BLANK
from ralph.core.shell.simple import Simples
from ralph.core.shell.tree import (
    Branch,
    Command,
    Compound,
    Function,
    Pipeline,
    Script,
    Text,
    Variable,
    Word,
)
from ralph.core.shell.words import NAME

NEXT: Final = re.compile(r"&&|\|\|")
PIPED: Final = re.compile(r"\|&?(?!\|)")
BRANCH_END: Final = re.compile(r";;&|;;|;&")
SHUT: Final = re.compile(r"[ \t]*\(\s*\)")
TEST_SIGNS: Final = re.compile(r"[()<>&|;]+")
CLOSING: Final = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})


class Grammar(Simples):
    """Reads scripts."""

    def script_until(self, closing: str) -> Script:
        script = self.script()
        if not self.skip(closing):
            raise self.trouble()
        return script

    def script_of(self, text: str, base: int) -> Script:
        inner = Grammar(text, base, self.depth)
        script = inner.script()
        self.mistakes += inner.mistakes
        if inner.at < len(text):
            raise inner.trouble()
        return script

    def script(self) -> Script:
        """Pipelines up to a word or sign that cannot begin one."""
        self.deeper()
        pipelines: list[Pipeline] = []
        while self.begins():
            pipelines += self.line()
        self.depth -= 1
        return Script(pipelines=tuple(pipelines))

    def begins(self) -> bool:
        """Whether a command begins here; what is empty before it is skipped."""
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
            return [msgspec.structs.replace(each, background=True) for each in pipelines]
        if self.peek() not in ("", "\n", ")", ";") and not self._closes_behind(pipelines[-1]):
            raise self.trouble()
        return pipelines

    def _closes_behind(self, pipeline: Pipeline) -> bool:
        """`{ ls; } fi`: behind a compound command nothing has to stand before such a word."""
        commands = pipeline.commands
        return bool(commands) and isinstance(commands[-1], Compound) and self.bare() in CLOSING

    def pipeline(self, after: str = "") -> Pipeline:
        """Commands joined by `|`, and what may stand before them."""
        self.take(BLANK)
        start, denied = self.at, False
        while self.bare() in ("!", "time"):
            here = self.at
            if self.next_bare() == "!":
                denied = not denied
            else:
                while self.bare() in ("-p", "--"):
                    self.next_bare()
                if self.peek() == "-":
                    # Only the program of that name has options like this.
                    self.at = here
                    break
        if self.at > start and self.peek() in ("", "\n", ";", ")", "&"):
            # A lone `time` or `!` is a command, too.
            return Pipeline(commands=(), after=after, denied=denied, start=self.place(start))
        commands = [self.command()]
        while self.take(PIPED) is not None:
            self.gap()
            commands.append(self.command())
        return Pipeline(
            commands=tuple(commands), after=after, denied=denied, start=self.place(start)
        )

    def command(self) -> Command:
        """One command with its redirections."""
        self.take(BLANK)
        start = self.at
        if self.peek() == "(":
            return self._redirected(self._parentheses(), start)
        word = self.bare()
        if word in CLOSING:
            raise self.trouble()
        read = COMPOUNDS.get(word)
        if read is None:
            return self._simple()
        self.next_bare()
        self.deeper()
        made = read(self)
        self.depth -= 1
        return self._redirected(made, start)

    def _redirected(self, made: Compound | Function, start: int) -> Compound | Function:
        first, last = self.place(start), self.place(self.at)
        if isinstance(made, Function):
            return msgspec.structs.replace(made, start=first, end=last)
        redirects = self.redirects()
        return msgspec.structs.replace(made, redirects=redirects, start=first, end=last)

    def _simple(self) -> Command:
        start = self.at
        made = self.simple()
        if self.peek() != "(":
            return made
        if made.assignments or made.redirects or self.take(SHUT) is None:
            raise self.trouble()
        name = "".join(getattr(part, "text", "") for part in made.words[0].parts)
        return self._redirected(self._function(name), start)

    def _function(self, name: str) -> Function:
        self.gap()
        self.deeper()
        body = self.command()
        self.depth -= 1
        return Function(name=name, body=body)

    def _parentheses(self) -> Compound:
        if self.peek(2) == "((" and (sum_ := self.sum()) is not None:
            return Compound(kind="((", words=(sum_,))
        self.at += 1
        return Compound(kind="(", scripts=(self.script_until(")"),))

    def _group(self) -> Compound:
        script = self.script()
        self.keyword("}")
        return Compound(kind="{", scripts=(script,))

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

    def _while(self, kind: str = "while") -> Compound:
        condition = self.script()
        return Compound(kind=kind, scripts=(condition, self._body()))

    def _until(self) -> Compound:
        return self._while("until")

    def _body(self) -> Script:
        """`do … done`, or a group in its place."""
        self.gap()
        word = self.keyword("do", "{")
        script = self.script()
        self.keyword("done" if word == "do" else "}")
        return script

    def _for(self, kind: str = "for") -> Compound:
        words: list[Word] = []
        name = ""
        if self.peek(2) == "((":
            sum_ = self.sum()
            if sum_ is None:
                raise self.trouble()
            words.append(sum_)
        else:
            name = self.take(NAME) or ""
            if not name:
                raise self.trouble()
            self.gap()
            if self.bare() == "in":
                self.next_bare()
                while self.peek() not in ("\n", ";", ""):
                    words.append(self.word())
                    self.blank()
            else:
                words.append(ALL_ARGUMENTS)
        self.gap()
        self.skip(";")
        return Compound(kind=kind, name=name, words=tuple(words), scripts=(self._body(),))

    def _select(self) -> Compound:
        return self._for("select")

    def _case(self) -> Compound:
        words = [self.word()]
        branches: list[Branch] = []
        self.keyword("in")
        self.gap()
        while self.bare() != "esac":
            branches.append(self._branch())
            words += branches[-1].patterns
        self.next_bare()
        scripts = tuple(branch.script for branch in branches)
        return Compound(kind="case", words=tuple(words), scripts=scripts, branches=tuple(branches))

    def _branch(self) -> Branch:
        self.skip("(")
        self.blank()
        patterns = [self.word()]
        self.blank()
        while self.skip("|"):
            self.blank()
            patterns.append(self.word())
            self.blank()
        if not self.skip(")"):
            raise self.trouble()
        script = self.script()
        self.gap()
        ending = self.take(BRANCH_END)
        if ending is None and self.bare() != "esac":
            raise self.trouble()
        self.gap()
        return Branch(patterns=tuple(patterns), script=script, ending=ending or ";;")

    def _test(self) -> Compound:
        words: list[Word] = []
        while self.bare() != "]]":
            sign = self.take(TEST_SIGNS)
            words.append(self.word() if sign is None else Word(parts=(Text(text=sign),)))
            while self.take(BLANK) is not None or self.skip("\n"):
                pass
            if not self.peek():
                raise self.trouble("a [[ that is never closed")
        self.next_bare()
        return Compound(kind="[[", words=tuple(words))

    def _function_word(self) -> Function:
        name = self.bare()
        if not name:
            raise self.trouble()
        self.next_bare()
        self.take(SHUT)
        return self._function(name)

    def _coproc(self) -> Compound:
        here = self.at
        if self.bare() not in COMPOUNDS:
            self.next_bare()
            if self.peek() != "(" and self.bare() not in COMPOUNDS:
                # No name, so that the word was the command itself.
                self.at = here
        command = self.command()
        script = Script(pipelines=(Pipeline(commands=(command,), background=True),))
        return Compound(kind="coproc", scripts=(script,))


ALL_ARGUMENTS: Final = Word(parts=(Variable(name="@", quoted=True),))
"""What a `for` without a list goes through."""

COMPOUNDS: Final[dict[str, Callable[[Grammar], Compound | Function]]] = {
    "{": Grammar._group,
    "if": Grammar._if,
    "while": Grammar._while,
    "until": Grammar._until,
    "for": Grammar._for,
    "select": Grammar._select,
    "case": Grammar._case,
    "[[": Grammar._test,
    "function": Grammar._function_word,
    "coproc": Grammar._coproc,
}
