"""Find a checkout's git folders, and what git cannot read, without asking git."""

import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from ralph.core.errors import UnusableData
from ralph.core.safe_text import one_line
from ralph.files import LARGEST, names_in, open_regular, read_regular, read_start, walk

MOST_ALTERNATES: Final = 20
READ: Final = frozenset({".gitignore", ".gitattributes", ".gitmodules", ".mailmap"})
"""git reads these as a whole, in any folder of a checkout; and all that is among its refs."""
READ_IN_GIT: Final = frozenset({"info", "rebase-apply", "rebase-merge", "sequencer"})
"""git reads the files in these folders as a whole, and those at the top of its own folders."""
LARGEST_IN_GIT: Final = 1 << 30
"""A million refs take a tenth of it."""
CONFIG: Final = frozenset({".gitconfig", "config", "config.worktree", "gitconfig"})
NAMED_FILE: Final = re.compile(
    rb"(?im)(?:^|\])[ \t]*(path|excludesfile|attributesfile)[ \t]*=[ \t]*([^\n]*)"
)
"""A setting that tells git to read another file: `path` includes settings."""
MOST_INCLUDED: Final = 20


class GitLayout(NamedTuple):
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


def find_layout(top: str) -> GitLayout:
    dot_git = os.path.join(top, ".git")
    if os.path.isdir(dot_git):
        git_dir = os.path.realpath(dot_git)
        return GitLayout(git_dir, git_dir)
    git_dir = os.path.realpath(os.path.join(top, _line(dot_git).removeprefix("gitdir: ")))
    if not os.path.isdir(git_dir):
        raise UnusableData(f"{dot_git} leads to {git_dir}, which is no folder")
    pointer = os.path.join(git_dir, "commondir")
    if not os.path.isfile(pointer):
        return GitLayout(git_dir, git_dir)
    return GitLayout(git_dir, os.path.realpath(os.path.join(git_dir, _line(pointer))))


def may_have_refs(top: str, folder: str) -> bool:
    """Could git know refs in this folder of refs? It is asked far more often than there are any."""
    try:
        common_dir = find_layout(top).common_dir
    except UnusableData:
        return False
    if os.path.isdir(os.path.join(common_dir, "reftable")):
        return True
    packed = read_start(os.path.join(common_dir, "packed-refs"), LARGEST_IN_GIT)
    return bool(names_in(os.path.join(common_dir, folder))) or f" {folder}/".encode() in packed


def borrowed_objects(top: str) -> str:
    """Where a private checkout borrows objects; empty if it does not. The file is a session's to
    write, so a folder counts only if no link leads there."""
    path = os.path.join(find_layout(top).common_dir, "objects", "info", "alternates")
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


def find_unreadable(folder: str, *, is_waited_for: bool = False) -> str:
    """The first file around a folder that git never reads to its end, in words; empty if there is
    none: a pipe (`is_waited_for`: only one that a process waits for now), a device, or a file of
    rules too large for its memory."""
    for path, most in _files_of_git(top_of(folder) or folder):
        with suppress(OSError, ValueError):  # ValueError: settings that name a path with a NUL
            found = os.stat(path)
            if stat.S_ISFIFO(found.st_mode) and (not is_waited_for or _is_in_use(path)):
                return f"{one_line(path)} is a pipe, and git waits for it without end"
            if stat.S_ISCHR(found.st_mode) and not os.path.samefile(path, os.devnull):
                return f"{one_line(path)} is a device, which git reads without end"
            if found.st_size > most:
                return f"{one_line(path)} has {found.st_size >> 20} MB, and git reads all of it"
    return ""


def _files_of_git(top: str) -> Iterator[tuple[str, float]]:
    """What git may open in a checkout, in its repositories and in those that it borrows from; and
    how many bytes it may have."""
    for path in _files_of_user():
        yield path, LARGEST
        yield from ((named, LARGEST) for named in _named_in(path, top))
    roots = [top]
    with suppress(UnusableData):
        layout = find_layout(top)
        roots += layout
        roots += (os.path.dirname(objects) for objects in alternates(layout.common_dir))
    inner = os.path.realpath(top) + os.sep
    for root in dict.fromkeys(root for root in roots if not root.startswith(inner)):
        for at, _, names in walk(root):
            parts = os.path.relpath(at, root).split(os.sep)
            is_git = root != top or ".git" in parts
            is_whole = "HEAD" in names or os.path.basename(at) in READ_IN_GIT
            most = LARGEST if "refs" in parts else LARGEST_IN_GIT if is_whole else math.inf
            for name in names:
                if is_git or name in READ:
                    yield os.path.join(at, name), LARGEST if name in READ else most
                if is_git and name in CONFIG:
                    path = os.path.join(at, name)
                    yield from ((named, LARGEST) for named in _named_in(path, top))


def _files_of_user() -> Iterator[str]:
    """What git reads in every repository."""
    yield os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig"
    yield os.environ.get("GIT_CONFIG_GLOBAL") or os.path.expanduser("~/.gitconfig")
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    yield from (os.path.join(folder, "git", name) for name in ("config", "ignore", "attributes"))


def _named_in(config: str, top: str) -> Iterator[str]:
    """The files that settings tell git to read as well, where the settings are in a file of them.
    git itself cannot be asked: it would wait for a pipe among them."""
    if os.path.basename(config) not in CONFIG:
        return
    left, seen = [config], set[str]()
    while left and len(seen) < MOST_INCLUDED:
        file = left.pop()
        seen.add(file)
        with suppress(OSError):
            for key, value in NAMED_FILE.findall(read_regular(file)):
                name = os.fsdecode(re.split(rb"[#;]", value)[0].strip(b' \t\r"'))
                is_included = key.lower() == b"path"
                folder = os.path.dirname(file) if is_included else top
                path = os.path.join(folder, os.path.expanduser(name))
                yield path
                if is_included and path not in seen:
                    left.append(path)


def _is_in_use(pipe: str) -> bool:
    """Does a process read or write a pipe, or wait for its other end? To find out, we open that
    end for a moment; the process then goes on as with an empty file."""
    flags = os.O_NONBLOCK | os.O_CLOEXEC
    try:
        os.close(os.open(pipe, os.O_WRONLY | flags))
    except PermissionError:
        return True
    except OSError:  # no process reads it
        reader = os.open(pipe, os.O_RDONLY | flags)
        try:
            return bool(os.read(reader, 1))
        except BlockingIOError:
            return True
        finally:
            os.close(reader)
    return True


def _line(path: str) -> str:
    try:
        with open_regular(path) as file:
            line = file.read(8192).decode("utf-8", "surrogateescape").rstrip("\r\n")
    except OSError as error:
        raise UnusableData(f"{path} cannot be read: {error.strerror}") from error
    if "\0" in line:
        raise UnusableData(f"{path} cannot be read: it holds bytes that are no text")
    return line
