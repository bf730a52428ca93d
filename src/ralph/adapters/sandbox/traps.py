"""What a session may leave behind for whoever works in its folders later: repositories in which git
runs something, pointers to such, links and pipes in the place of files, settings of agents.

No mount can keep these out, since they may be put wherever something can be written. So we look at
all of it afterwards, and what was not there before is disarmed.
"""

import contextlib
import os
import re
import stat
from collections.abc import Collection, Iterator
from enum import StrEnum
from functools import lru_cache
from itertools import product
from typing import Final

import msgspec

from ralph.adapters.sandbox.plain import read_plain
from ralph.core.git_settings import LARGEST, odd_settings
from ralph.core.hidden import STEERING_FILES, STEERING_FOLDERS

BULKY: Final = frozenset({"node_modules", ".venv", "venv", "target", "__pycache__", ".tox", ".nox"})
"""Folders that tools fill, and in which nobody starts an agent: its settings do no harm there."""
STEERING: Final = frozenset((*STEERING_FILES, *STEERING_FOLDERS))
DOT_GIT: Final = frozenset(map("".join, product(".", "gG", "iI", "tT")))
"""Some file systems do not tell them apart."""
MODULES: Final = ".gitmodules"
"""As a link git reads it, and checks it out nowhere."""
LISTENING: Final = "/proc/net/unix"

FILES: Final = frozenset(
    {"HEAD", "ORIG_HEAD", "FETCH_HEAD", "index", "packed-refs", "config", "description",
     "gc.log", "gc.pid"}
)  # fmt: skip
FOLDERS: Final = frozenset({"objects", "refs", "logs", "lfs", "reftable", "ralph"})
ENDINGS: Final = (".lock", "_EDITMSG")
"""Whatever else is in a folder of git was put there by more than commits."""
INFO: Final = frozenset({"exclude", "refs", "sparse-checkout"})
OBJECTS: Final = re.compile(r"[0-9a-f]{2}|pack|info|(tmp_|incoming-).*")
OBJECTS_INFO: Final = frozenset({"packs", "commit-graph", "commit-graphs"})
REFS: Final = frozenset({"replace", "bisect", "rewritten"})
"""Refs that change what others mean, or belong to something that is under way."""
BY_ITSELF: Final = frozenset({"modules", "worktrees", "rr-cache", "fsmonitor--daemon"})
"""Folders in which more happens: repositories in them are found anyway, the rest does no harm."""
FAR: Final = 1 << 62
"""On another file system, whose clock may be another: nothing there counts as old."""


class Kind(StrEnum):
    """What is wrong with a path."""

    STEERING = "settings of an agent"
    SPECIAL = "neither a file nor a folder"
    LINK = "a symbolic link in a folder of git"
    POINTER = "a pointer to a repository"
    REPOSITORY = "a repository"


class Trap(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at a path, and when each part of it last changed. A session can set the time
    of a file, but not the time at which that was done."""

    kind: Kind
    since: int = 0
    parts: dict[str, int] = {}
    """In a repository a name, NUL and a word about it for all that is more than a commit needs."""


class Area(msgspec.Struct, frozen=True, kw_only=True):
    """Where to look."""

    roots: tuple[str, ...] = ()
    """What a session can write."""
    closed: tuple[str, ...] = ()
    """What it cannot, in there."""
    own: tuple[str, ...] = ()
    """The folders of git of the checkout itself."""
    device: int = -1


Traps = dict[str, Trap]


def look(area: Area) -> Traps:
    """All that there are."""
    walk = _Walk(area)
    for root in area.roots:
        walk.enter(root)
    return walk.found


def look_at_own(area: Area) -> Traps:
    """What is odd about the checkout's own folders of git: that costs next to nothing."""
    walk = _Walk(area)
    for folder in area.own:
        walk.add_repository(folder, _entries(folder))
    return walk.found


@lru_cache
def steering(top: str) -> tuple[str, ...]:
    """Settings of agents that are there already, below the top. Looked for once."""
    found = look(Area(roots=(top,), closed=(os.path.join(top, ".git"),)))
    return tuple(sorted(path for path, trap in found.items() if trap.kind is Kind.STEERING))


def unfinished(git_dir: str) -> tuple[str, ...]:
    """Folders in a folder of git that are there already, and that no commit needs: a rebase that is
    under way, what other tools keep there."""
    known = FOLDERS | BY_ITSELF | {"hooks", "info"}
    with contextlib.suppress(OSError), os.scandir(git_dir) as entries:
        return tuple(
            sorted(
                entry.path
                for entry in entries
                if entry.name not in known and entry.is_dir(follow_symlinks=False)
            )
        )
    return ()


class _Walk:
    """Over all folders, once. Links are not followed."""

    def __init__(self, area: Area) -> None:
        self.found: Traps = {}
        self._area = area
        self._left_out = frozenset((*area.closed, *area.roots))
        self._closed = frozenset(area.closed)
        self._own = frozenset(area.own)

    def enter(self, root: str) -> None:
        """All that is in there."""
        folders = [(root, False, False)]
        while folders:
            folder, is_git, is_bulky = folders.pop()
            entries = _entries(folder)
            names = {entry.name for entry in entries}
            if folder in self._own or _is_repository(names):
                is_git = True
                self.add_repository(folder, entries)
            for entry in entries:
                named = entry.name in DOT_GIT or (entry.name in STEERING and not is_bulky)
                if entry.is_file(follow_symlinks=False):
                    if named:
                        self._file(entry)
                elif entry.is_dir(follow_symlinks=False):
                    if entry.path in self._left_out:
                        continue
                    if named and entry.name in STEERING:
                        self._add(entry, Kind.STEERING)
                    else:
                        folders.append((entry.path, is_git, is_bulky or entry.name in BULKY))
                elif entry.is_symlink():
                    if is_git or named or entry.name == MODULES:
                        self._link(entry, is_git=is_git)
                elif _is_in_the_way(entry):
                    self._add(entry, Kind.SPECIAL)

    def _file(self, entry: "os.DirEntry[str]") -> None:
        if entry.name in STEERING:
            self._add(entry, Kind.STEERING)
        else:
            self._add(entry, Kind.POINTER, os.fsdecode(read_plain(entry.path, 8192)))

    def _link(self, entry: "os.DirEntry[str]", *, is_git: bool) -> None:
        with contextlib.suppress(OSError):
            target = os.readlink(entry.path)
            kind = Kind.POINTER if entry.name in DOT_GIT else Kind.STEERING
            kind = Kind.SPECIAL if entry.name == MODULES else kind
            self._add(entry, Kind.LINK if is_git else kind, f"-> {target}")

    def _add(self, entry: "os.DirEntry[str]", kind: Kind, part: str = "") -> None:
        when = self._when(entry.path)
        self.found[entry.path] = Trap(kind=kind, since=when, parts={part: when})

    def add_repository(self, folder: str, entries: "list[os.DirEntry[str]]") -> None:
        """With what is odd about it."""
        parts = {
            f"{path[len(folder) + 1 :]}\0{what}": self._when(path)
            for path, what in self._odd(folder, entries)
        }
        trap = Trap(kind=Kind.REPOSITORY, since=self._when(folder), parts=parts)
        self.found[folder] = trap

    def _odd(self, folder: str, entries: "list[os.DirEntry[str]]") -> Iterator[tuple[str, str]]:
        """What is in a folder of git beyond what a commit needs. Links and pipes are found anyway,
        and what is closed is as it was."""
        is_own = folder in self._own
        for entry in entries:
            name, path = entry.name, entry.path
            is_file = entry.is_file(follow_symlinks=False)
            is_folder = entry.is_dir(follow_symlinks=False)
            if name in ("config", "config.worktree") and is_file:
                yield from ((path, one) for one in _odd_settings(path))
            elif not is_file and (not is_folder or path in self._closed):
                continue
            elif name in FILES or name.endswith(ENDINGS) or name.startswith("sharedindex."):
                if is_folder:
                    yield path, "folder"
            elif name in FOLDERS:
                if is_file:
                    yield path, "file"
            elif name == "hooks" and is_folder:
                inner = (one for one in _entries(path) if not one.name.endswith(".sample"))
                yield from self._each(inner)
            elif name in ("info", "branches") and is_folder:
                known: Collection[str] = INFO if name == "info" else ()
                yield from self._each(one for one in _entries(path) if one.name not in known)
            elif name in BY_ITSELF and is_folder:
                if is_own:
                    yield path, "folder"
            else:
                yield from self._each([entry])
        objects, refs = os.path.join(folder, "objects"), os.path.join(folder, "refs")
        info = os.path.join(objects, "info")
        yield from self._each(
            one
            for one in _entries(objects)
            if one.is_dir(follow_symlinks=False) and not OBJECTS.fullmatch(one.name)
        )
        yield from self._each(e for e in _entries(info) if e.name not in OBJECTS_INFO)
        yield from self._each(e for e in _entries(refs) if e.name in REFS)

    def _each(
        self, entries: "Iterator[os.DirEntry[str]] | list[os.DirEntry[str]]"
    ) -> Iterator[tuple[str, str]]:
        """A folder by itself and with every file: what is in it may change later."""
        left = [*entries]
        while left:
            entry = left.pop()
            if entry.is_dir(follow_symlinks=False):
                if entry.path in self._closed:
                    continue
                yield entry.path, "folder"
                left += _entries(entry.path)
            elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(".lock"):
                with contextlib.suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    yield entry.path, f"{found.st_ino} {found.st_ctime_ns}"

    def _when(self, path: str) -> int:
        try:
            found = os.lstat(path)
        except OSError:
            return FAR
        return found.st_ctime_ns if found.st_dev == self._area.device else FAR


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    """Of a folder, also of one that its owner may enter and not list: git needs no more."""
    for is_last in (False, True):
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except PermissionError:
            if is_last:
                break
            with contextlib.suppress(OSError):
                os.chmod(folder, 0o700)
        except OSError:
            break
    return []


def _odd_settings(path: str) -> tuple[str, ...]:
    text = read_plain(path, LARGEST + 1)
    is_unread = not text and os.path.lexists(path) and os.path.getsize(path)
    return ("unreadable",) if is_unread else odd_settings(text)


def _is_repository(names: set[str]) -> bool:
    return "HEAD" in names and ("commondir" in names or {"objects", "refs"} <= names)


def _is_in_the_way(entry: "os.DirEntry[str]") -> bool:
    """Whoever opens a pipe waits for somebody at its other end. A socket in which somebody listens
    is not a session's: those have ended."""
    try:
        if not stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
            return True
        with open(LISTENING, encoding="utf-8", errors="surrogateescape") as file:
            paths = (line.rstrip("\n").split(None, 7)[-1] for line in file)
            return all(os.path.basename(path) != entry.name for path in paths)
    except OSError:
        return False
