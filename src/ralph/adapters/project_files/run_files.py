"""Find and remove the session files in `.ralph/runs`."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from ralph.core.errors import CannotWrite
from ralph.core.retention import RetainedFiles
from ralph.files import read_regular, remove_tree, replace_file, walk

REMOVED: Final = ".removed"
"""The names of removed files, for `ralph logs`."""
REMEMBERED: Final = 20_000
OWN: Final = ("run-", "talk-", "hook-")
"""How the names of Ralph's own files begin: a folder of that name may be a user's."""
ITERATION: Final = re.compile(r"run-(?P<run>.+)-iter-\d+")


def session_files_in(folder: str, starts: tuple[str, ...] = OWN) -> Iterator[RetainedFiles]:
    """The files of a folder whose names start so, grouped by session. Nothing behind a link: a
    user's own files may be there."""
    groups: dict[str, list[os.DirEntry[str]]] = {}
    if os.path.islink(folder):
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(starts):
                groups.setdefault(group_of(entry.name), []).append(entry)
    for name, members in groups.items():
        sizes = [_measure(entry) for entry in members]
        yield RetainedFiles(
            name=name,
            paths=tuple(entry.path for entry in members),
            changed_at=max(changed_at for changed_at, _ in sizes),
            bytes=sum(size for _, size in sizes),
        )


def group_of(name: str) -> str:
    """The part of a name that the files of one session share."""
    found = ITERATION.match(name)
    return found.group() if found else name


def run_of(group: str) -> str:
    """The run of a group of files; empty if they belong to no session."""
    found = ITERATION.match(group)
    return found["run"] if found else ""


def remove(kept: Iterable[RetainedFiles], folder: str) -> None:
    """Remove files, and remember their names. CannotWrite if one stays, after all others."""
    names, refused = [], []
    for one in kept:
        try:
            for path in one.paths:
                if os.path.isdir(path) and not os.path.islink(path):
                    remove_tree(path)
                else:
                    with suppress(FileNotFoundError):  # another process removes old files, too
                        os.unlink(path)
        except OSError as error:
            refused.append(f"{folder}/{one.name} cannot be removed: {error.strerror}")
        else:
            names.append(one.name)
    path = os.path.join(folder, REMOVED)
    with suppress(OSError):
        before = [*removed_from(folder)]
        lines = "".join(f"{name}\n" for name in [*before, *names][-REMEMBERED:])
        replace_file(path, lines.encode("utf-8", "replace"), sync=False)
    if refused:
        hint = "look at its permissions, and at those of its folder"
        raise CannotWrite(refused[0], hint=hint)


def removed_from(folder: str) -> dict[str, None]:
    try:
        text = read_regular(os.path.join(folder, REMOVED), os.O_NOFOLLOW)
    except OSError:
        return {}
    return dict.fromkeys(text.decode("utf-8", "replace").splitlines())


def _measure(entry: "os.DirEntry[str]") -> tuple[float, int]:
    try:
        found = entry.stat(follow_symlinks=False)
        size = found.st_size
        if entry.is_dir(follow_symlinks=False):
            size = sum(
                os.lstat(os.path.join(top, name)).st_size
                for top, _, names in walk(entry.path)
                for name in names
            )
    except OSError:
        return 0.0, 0
    return found.st_mtime, size
