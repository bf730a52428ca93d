"""The list of a checkout's projects: only a `.ralph.toml` in a listed folder is obeyed.

A session can write a `.ralph.toml` anywhere in the checkout, above and beside the project as well
as below, and can make a repository of its own around it. It cannot write the list, which is in
`.git/ralph`. The list is made before the first session, of all projects that are there; from then
on `ralph init` adds to it.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Final

from ralph.core.errors import UnusableData
from ralph.core.sandbox_rules import PROJECT_LIST
from ralph.files import open_regular, or_cannot_write, replace_file, walk
from ralph.git_layout import find_layout, top_of

SETTINGS: Final = ".ralph.toml"
PASSED_OVER: Final = frozenset(
    {".git", ".ralph", "node_modules", ".venv", "venv", "target", "__pycache__", ".tox", ".nox"}
)
"""Folders in which no person makes a project; `.ralph` holds the checkouts of tasks."""
LARGEST: Final = 1 << 20


def is_project(folder: str, environ: Mapping[str, str]) -> bool:
    """Is the `.ralph.toml` in this folder to be obeyed?"""
    folder = os.path.abspath(folder)
    if folder.startswith(f"{sandbox_caches(environ)}{os.sep}"):
        return False  # sessions write there, and a link in the checkout may lead there
    top = _listed_around(folder)
    return top is None or os.path.relpath(folder, top) in _read(top)


def other_projects(root: str) -> tuple[str, ...]:
    """The listed projects in the checkout around `root` but for itself, from its top."""
    top, listed = top_of(root), _listed_around(root)
    if top is None or listed is None:
        return ()
    paths = (os.path.join(listed, name) for name in _read(listed))
    inside = (os.path.relpath(os.path.normpath(path), top) for path in paths)
    own = os.path.relpath(root, top)
    return tuple(sorted(p for p in inside if p != own and p.split(os.sep)[0] != os.pardir))


def list_projects(root: str, environ: Mapping[str, str]) -> None:
    """Make the list, where there is none yet. To be called before any session begins."""
    top = top_of(root)
    if top is None or _listed_around(root) is not None:
        return
    found = {os.path.abspath(root), *_projects(top)}
    _write(top, {os.path.relpath(one, top) for one in found if is_project(one, environ)})


def add_project(root: str) -> None:
    """Obey the `.ralph.toml` in this folder from now on."""
    top = _listed_around(root)
    if top is not None:
        _write(top, _read(top) | {os.path.relpath(os.path.abspath(root), top)})


def sandbox_caches(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") or os.path.expanduser("~")
    base = environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "ralph", "sandbox")


def _listed_around(folder: str) -> str | None:
    """The outermost checkout around a folder that has a list: inner ones may be a session's."""
    found = None
    start = folder = os.path.abspath(folder)
    while True:
        if os.path.lexists(_list_of(folder)):
            found = folder
        above = os.path.dirname(folder)
        if above == folder:
            return _worktree(start, found) or found
        folder = above


def _worktree(folder: str, listed: str | None) -> str | None:
    """The linked worktree around the folder, if it lies in the checkout that has the list: it uses
    the same list. Sessions cannot write what git notes about its worktrees."""
    top = top_of(folder)
    if listed is None or top is None or top == listed:
        return None
    with contextlib.suppress(UnusableData, OSError):
        own = find_layout(top)
        with open_regular(os.path.join(own.git_dir, "gitdir")) as file:
            place = os.path.join(own.git_dir, os.fsdecode(file.read(8192)).rstrip("\n"))
        is_noted = os.path.realpath(place) == os.path.realpath(os.path.join(top, ".git"))
        is_in = os.path.dirname(own.git_dir) == os.path.join(own.common_dir, "worktrees")
        if is_noted and is_in and own.common_dir == find_layout(listed).common_dir:
            return top
    return None


def _list_of(top: str) -> str:
    """One for all worktrees of a repository: what a session has committed may be in any."""
    dot_git = os.path.join(top, ".git")
    if os.path.isfile(dot_git):
        with contextlib.suppress(UnusableData):
            return os.path.join(find_layout(top).common_dir, PROJECT_LIST)
    return os.path.join(dot_git, PROJECT_LIST)


def _read(top: str) -> set[str]:
    path = _list_of(top)
    try:
        with open_regular(path, os.O_NOFOLLOW) as file:
            return set(os.fsdecode(file.read(LARGEST)).split("\0")) - {""}
    except OSError as error:
        raise UnusableData(f"{path} cannot be read: {error.strerror}") from error


def _write(top: str, projects: set[str]) -> None:
    path = _list_of(top)
    hint = "Ralph needs to write its state; is the checkout read-only, or the disk full?"
    with or_cannot_write(f"write {path}", hint):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Empty after a power cut, it would disown every project.
        replace_file(path, os.fsencode("\0".join(sorted(projects))))


def _projects(top: str) -> Iterator[str]:
    for folder, folders, _ in walk(top):
        folders[:] = [name for name in folders if name not in PASSED_OVER]
        if os.path.lexists(os.path.join(folder, SETTINGS)):
            yield folder
