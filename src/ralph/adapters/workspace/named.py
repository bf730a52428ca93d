"""What a person's settings of git name in a checkout: git runs it, or reads more settings there."""

import os
import re
import shlex
from collections.abc import Iterator
from typing import Final, NamedTuple

from ralph.adapters.workspace.git import Git, text
from ralph.ports.executor import Captures

READ_ONLY: Final = (
    "core.excludesfile",
    "core.attributesfile",
    "commit.template",
    "blame.ignorerevsfile",
    "mailmap.file",
    "http.sslcainfo",
    "gpg.ssh.allowedsignersfile",
)
"""Files that git reads, and never runs."""
SECRET_KEY: Final = re.compile(r"(token|password|passwd|pass|secret|extraheader)$")
PASSWORD: Final = re.compile(r"://[^/@\s]*:[^/@\s]+@")
"""In a setting such as `url.https://me:key@example.com/.insteadOf`."""
HUSKY: Final = "_"
"""Its hooks call the scripts in the folder above."""


class Named(NamedTuple):
    """A path, whether it is there or not."""

    path: str
    is_folder: bool
    counts_when_made: bool
    """If it is not there: would it count as soon as it is?"""
    is_run: bool = True
    """Does git run it, or read settings in it?"""
    holds_secret: bool = False


class Settings(NamedTuple):
    """What git is told, here."""

    named: tuple[Named, ...]
    name: str
    email: str


def named_by_git(executor: Captures, top: str) -> Settings:
    """Everything that settings name, wherever those are written, and who commits."""
    found: dict[str, Named] = {}
    last: dict[str, str] = {}
    got = Git(executor, top).run("config", "--list", "--show-origin", "-z")
    parts = text(got).split("\0")
    for origin, setting in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = setting.partition("\n")
        last[key] = value
        for one in _named(origin, key, value, top):
            if one.path not in found or one.holds_secret:
                found[one.path] = one
    return Settings(
        named=tuple(found.values()),
        name=last.get("user.name", ""),
        email=last.get("user.email", ""),
    )


def _named(origin: str, key: str, value: str, top: str) -> Iterator[Named]:
    if not origin.startswith("file:"):
        return
    file = _whole(origin.removeprefix("file:"), top)
    is_secret = bool(SECRET_KEY.search(key) or PASSWORD.search(f"{key} {value}"))
    yield Named(file, is_folder=False, counts_when_made=True, holds_secret=is_secret)
    if key == "core.hookspath":
        hooks = _whole(value, top)
        if os.path.basename(hooks) == HUSKY:
            hooks = os.path.dirname(hooks)
        yield Named(hooks, is_folder=True, counts_when_made=True)
    elif key == "include.path" or (key.startswith("includeif.") and key.endswith(".path")):
        path = _whole(value, os.path.dirname(file))
        yield Named(path, is_folder=False, counts_when_made=True)
    elif key in READ_ONLY:
        yield Named(_whole(value, top), is_folder=False, counts_when_made=False, is_run=False)
    else:
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
