"""What a command is: a function, its options and examples of its use."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ActionsContainer
    from collections.abc import Callable
    from typing import Any

    Run = Callable[[Namespace], int | None]
    Option = Callable[[_ActionsContainer], object]


EXAMPLES = "examples:\n"


class CliCommand:
    """A command: its function, its help (the first line is the summary), examples and options."""

    def __init__(self, run: "Run", doc: str, options: "tuple[Option, ...]") -> None:
        self.run = run
        self.text, _, self.examples = doc.partition(EXAMPLES)
        self.options = options

    def arguments(self, parser: "ArgumentParser") -> None:
        for option in self.options:
            option(parser)


def command(*options: "Option") -> "Callable[[Run], CliCommand]":
    """Make a command of a function, which returns an exit code or None for success.

    Its help is the function's docstring, or the module's, where the module is about one command.
    """

    def make(run: "Run") -> CliCommand:
        return CliCommand(run, run.__doc__ or sys.modules[run.__module__].__doc__ or "", options)

    return make


def option(*words: str, **how: "Any") -> "Option":
    """An option or an argument: `option("-n", "--lines", "N", "how many lines")`.

    Its names, a metavar where it has one, and its help; the rest as for `add_argument`.
    """
    *names, what = words
    if len(names) > 1 and not names[-1].startswith("-"):
        how["metavar"] = names.pop()
    return lambda parser: parser.add_argument(*names, help=what, **how)


def flag(*words: str, **how: "Any") -> "Option":
    return option(*words, action="store_true", **how)


def exclusive(*options: "Option") -> "Option":
    """Options of which only one can be given."""

    def add(parser: "_ActionsContainer") -> None:
        group = parser.add_mutually_exclusive_group()
        for one in options:
            one(group)

    return add


def setting(key: str, *words: str, **how: "Any") -> "Option":
    """An option that is a setting; `const` is the value of one that takes none."""
    if "const" in how:
        how["action"] = "store_const"
    return option(*words, dest=key, **how)
