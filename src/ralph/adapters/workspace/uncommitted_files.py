"""What is in a checkout and in no commit: what Ralph itself excludes, what sessions left there, and
what was there before.

Times of the last change (`ctime`) tell the two apart: a program cannot set them.
"""

import hashlib
import math
import os
import re
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from filecmp import cmp
from typing import Final, NamedTuple

from ralph.adapters.workspace.git import UNREAD, Git, raw, text
from ralph.adapters.workspace.git_index import GitStatus
from ralph.adapters.workspace.git_objects import Difference
from ralph.core.snapshot import CheckoutChanges, changed_work_files
from ralph.files import create_regular, open_regular, or_cannot_write, read_regular, walk

TICK_S: Final = 0.02
"""The times of files may lag behind the clock so far."""
DEPENDENCIES: Final = ("node_modules", ".venv", "venv")
"""Folders that are installed as manifests say, and so part of the environment."""
CACHES: Final = (".hypothesis", ".eslintcache", ".coverage", ".DS_Store", ".parcel-cache", ".turbo")
CACHE_TAG: Final = "CACHEDIR.TAG"
"""By which tools mark the folders of their caches."""
BYTECODE: Final = ("__pycache__", ".pyc")
CONVERSIONS: Final = ("ident", "filter", "working-tree-encoding", "eol")
UNCONVERTED: Final = ("unspecified", "unset", "lf")
KINDS: Final = {"100644": stat.S_IFREG, "100755": stat.S_IFREG, "120000": stat.S_IFLNK}


def exclude_patterns(git: Git, prefix: str, patterns: Iterable[str]) -> None:
    """Add the patterns, which are relative to `prefix`, to what only this repository ignores.

    A person may not have run `ralph init`, and agents rewrite `.gitignore`. The database would
    then be a file like others: committed with the work, and brought back with it."""
    path = os.path.join(git.top, git.word("rev-parse", "--git-path", "info/exclude"))
    if "\n" in prefix:
        return  # such a pattern cannot be written
    place = literal_pattern(prefix)
    wanted = [f"/{place}{pattern.removeprefix('/')}" for pattern in patterns]
    with or_cannot_write(f"write {path}"):
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


def literal_pattern(path: str) -> str:
    """A pattern for just this path."""
    return re.sub(r"([\\*?\[])", r"\\\1", path)


class UncommittedFiles(NamedTuple):
    """Paths from the top of the checkout."""

    left: tuple[str, ...]
    """Files, and empty folders, that sessions made or changed."""
    before: tuple[str, ...]
    """Files and whole folders that no session has touched, and dependencies."""


def find_uncommitted(
    git: Git, prefix: str, known: frozenset[str], times: Sequence[tuple[float, float]]
) -> UncommittedFiles:
    """What git does not know, ignored or not, less the `known` and caches; `times` are those of
    the sessions."""
    left: list[str] = []
    before: list[str] = []
    for entry in git.names("ls-files", "-o", "-z", "--directory"):
        if (
            not changed_work_files(CheckoutChanges(files=(entry,)), prefix)
            or entry.rstrip("/") in git.unseen
        ):
            continue
        if not entry.endswith("/"):
            if entry not in known and not _is_cache(entry):
                (left if _is_within(git.top, entry, times) else before).append(entry)
            continue
        made, rest = _below(git.top, entry.rstrip("/"), known, times)
        left += made
        before += rest
    return UncommittedFiles(tuple(left), tuple(before))


def _below(
    top: str, folder: str, known: frozenset[str], times: Sequence[tuple[float, float]]
) -> tuple[list[str], list[str]]:
    """The same for a folder of which git knows nothing."""
    if is_dependency(top, folder):
        return [], [folder]
    made: list[str] = []
    seen: list[tuple[str, list[str]]] = []
    for whole, folders, names in walk(os.path.join(top, folder)):
        at = os.path.relpath(whole, top)
        if CACHE_TAG in names:
            folders.clear()
            continue
        folders[:] = [name for name in folders if name != ".git"]
        inside = [f"{at}/{name}" for name in names if not _is_cache(f"{at}/{name}")]
        made += [path for path in inside if path not in known and _is_within(top, path, times)]
        if not folders and not names and _is_within(top, at, times):
            made.append(f"{at}/")
        seen.append((at, [*inside, *(f"{at}/{name}" for name in folders)]))
        folders[:] = [name for name in folders if not is_dependency(top, f"{at}/{name}")]
    if not made and known.isdisjoint(path for _, inside in seen for path in inside):
        return [], [folder]
    changed = {path.rstrip("/") for path in (*made, *known)}
    touched = changed | folders_of(changed)
    return made, [
        path for at, inside in seen if at in touched for path in inside if path not in touched
    ]


def folders_of(paths: Iterable[str]) -> set[str]:
    """All folders in which these paths lie. Each is looked at once: paths may be very deep."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def differing(git: Git, changed: Iterable[Difference]) -> list[str]:
    """Files that are on disk with other bytes, or another mode, than git would commit, or that it
    may check out with others: line endings, filters, a mode that git does not see."""
    files = [one for one in changed if one.new.mode in KINDS]
    stored_otherwise = [one.path for one in files if not _is_as_stored(git.top, one)]
    return [*stored_otherwise, *_converted(git, [one.path for one in files])]


def _converted(git: Git, paths: Sequence[str]) -> list[str]:
    """Those that git may write otherwise than it stores them; of all files, where what says so is
    among these."""
    names = b"".join(raw(path) + b"\0" for path in paths)
    if any(path.rpartition("/")[2] == ".gitattributes" for path in paths):
        names += git.run("ls-files", "-z")
    got = git.ask("config", "--get-regexp", r"^core\.(autocrlf|eol)$", ok=(0, 1))
    if not {"true", "crlf"}.isdisjoint(text(got.stdout).lower().split()):
        return [path for path in text(names).split("\0") if path]
    found = text(git.run("check-attr", "-z", "--stdin", *CONVERSIONS, stdin=names)).split("\0")
    values = zip(found[::3], found[2::3], strict=False)
    return [path for path, value in values if value not in UNCONVERTED]


def _is_as_stored(top: str, one: Difference) -> bool:
    path = os.path.join(top, one.path)
    try:
        found = os.lstat(path)
        if stat.S_IFMT(found.st_mode) != KINDS[one.new.mode]:
            return False
        if stat.S_ISLNK(found.st_mode):
            target = os.fsencode(os.readlink(path))
            return _digest(one, len(target), (target,)) == one.new.oid
        if bool(found.st_mode & stat.S_IXUSR) != (one.new.mode == "100755"):
            return False
        with open_regular(path) as file:
            blocks = iter(lambda: file.read(1 << 20), b"")
            return _digest(one, found.st_size, blocks) == one.new.oid
    except OSError:
        return False


def content_on_disk(top: str, one: Difference, *, most: int) -> bytes | None:
    """What a file holds, if that is on disk as git has it, in no more than so many bytes."""
    try:
        content = read_regular(os.path.join(top, one.path), os.O_NOFOLLOW, most=most)
    except OSError:
        return None
    return content if _digest(one, len(content), (content,)) == one.new.oid else None


def _digest(one: Difference, size: int, blocks: Iterable[bytes]) -> str:
    """The name that git gives to a content."""
    name = "sha1" if len(one.new.oid) == 40 else "sha256"
    digest = hashlib.new(name, b"blob %d\0" % size, usedforsecurity=False)
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def changed_submodules(git: Git, status: GitStatus) -> list[str]:
    """Those in which something is not committed: a commit around them cannot have it."""
    if not os.path.lexists(os.path.join(git.top, ".gitmodules")):
        return []
    args = ("diff-files", "-z", "--name-only", "--ignore-submodules=none", UNREAD)
    return [path for path in git.names(*args) if path not in status.dirty]


def is_dropped(top: str, path: str, times: Sequence[tuple[float, float]], began: float) -> bool:
    """Was it made since the run began, and by no session? Then a gate did it."""
    return _changed_at(top, path) >= began - TICK_S and not _is_within(top, path, times)


def _is_within(top: str, path: str, times: Sequence[tuple[float, float]]) -> bool:
    changed = _changed_at(top, path)
    return any(first - TICK_S <= changed <= last for first, last in times)


def _changed_at(top: str, path: str) -> float:
    try:
        return os.lstat(os.path.join(top, path)).st_ctime
    except OSError:
        return -math.inf  # it is gone


def is_dependency(top: str, folder: str) -> bool:
    is_named = os.path.basename(folder) in DEPENDENCIES
    return is_named or os.path.isfile(os.path.join(top, folder, "pyvenv.cfg"))


def _is_cache(path: str) -> bool:
    *folders, name = path.split("/")
    is_bytecode = BYTECODE[0] in folders and name.endswith(BYTECODE[1])
    return is_bytecode or not {*folders, name}.isdisjoint(CACHES)


def same_content(one: str, other: str) -> bool:
    """Are two files of one kind, with one content? What is no file is like nothing."""
    with suppress(OSError):
        modes = [os.lstat(path).st_mode for path in (one, other)]
        if all(map(stat.S_ISLNK, modes)):
            return os.readlink(one) == os.readlink(other)
        if all(map(stat.S_ISREG, modes)):
            return not (modes[0] ^ modes[1]) & stat.S_IXUSR and cmp(one, other, shallow=False)
        return False
    return not os.path.lexists(one) and not os.path.lexists(other)
