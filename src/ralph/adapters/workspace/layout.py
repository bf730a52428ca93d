"""Where a checkout keeps its repository, found by looking: git believes what agents plant."""

import os
from typing import Final, NamedTuple

from ralph.core.errors import UnusableData
from ralph.files import open_regular

MOST_ALTERNATES: Final = 20


class Layout(NamedTuple):
    """Folders of git."""

    git_dir: str
    """Of this checkout alone."""
    common_dir: str
    """Of all checkouts of the repository; the same where there is one."""


def top_of(path: str) -> str | None:
    """The top folder of the checkout around a folder; git's own folder is in none."""
    folder = os.path.abspath(path)
    while not _is_git(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder or (os.path.basename(folder) == ".git" and _is_git(folder)):
            return None
        folder = above
    return folder


def _is_git(path: str) -> bool:
    """A file in worktrees and submodules, a folder elsewhere. An empty one is none: sandboxes leave
    such folders in `/tmp`."""
    return os.path.isfile(path) or os.path.lexists(os.path.join(path, "HEAD"))


def layout(top: str) -> Layout:
    """The repository of the checkout whose top folder this is."""
    dot_git = os.path.join(top, ".git")
    if os.path.isdir(dot_git):
        git_dir = os.path.realpath(dot_git)
        return Layout(git_dir, git_dir)
    git_dir = os.path.realpath(os.path.join(top, _line(dot_git).removeprefix("gitdir: ")))
    if not os.path.isdir(git_dir):
        raise UnusableData(f"{dot_git} leads to {git_dir}, which is no folder")
    pointer = os.path.join(git_dir, "commondir")
    if not os.path.isfile(pointer):
        return Layout(git_dir, git_dir)
    return Layout(git_dir, os.path.realpath(os.path.join(git_dir, _line(pointer))))


def borrowed(top: str) -> str:
    """Where a private checkout borrows objects; empty if it does not. The file is a session's to
    write, so a folder counts only if no link leads there."""
    path = os.path.join(layout(top).common_dir, "objects", "info", "alternates")
    if os.path.islink(path) or not os.path.isfile(path):
        return ""
    objects = _line(path).partition("\n")[0]
    return objects if os.path.realpath(objects) == objects and os.path.isdir(objects) else ""


def alternates(common_dir: str) -> list[str]:
    """Where a repository borrows objects, and those it borrows from. The file is a session's to
    write, so only folders that are made like one of objects count."""
    found: list[str] = []
    folders = [os.path.join(common_dir, "objects")]
    while folders and len(found) < MOST_ALTERNATES:
        folder = folders.pop()
        path = os.path.join(folder, "info", "alternates")
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        for line in _line(path).splitlines():
            other = os.path.normpath(os.path.join(folder, line))
            is_one = all(os.path.isdir(os.path.join(other, name)) for name in ("pack", "info"))
            if is_one and os.path.basename(other) == "objects" and other not in found:
                found.append(other)
                folders.append(other)
    return found


def _line(path: str) -> str:
    try:
        with open_regular(path) as file:
            return file.read(8192).decode("utf-8", "surrogateescape").rstrip("\r\n")
    except OSError as error:
        raise UnusableData(f"{path} cannot be read: {error.strerror}") from error
