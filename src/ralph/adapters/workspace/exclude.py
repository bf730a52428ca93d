"""Keeping Ralph's own state out of every commit, also where `.gitignore` does not name it.

A person may not have run `ralph init`, and agents write `.gitignore` anew. The database would
then be a file like others: committed with the work, and brought back with it.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress

from ralph.adapters.workspace.git import Git
from ralph.core.errors import CannotWrite
from ralph.files import create_regular, read_regular


def hide(git: Git, prefix: str, patterns: Iterable[str]) -> None:
    """Add the patterns, which are relative to `prefix`, to what only this repository ignores."""
    path = os.path.join(git.top, git.word("rev-parse", "--git-path", "info/exclude"))
    if "\n" in prefix:
        return  # such a pattern cannot be written
    place = literally(prefix)
    wanted = [f"/{place}{pattern.removeprefix('/')}" for pattern in patterns]
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        before = ""
        with suppress(FileNotFoundError):
            before = read_regular(path).decode("utf-8", "surrogateescape")
        missing = sorted(set(wanted).difference(before.splitlines()), key=wanted.index)
        if missing:
            gap = "\n" if before and not before.endswith("\n") else ""
            more = gap + "".join(f"{line}\n" for line in missing)
            with create_regular(path, os.O_APPEND) as file:
                file.write(more.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error


def literally(path: str) -> str:
    """A pattern for just this path."""
    return re.sub(r"([\\*?\[])", r"\\\1", path)
