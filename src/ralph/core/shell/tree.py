"""What shell text consists of. Neutral: nothing here knows what a command does."""

from typing import Union

import msgspec


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """Characters that stand for themselves; globs, braces and tildes only where not quoted."""

    text: str
    quoted: bool = False
    start: int = -1
    """Where they stand in the source, if they stand there just so."""


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """`$x`, `"${x[@]}"`, `${x:-word}`."""

    name: str
    index: str = ""
    """`@`, `*` or what else stands in brackets."""
    operator: str = ""
    """`-`, `=`, `+`, `?` with or without a colon; `!` for all that changes the value."""
    word: Union["Word", None] = None
    quoted: bool = False


class Substitution(msgspec.Struct, frozen=True, kw_only=True):
    """`$(…)` and backticks: the output of a script."""

    script: "Script"
    quoted: bool = False


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """`<(…)` and `>(…)`: a file that is a script's output or input."""

    script: "Script"
    reads: bool
    """`<(…)`: the command reads what the script prints."""


class Number(msgspec.Struct, frozen=True, kw_only=True):
    """`$((…))`: only digits come out of it, whatever runs inside."""

    word: "Word"
    quoted: bool = False


Part = Text | Variable | Substitution | Process | Number


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One word as written."""

    parts: tuple[Part, ...]
    start: int = -1
    """Where it begins in the source; -1 where it is known only by its meaning."""


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """`x=word`, `x+=word`, `x=(words)`, `x[i]=word`."""

    name: str
    words: tuple[Word, ...]
    array: bool = False
    adds: bool = False
    indexed: bool = False
    """`x[i]=…`; then the word begins with the index."""


class Redirect(msgspec.Struct, frozen=True, kw_only=True):
    """`> file`, `2>&1`, `<<EOF`, `<<< word`."""

    operator: str
    """Without the number before it; `<<` for both kinds of here-document."""
    words: list[Word]
    """One; that of a here-document arrives after its line, or never."""
    number: str = ""


class Simple(msgspec.Struct, frozen=True, kw_only=True):
    """A command and its arguments; both may be missing."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    start: int = -1
    end: int = -1
    """Where it stands in the source, without redirections at its end."""


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """`pattern | pattern) script ;;` of a `case`."""

    patterns: tuple[Word, ...]
    script: "Script"
    ending: str = ";;"
    """`;&` goes on with the next script, `;;&` with the next pattern."""


class Compound(msgspec.Struct, frozen=True, kw_only=True):
    """All that holds other scripts: groups, conditions, loops, tests."""

    kind: str
    """`(`, `{`, `if`, `while`, `until`, `for`, `select`, `case`, `[[`, `((`, `coproc`."""
    scripts: tuple["Script", ...] = ()
    """Of an `if`: each condition and what follows from it, then what stands behind `else`."""
    words: tuple[Word, ...] = ()
    name: str = ""
    """The variable of a `for`."""
    branches: tuple[Branch, ...] = ()
    """Of a `case`; their patterns are among the words, too, and their scripts among the scripts."""
    redirects: tuple[Redirect, ...] = ()
    start: int = -1
    end: int = -1
    """Where it stands in the source, without redirections at its end."""


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """A definition; the body runs when the function is called."""

    name: str
    body: "Command"
    start: int = -1
    end: int = -1


Command = Simple | Compound | Function


class Pipeline(msgspec.Struct, frozen=True, kw_only=True):
    """Commands, each of which reads what the one before it prints."""

    commands: tuple[Command, ...]
    after: str = ""
    """`&&` or `||`, where one stands before it."""
    background: bool = False
    denied: bool = False
    """An odd number of `!` before it turns success into failure."""
    start: int = -1


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """Pipelines in the order of the text, whatever stands between them."""

    pipelines: tuple[Pipeline, ...] = ()
    error: str = ""
    """Why the text is no valid shell; then the tree holds what could be read all the same."""
    error_at: int = -1
    """Where in the source that is, if it stands there just so."""
