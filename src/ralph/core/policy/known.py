"""What is known about a shell while its text is read: variables, functions, where it stands."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from ralph.core.shell.tree import Command

UNKNOWN: Final = "\0"
"""Stands for text that only the running shell knows. No command holds it: it ends a string."""

SOME: Final = f"./{UNKNOWN}"
"""The same for a name that is not empty; where nothing else is said, one of a file from here."""
ALL: Final = f"/{UNKNOWN}*"
"""Behind a folder: all files in it, whatever their names."""

MOST_VALUES: Final = 12


class Field(NamedTuple):
    """A word as a command receives it."""

    text: str
    start: int = -1
    """Where the word begins in the source, if it stands there in letters."""
    inner: int = -1
    """Where its text begins in the source, if it stands there just so."""
    glob: bool = False
    """Files decide what becomes of it."""
    bare: bool = False
    """Unknown and without quotes, so that there may be no such word at all."""
    printed: str | None = None
    """What a file that is a script's output holds."""

    @property
    def known(self) -> bool:
        """Whether it is just this, whatever the shell finds as it runs."""
        return UNKNOWN not in self.text

    @property
    def shown(self) -> str:
        """For people."""
        return self.text.replace(UNKNOWN, "…")


class Frame:
    """Where a part of the text runs. Subshells and functions get a copy."""

    def __init__(
        self,
        *,
        cwd: str | None,
        stdin: str | None = None,
        level: int = 0,
        is_sure: bool = True,
    ) -> None:
        self.cwd = cwd
        """None when it depends on what the shell finds."""
        self.stdin = stdin
        """What is read from there; None is whatever the outermost shell reads."""
        self.inputs: Mapping[str, str | None] = {}
        """What is read from other numbers, where redirections say so."""
        self.arguments: tuple[tuple[str, ...], ...] = ()
        """What `$@` may be; nothing is known when it is empty."""
        self.zero = UNKNOWN
        """What `$0` is."""
        self.shifted = False
        """Some of the first arguments may be gone."""
        self.level = level
        """How many texts, functions and wrappers stand around."""
        self.is_sure = is_sure
        """False in what may not run at all, or not so: nothing to doubt or rewrite there."""
        self.calls: tuple[object, ...] = ()
        """The functions, aliases and texts around."""
        self.assigned: set[str] = set()
        """Variables that have a value by now, whichever way the shell has taken."""

    def take_over(self, inside: "Frame") -> None:
        """What a part of the same shell has changed."""
        self.cwd, self.arguments, self.shifted = inside.cwd, inside.arguments, inside.shifted
        self.assigned = inside.assigned

    def copy(self, **changes: object) -> "Frame":
        """The same place for a shell of its own."""
        frame = Frame(cwd=self.cwd)
        frame.__dict__.update(self.__dict__, assigned=set(self.assigned))
        frame.__dict__.update(changes)
        return frame


class Known:
    """All that the text says about variables, functions and aliases, wherever it says it.

    What is assigned anywhere may be the value everywhere: loops and functions go back and forth.
    """

    def __init__(self, variables: Mapping[str, str], checkout: str = "") -> None:
        self.checkout = checkout
        self.variables: dict[str, dict[tuple[str, ...], None]] = {
            name: {(value,): None} for name, value in variables.items()
        }
        self.given = frozenset(variables)
        """What every shell has from the start."""
        self.functions: dict[str, list[Command]] = {}
        """All bodies that a name may have."""
        self._defined: set[tuple[str, int]] = set()
        self.aliases: dict[str, str] = {}
        self.has_changed = False
        self.separators = variables["IFS"]
        """At which unquoted values are cut."""

    def assign(self, name: str, value: tuple[str, ...]) -> None:
        """One more value that the variable may have."""
        values = self.variables.setdefault(name, {})
        if len(values) >= MOST_VALUES:
            value = (UNKNOWN,)
        if value not in values:
            values[value] = None
            self.has_changed = True
            if name == "IFS":
                signs = {sign for each in values for text in each for sign in text}
                self.separators = "".join(sorted(signs))

    def extend(self, name: str, value: tuple[str, ...], *, array: bool) -> None:
        """`x+=…`: behind every value so far, and behind none."""
        before = [each for each in self.variables.get(name, {()}) if len(each) < MOST_VALUES]
        if not self._ends_with(name, value):
            for each in before or [()]:
                joined = (*each, *value) if array else ("".join((*each, *value)),)
                self.assign(name, joined)

    def _ends_with(self, name: str, value: tuple[str, ...]) -> bool:
        # Another round must not add it again and again.
        return any("".join(each).endswith("".join(value)) for each in self.variables.get(name, {}))

    def define(self, name: str, body: Command) -> None:
        """A function, or one more body for a name."""
        if (name, id(body)) not in self._defined:
            self._defined.add((name, id(body)))
            self.functions.setdefault(name, []).append(body)
            self.has_changed = True

    def rename(self, name: str, text: str) -> None:
        """An alias."""
        if self.aliases.get(name) != text:
            self.aliases[name] = text
            self.has_changed = True
