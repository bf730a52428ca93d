"""The arguments of one command, and what every command has in common."""

import argparse
import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NoReturn

from ralph.core.errors import UsageError

if TYPE_CHECKING:
    from ralph.cli.commands import Command

LARGEST: Final = 2**31 - 1
WIDEST: Final = 98

# Every sentence is looked up in the catalogues of gettext otherwise, which takes longer than to
# parse a command line, and would mix languages.
argparse._ = str  # type: ignore[attr-defined]


class Formatter(RawDescriptionHelpFormatter):
    """Help as wide as the terminal, up to a limit.

    Left to itself, argparse asks `shutil` for the width whenever an argument is added.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns(), max_help_position=28)


def _columns() -> int:
    try:
        return max(40, min(WIDEST, os.get_terminal_size(1).columns - 2))
    except OSError:
        return WIDEST


class Parser(ArgumentParser):
    """An argument parser whose mistakes are errors like all others: one line, exit 64."""

    def error(self, message: str) -> NoReturn:
        """Never print usage, never exit 2."""
        raise UsageError(message, hint=f"{self.prog} --help")

    def read(self, argv: list[str]) -> Namespace:
        """The arguments; options may stand between several ids."""
        args, extra = self.parse_known_args(argv)
        if not extra:
            return args
        unknown = next((word for word in extra if word.startswith("-") and word != "-"), None)
        if unknown is not None:
            self.error(f"unknown option {unknown}{self._near(unknown)}")
        return self.parse_intermixed_args(argv)

    def _near(self, unknown: str) -> str:
        from difflib import get_close_matches

        known = [option for option in self._option_string_actions if option.startswith("--")]
        near = get_close_matches(unknown.partition("=")[0], known, n=2)
        return f"; did you mean {' or '.join(near)}?" if near else ""


def build(name: str, command: "Command") -> Parser:
    """The parser of one command."""
    parser = _bare(name, command)
    common = parser.add_argument_group("options of every command")
    common.add_argument("-h", "--help", action="store_true", help="show this and exit")
    common.add_argument("-C", dest="directory", metavar="DIR", help="work as if started in DIR")
    common.add_argument("--color", choices=["auto", "always", "never"], help="when to use colour")
    common.add_argument("--debug", action="store_true", help="show a traceback on errors")
    return parser


def help_text(name: str, command: "Command") -> str:
    """How a command is used; its own options come first."""
    parser = build(name, command)
    own = _bare(name, command).format_usage()
    parser.usage = own.removeprefix("usage: ").rstrip()
    return parser.format_help()


def _bare(name: str, command: "Command") -> Parser:
    examples = "\n".join(f"  {line}" for line in command.EXAMPLES.strip().splitlines())
    parser = Parser(
        prog=f"ralph {name}",
        description=(command.__doc__ or "").strip(),
        epilog=f"examples:\n{examples}",
        formatter_class=Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    command.arguments(parser)
    return parser


def add_json(parser: ArgumentParser, what: str = "print JSON") -> None:
    """`--json`, on everything that reads."""
    parser.add_argument("--json", action="store_true", help=what)


def add_yes(parser: ArgumentParser) -> None:
    """`--yes`, on everything that destroys."""
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def at_least(smallest: int) -> Callable[[str], int]:
    """A type for whole numbers that are not too small, nor too large for a database."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = smallest - 1
        if not smallest <= value <= LARGEST:
            wanted = f" of at least {smallest}" if smallest > -LARGEST else ""
            raise ArgumentTypeError(f"{text!r} is not a whole number{wanted}")
        return value

    return number


def at_least_one(text: str) -> int:
    """A type for a number of things of which there is one at least."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= 1_000_000:
        raise ArgumentTypeError(f"{text!r} is no number from 1 up")
    return number


def one_of(words: tuple[str, ...]) -> Callable[[str], str]:
    """A type for one of a few words; who mistypes it is told the nearest."""

    def word(text: str) -> str:
        if text not in words:
            from difflib import get_close_matches

            near = get_close_matches(text, words, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise ArgumentTypeError(f"{text!r} is none of {', '.join(words)}{meant}")
        return text

    return word
