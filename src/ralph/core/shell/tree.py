"""What shell text consists of. Nothing here knows what a command does."""

from collections.abc import Iterator
from typing import Union

import msgspec


class LiteralText(msgspec.Struct, frozen=True, kw_only=True):
    """Characters that mean themselves; globs, braces and tildes only where not quoted."""

    text: str
    quoted: bool = False


class VariableUse(msgspec.Struct, frozen=True, kw_only=True):
    """`$x`, `"${x[@]}"`, `${x:-word}`; `$((word))` is a number, as `$#` is."""

    name: str
    operator: str = ""
    """`-`, `=`, `+`, `?` with or without a colon; `!` for any other change of the value."""
    word: Union["Word", None] = None
    quoted: bool = False


class Substitution(msgspec.Struct, frozen=True, kw_only=True):
    """`$(…)` and backticks: the output of a script. `<(…)` and `>(…)`: a file that is its output
    or input."""

    script: "ShellScript"
    kind: str = "$"
    """`$`, `<` or `>`."""
    quoted: bool = False


Part = LiteralText | VariableUse | Substitution


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One word as written."""

    parts: tuple[Part, ...] = ()
    start: int = -1
    """Where it begins in the source; -1 where it is not there unchanged."""

    @property
    def literal(self) -> str | None:
        """The word, if it contains nothing that a shell would expand."""
        texts = [part.text for part in self.parts if isinstance(part, LiteralText)]
        return "".join(texts) if len(texts) == len(self.parts) else None


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """`x=word`, `x+=word`, `x=(words)`, `x[i]=word`."""

    name: str
    words: tuple[Word, ...]
    array: bool = False
    """`x=(…)` and `x[i]=…`; the word of the latter begins with the index."""
    adds: bool = False


class Redirect(msgspec.Struct, frozen=True, kw_only=True):
    """`> file`, `2>&1`, `<<EOF`, `<<< word`."""

    operator: str
    """Without the number before it; `<<` for both kinds of here-document."""
    words: list[Word]
    """One; that of a here-document is added when its body is read, or never."""


class Simple(msgspec.Struct, frozen=True, kw_only=True):
    """A command and its arguments; both may be missing."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


class Compound(msgspec.Struct, frozen=True, kw_only=True):
    """A command that contains other scripts: a group, condition, loop or test."""

    kind: str
    """`(`, `{`, `if`, `while`, `until`, `for`, `select`, `case`, `[[`, `((`."""
    scripts: tuple["ShellScript", ...] = ()
    """Of an `if`: each condition and its branch, then the branch of `else`."""
    words: tuple[Word, ...] = ()
    """The values of a `for`; the subject and the patterns of a `case`."""
    name: str = ""
    """The variable of a `for`."""
    redirects: tuple[Redirect, ...] = ()


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """A definition; the body runs when the function is called."""

    name: str
    body: "Command"


Command = Simple | Compound | Function


class Pipeline(msgspec.Struct, frozen=True, kw_only=True):
    """Commands, each of which reads what the one before it prints."""

    commands: tuple[Command, ...]
    after: str = ""
    """`&&` or `||`, where one of them is before it."""
    background: bool = False
    negated: bool = False
    """An odd number of `!` before it turns success into failure."""
    start: int = -1


class ShellScript(msgspec.Struct, frozen=True, kw_only=True):
    """Pipelines in the order of the text, whatever separates them."""

    pipelines: tuple[Pipeline, ...] = ()
    error: str = ""
    """Why the text is not valid shell; then the tree contains what could be read."""
    error_at: int = -1
    """Where in the source that is, if it is there unchanged."""


def substitutions(word: Word) -> Iterator[Substitution]:
    """All parts whose scripts run when the word is expanded, however deep in it."""
    for part in word.parts:
        match part:
            case Substitution():
                yield part
            case VariableUse(word=Word() as inner):
                yield from substitutions(inner)
            case _:
                pass
