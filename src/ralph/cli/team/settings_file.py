"""The project's Claude settings, changed after the change was shown."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable


def add_yes(parser: ArgumentParser) -> None:
    """Without a question."""
    parser.add_argument("--yes", action="store_true", help="do not ask")


def change(args: Namespace, edit: Callable[[str], str], what: str) -> int:
    """Show it, ask, write it. Where nothing would change, say so."""
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_project
    from ralph.documents.claude_hooks import PATH
    from ralph.documents.encoded import decode
    from ralph.wiring.project import open_library

    library = open_library(the_project())
    before = decode(library.content(PATH) or b"")
    after = edit(before.text) if before.text or what.startswith("install") else before.text
    if after == before.text:
        print(f"nothing to do: {PATH} is as it should be")
        return 0
    _show(before.text, after, PATH)
    make_sure(args, what)
    library.put(PATH, before.bytes_of(after))
    print(f"wrote   {PATH}")
    return 0


def _show(before: str, after: str, path: str) -> None:
    from difflib import unified_diff

    lines = unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="")
    print("\n".join(line.rstrip("\r\n") for line in lines))
