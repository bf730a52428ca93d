"""What is known about a shell at one place of its text."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from ralph.core.policy.paths import resolve
from ralph.core.policy.words import NOTHING, SOME_FILE, UNKNOWN, Field

LONGEST_VALUE: Final = 20_000
"""A longer value is unknown: `x=$x$x` doubles it each time."""
DECLARES: Final = ("declare", "typeset", "local", "export", "readonly")
ASSIGNED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", re.DOTALL)


class TooMuch(Exception):
    """The text runs too many commands to be judged."""


class ShellState(msgspec.Struct, kw_only=True):
    """What a shell knows. Subshells have a folder and an input of their own; the variables are
    shared: the value that was assigned last counts."""

    cwd: str | None
    """None: unknown."""
    stdin: Field | None = None
    """The text that commands read; None: the input of the outermost shell."""
    variables: dict[str, str]
    """A name that is missing is unknown."""
    arguments: str = UNKNOWN
    """`$1` and the following; of several, the worst."""

    def assign(self, name: str, value: str) -> None:
        self.variables[name] = value if len(value) <= LONGEST_VALUE else UNKNOWN

    def value(self, name: str) -> str:
        return self.variables.get(name, UNKNOWN)

    def run_builtin(self, name: str, words: Sequence[Field]) -> None:
        """Follow a command that changes the shell itself: its folder, its variables."""
        texts = [word.text for word in words[1:]]
        match name:
            case "cd" | "chdir" | "pushd" | "popd":
                folders = [text for text in texts if text == "-" or text[:1] != "-"]
                folder = folders[0] if folders else self.value("HOME")
                is_unknown = name == "popd" or folder == "-" or folder.startswith(UNKNOWN)
                self.cwd = None if is_unknown else resolve(folder, self.cwd)
                self.assign("PWD", self.cwd or UNKNOWN)
            case _ if name in DECLARES:
                for found in filter(None, map(ASSIGNED.fullmatch, texts)):
                    self.assign(found[1], UNKNOWN if found[2] else found[3])
            case "read" | "mapfile" | "readarray" | "getopts":
                # Names of files are followed; other input is unknown.
                lines = [line for line in (self.stdin or NOTHING).text.split() if UNKNOWN in line]
                files = [SOME_FILE if line == UNKNOWN else line for line in lines]
                for variable in ("REPLY", *filter(str.isidentifier, texts)):
                    self.assign(variable, one_of(files or [UNKNOWN]))
            case "unset":
                for text in texts:
                    self.variables.pop(text, None)
            case _:
                pass


def one_of(values: Sequence[str]) -> str:
    """A value that may be any of these: the worst of them, which is unknown or leads elsewhere."""
    if len(values) == 1:
        return values[0]
    return max(
        (SOME_FILE, *values), key=lambda each: (each == UNKNOWN, each.startswith(("/", "~", "..")))
    )
