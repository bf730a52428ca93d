"""The arguments of one command, and what every command has in common."""

import argparse
import os
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ralph.core.errors import UsageError

if TYPE_CHECKING:
    from ralph.cli.command import CliCommand

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
    """An argument parser whose errors are one line with exit code 64."""

    def error(self, message: str) -> NoReturn:
        """Raise a usage error instead of printing usage and ending with 2."""
        raise UsageError(message, hint=f"{self.prog} --help")

    def read(self, argv: list[str]) -> Namespace:
        """Parse the arguments; options may come between positional ones."""
        args, extra = self.parse_known_args(argv)
        if not extra:
            return args
        unknown = next((word for word in extra if word.startswith("-") and word != "-"), None)
        if unknown is not None:
            self.error(f"unknown option {unknown}{self._near(unknown)}")
        return self.parse_intermixed_args(argv)

    def _near(self, unknown: str) -> str:
        from ralph.config.sources import nearest

        known = [option for option in self._option_string_actions if option.startswith("--")]
        return nearest(unknown.partition("=")[0], known)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of a few words; the error names the nearest."""
        if action.choices is not None and value not in action.choices:
            from ralph.config.sources import nearest

            words = list(action.choices)
            said = f"{value!r} is none of {', '.join(words)}{nearest(value, words)}"
            raise argparse.ArgumentError(action, said)


def build(name: str, command: "CliCommand") -> Parser:
    parser = _bare(name, command)
    common = parser.add_argument_group("options of every command")
    common.add_argument("-h", "--help", action="store_true", help="show this and exit")
    common.add_argument("-C", dest="directory", metavar="DIR", help="work as if started in DIR")
    common.add_argument("--color", choices=["auto", "always", "never"], help="when to use colour")
    common.add_argument("--debug", action="store_true", help="show a traceback on errors")
    return parser


def help_text(name: str, command: "CliCommand") -> str:
    """How a command is used; its own options come first."""
    parser = build(name, command)
    own = _bare(name, command).format_usage()
    parser.usage = own.removeprefix("usage: ").rstrip()
    return parser.format_help()


def examples_of(command: "CliCommand") -> list[str]:
    return dedent(command.examples).strip().splitlines()


def _bare(name: str, command: "CliCommand") -> Parser:
    examples = "\n".join(f"  {line}" for line in examples_of(command))
    first, _, rest = command.text.strip().partition("\n")
    parser = Parser(
        prog=f"ralph {name}",
        description=f"{first}\n{dedent(rest)}".strip(),
        epilog=f"examples:\n{examples}",
        formatter_class=Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    command.arguments(parser)
    return parser
