"""What a person's settings of git name in a checkout: git runs it, or reads more settings there."""

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ralph.adapters.workspace.git import Git, text
from ralph.ports.executor import Captures

READ_ONLY: Final = (
    "core.excludesfile",
    "core.attributesfile",
    "commit.template",
    "blame.ignorerevsfile",
    "mailmap.file",
)
"""Files that git reads, and never runs."""
HUSKY: Final = "_"
"""Its hooks call the scripts in the folder above."""


class Named(NamedTuple):
    """A path, whether it is there or not."""

    path: str
    is_folder: bool
    counts_when_made: bool
    """If it is not there: would it count as soon as it is?"""


def named_by_git(executor: Captures, top: str, roots: Sequence[str]) -> tuple[Named, ...]:
    """Everything in these folders that settings name, wherever those are written."""
    found: dict[str, Named] = {}
    got = Git(executor, top).run("config", "--list", "--show-origin", "-z")
    parts = text(got).split("\0")
    for origin, setting in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = setting.partition("\n")
        for one in _named(origin, key, value, top):
            if any(one.path.startswith(f"{root}/") for root in roots):
                found.setdefault(one.path, one)
    return tuple(found.values())


def _named(origin: str, key: str, value: str, top: str) -> Iterator[Named]:
    if not origin.startswith("file:"):
        return
    file = _whole(origin.removeprefix("file:"), top)
    yield Named(file, is_folder=False, counts_when_made=True)
    if key == "core.hookspath":
        hooks = _whole(value, top)
        if os.path.basename(hooks) == HUSKY:
            hooks = os.path.dirname(hooks)
        yield Named(hooks, is_folder=True, counts_when_made=True)
    elif key == "include.path" or (key.startswith("includeif.") and key.endswith(".path")):
        path = _whole(value, os.path.dirname(file))
        yield Named(path, is_folder=False, counts_when_made=True)
    elif key not in READ_ONLY:
        for path in files_in(value, top):
            yield Named(path, is_folder=False, counts_when_made=False)


def files_in(command: str, folder: str) -> Iterator[str]:
    """The files that a command line names, as seen from a folder."""
    yield from filter(os.path.isfile, (_whole(word, folder) for word in _words(command)))


def _words(value: str) -> list[str]:
    """Of a command line, as a shell would take it apart."""
    try:
        return shlex.split(value.removeprefix("!"))
    except ValueError:
        return value.split()


def _whole(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))
