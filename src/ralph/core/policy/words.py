"""The words of a command as the shell hands them over."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

UNKNOWN: Final = "\0"
"""Stands for text that only the running shell knows; no command contains this character."""
SOME_FILE: Final = f"./{UNKNOWN}"
"""A name that is not empty; without other information, a file below the current folder."""
BREAK: Final = "\1"
"""Between two words that one expansion yields."""
ALL_FILES: Final = f"/{UNKNOWN}*"
"""After a folder: all files in it."""
GLOB: Final = re.compile(r"[*?\[]")
PATTERN_OPTION: Final = re.compile(r"-[a-zA-Z0-9]*e|--expression|--regexp")
"""The next word is a pattern or a program: `grep -e`, `sed -e`, `perl -pe`."""


def names(text: str) -> frozenset[str]:
    """A set of names, written with blanks between them."""
    return frozenset(text.split())


PATTERN_FIRST: Final = names("grep egrep fgrep rg ag ack sed awk jq")
"""Programs whose first operand is a pattern, not a file."""


class Field(NamedTuple):
    """A word, or a text, as a command receives it."""

    text: str
    start: int = -1
    """Where the word begins in the source, if it is written there without expansions."""
    glob: bool = False
    """A pattern that the shell replaces with names of files."""

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text

    @property
    def shown(self) -> str:
        """The text for messages."""
        return self.text.replace(UNKNOWN, "…")

    @property
    def folder(self) -> tuple[str, bool]:
        """The folder of a pattern or a list, and whether all files in it are meant."""
        if self.glob:
            return split_pattern(self.text)
        folder = self.text.removesuffix(ALL_FILES)
        return (folder, False) if folder == self.text else (folder or "/", True)

    @property
    def one_match(self) -> str:
        """One of the files that a pattern matches, or the text itself."""
        return f"{self.folder[0].rstrip('/')}/{UNKNOWN}" if self.glob else self.text


NOTHING: Final = Field("")


class CommandCall(NamedTuple):
    """A command that the text runs."""

    name: str
    """The program's name without its folder, in lower case; empty where it is unknown."""
    words: tuple[Field, ...]
    redirects: tuple[tuple[str, Field], ...] = ()
    cwd: str | None = None
    """None: unknown."""

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words[1:]]

    @property
    def arguments(self) -> str:
        """The arguments in one text, with a blank before and after each."""
        return f" {' '.join(self.texts)} "


def split_options(words: Sequence[Field]) -> tuple[list[str], list[Field]]:
    """Options and operands; `--` ends the options."""
    end = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    options = [word.text for word in words[:end] if re.match("-.", word.text)]
    operands = [word for word in words[:end] if not re.match("-.", word.text)]
    return options, [*operands, *words[end + 1 :]]


def without_values(words: Iterable[str], option: re.Pattern[str]) -> Iterator[str]:
    """The words without the values of such options."""
    rest = iter(words)
    for word in rest:
        yield word
        if option.fullmatch(word):
            next(rest, "")


def program_name(field: Field) -> str:
    """The name of a command without its folder and `.exe`."""
    return re.split(r"[/\\]", field.text)[-1].lower().removesuffix(".exe")


def file_words(name: str, words: Sequence[str]) -> list[str]:
    """The words that may be files: neither patterns nor small programs."""
    given = [*without_values(words, PATTERN_OPTION)]
    if name in PATTERN_FIRST and len(given) == len(words):
        plain = [word for word in given if word and not word.startswith("-")]
        given = [word for word in given if word not in plain[:1]]
    return given


def split_pattern(path: str) -> tuple[str, bool]:
    """The folder of a pattern, and whether the pattern matches everything in it."""
    parts = path.split("/")
    for number, part in enumerate(parts):
        if GLOB.search(part):
            is_last = number == len(parts) - 1 or parts[number + 1 :] == [""]
            folder = "/".join(parts[:number]) or ("/" if path.startswith("/") else ".")
            return folder, is_last and re.fullmatch(r"[.*]*\*[.*]*", part) is not None
    return path, False


def option_values(words: Sequence[Field], letter: str, long: str) -> list[Field]:
    """The values of an option, in the same word or in the next."""
    option = re.compile(rf"-[a-zA-Z]*?(?:{letter})(.*)|--(?:{long})(?:=(.*))?", re.DOTALL)
    pairs = [(option.fullmatch(word.text), after) for word, after in pairwise((*words, Field("")))]
    return [
        Field(found[1] or found[2]) if found[1] or found[2] else after
        for found, after in pairs
        if found
    ]
