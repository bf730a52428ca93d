"""Flags that open doors in the wall, the same for every command that runs something behind it."""

import os
from argparse import ArgumentParser, Namespace


def add_doors(parser: ArgumentParser) -> None:
    """`--allow` and the like; each may be repeated."""
    for flag, metavar, what in (
        ("--allow", "RULE", "open what a rule names: aws, docker, ssh…"),
        ("--allow-write", "PATH", "let sessions write there, too"),
        ("--allow-read", "PATH", "let sessions read there, though it is hidden"),
    ):
        parser.add_argument(flag, metavar=metavar, action="append", default=[], help=what)


def add_no_sandbox(parser: ArgumentParser) -> None:
    """The only way around the wall is to ask for it."""
    parser.add_argument("--no-sandbox", action="store_true", help="run without a wall, knowingly")


def door_flags(args: Namespace) -> dict[str, object]:
    """As settings. Paths are relative to where the command was typed."""
    flags: dict[str, object] = {}
    if args.allow:
        flags["sandbox.allow"] = tuple(args.allow)
    if args.allow_write:
        flags["sandbox.write"] = tuple(_whole("--allow-write", path) for path in args.allow_write)
    if args.allow_read:
        flags["sandbox.read"] = tuple(_whole("--allow-read", path) for path in args.allow_read)
    return flags


def _whole(flag: str, path: str) -> str:
    """What is not there cannot be opened; the checkout is open anyway."""
    from ralph.adapters.workspace.layout import top_of
    from ralph.core.errors import UsageError
    from ralph.core.fence import is_inside

    whole, here = os.path.abspath(os.path.expanduser(path)), os.getcwd()
    if not os.path.lexists(whole) and not is_inside(whole, top_of(here) or here):
        raise UsageError(f"{flag} {path}: there is no such file or folder", hint="make it first")
    return whole
