"""Options that `task add` and `task update` share."""

import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from ralph.cli.parser import LARGEST, at_least
from ralph.core.errors import UnusableData, UsageError

if TYPE_CHECKING:
    from argparse import _ActionsContainer


def add_numbers(parser: ArgumentParser) -> None:
    """`--priority` and `--max-retries`."""
    parser.add_argument(
        "--priority",
        metavar="N",
        type=at_least(-LARGEST),
        help="lower numbers come first (default 0)",
    )
    parser.add_argument(
        "--max-retries",
        metavar="N",
        type=at_least(0),
        help="how often rejected work may be tried again",
    )


def add_files(parser: "_ActionsContainer", more: str = "") -> None:
    """`--file`."""
    parser.add_argument(
        "--file",
        metavar="PATH",
        action="append",
        dest="files",
        help="a file that it will modify, from the top of the project: tasks that name the same "
        f"one are not run at the same time (may be repeated{more})",
    )


def add_description(parser: ArgumentParser) -> None:
    """`-d`."""
    parser.add_argument(
        "-d",
        "--description",
        metavar="TEXT",
        help="what is to be done, in full; - reads standard input",
    )


def described(text: str) -> str:
    """The description, read from standard input where that was asked for."""
    if text != "-":
        return text
    from ralph.core.lengths import LONGEST_TEXT

    # Not to its end: it may have none.
    data = sys.stdin.buffer.read(4 * LONGEST_TEXT + 1)
    if len(data) > 4 * LONGEST_TEXT:
        raise UnusableData(
            f"standard input is too long: a text may have {LONGEST_TEXT:,} characters"
        )
    try:
        return data.decode().rstrip("\n")
    except UnicodeDecodeError as error:
        raise UnusableData(f"standard input is not UTF-8 text (byte {error.start + 1})") from error


def featured(text: str) -> str:
    """The name of a feature; there has to be one."""
    if not text.strip():
        raise UsageError("a feature needs a name, and this one is empty")
    return text.strip()


def titled(text: str) -> str:
    """The title; there has to be one."""
    if not text.strip():
        raise UsageError("a task needs a title, and this one is empty")
    return text.strip()
