"""What the commands that think a feature out have in common."""

import sys
from argparse import ArgumentParser, Namespace

from ralph.cli.doors import add_no_sandbox
from ralph.cli.with_a_person import add_agent, has_terminal
from ralph.core.errors import Missing, UnusableData


def add_name(parser: ArgumentParser) -> None:
    """The feature."""
    parser.add_argument("name", metavar="FEATURE", help="the feature's name")


def add_alone(parser: ArgumentParser) -> None:
    """For sessions without a person."""
    add_agent(parser)
    add_no_sandbox(parser)


def add_request(parser: ArgumentParser) -> None:
    """What a person has to say, and whether they can be asked."""
    said = parser.add_mutually_exclusive_group()
    said.add_argument("--request", metavar="TEXT", help="what is wanted; - reads standard input")
    said.add_argument("--file", metavar="FILE", help="the same from a file")
    parser.add_argument(
        "-y", "--yes", action="store_true", help="ask nobody: a session does it alone"
    )


def is_alone(args: Namespace) -> bool:
    """Is nobody to be asked, or nobody there?"""
    return bool(args.yes) or not has_terminal()


def request_of(args: Namespace) -> str:
    """What a person asks for: by an option, from a file, or on a standard input that is no
    terminal."""
    if args.file is not None:
        return from_file(args.file)
    if args.request == "-" or (args.request is None and not _is_terminal()):
        return decoded(sys.stdin.buffer.read() if sys.stdin is not None else b"", "standard input")
    return (args.request or "").strip()


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def from_file(path: str) -> str:
    """The text of a file."""
    try:
        with open(path, "rb") as file:
            return decoded(file.read(), path)
    except OSError as error:
        raise Missing(f"{path} cannot be read: {error.strerror}") from error


def decoded(data: bytes, where: str) -> str:
    """Text, or a word about what it is not."""
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise UnusableData(f"{where} is not UTF-8 text (byte {error.start + 1})") from error
