"""The files that sessions leave in `.ralph/runs`, and what was moved aside: found, and removed."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from ralph.core.retention import Kept
from ralph.files import read_regular, remove_tree, walk, write_regular

REMOVED: Final = ".removed"
"""Which files went, so that `ralph logs` can say so."""
REMEMBERED: Final = 20_000
ITERATION: Final = re.compile(r"run-(?P<run>.+)-iter-\d+")


def found_in(folder: str) -> Iterator[Kept]:
    """All files of a folder, those of one session together. Hidden ones are none of a session's."""
    groups: dict[str, list[os.DirEntry[str]]] = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                groups.setdefault(group_of(entry.name), []).append(entry)
    for name, members in groups.items():
        sizes = [_measure(entry) for entry in members]
        yield Kept(
            name=name,
            paths=tuple(entry.path for entry in members),
            changed_at=max(changed_at for changed_at, _ in sizes),
            bytes=sum(size for _, size in sizes),
        )


def group_of(name: str) -> str:
    """What the files of one session have in common."""
    found = ITERATION.match(name)
    return found.group() if found else name


def run_of(group: str) -> str:
    """The run of a session's files; empty for what is no session's."""
    found = ITERATION.match(group)
    return found["run"] if found else ""


def remove(kept: Iterable[Kept], folder: str) -> None:
    """Remove them, and remember their names."""
    names = []
    for one in kept:
        names.append(one.name)
        for path in one.paths:
            with suppress(OSError):
                if os.path.isdir(path) and not os.path.islink(path):
                    remove_tree(path)
                else:
                    os.unlink(path)
    path = os.path.join(folder, REMOVED)
    with suppress(OSError):
        before = [*removed_from(folder)]
        draft = f"{path}.{os.getpid()}"
        lines = "".join(f"{name}\n" for name in [*before, *names][-REMEMBERED:])
        write_regular(draft, lines.encode("utf-8", "replace"))
        os.replace(draft, path)


def removed_from(folder: str) -> dict[str, None]:
    """What was removed there, as `group_of` names it."""
    try:
        text = read_regular(os.path.join(folder, REMOVED), os.O_NOFOLLOW)
    except OSError:
        return {}
    return dict.fromkeys(text.decode("utf-8", "replace").splitlines())


def _measure(entry: "os.DirEntry[str]") -> tuple[float, int]:
    """When it was changed, and what room it takes."""
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
