"""Find files that a session may have planted for later programs: repositories that make git run
something, links and pipes in place of files, agent settings.

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

from ralph.core.git_index import SHARED, is_safe_index
from ralph.core.hidden_paths import AGENT_SETTINGS_FILES, AGENT_SETTINGS_FOLDERS
from ralph.core.unsafe_git_config import LARGEST, unsafe_settings
from ralph.files import read_start

BULKY: Final = frozenset({"node_modules", ".venv", "venv", "target", "__pycache__", ".tox", ".nox"})
"""Folders that tools fill, and in which no agent is started: its settings do no harm there."""
STEERING: Final = frozenset((*AGENT_SETTINGS_FILES, *AGENT_SETTINGS_FOLDERS))
DOT_GIT: Final = frozenset(map("".join, product(".", "gG", "iI", "tT")))
"""Some file systems do not tell them apart."""
MODULES: Final = ".gitmodules"
"""As a link git reads it, and checks it out nowhere."""
READ: Final = frozenset({".gitignore", ".gitattributes", ".mailmap"})
"""git reads them as a whole, wherever they are."""
MOST_READ: Final = 1 << 20
"""Bytes of one: with as many patterns git is still done in time."""
LISTENING: Final = "/proc/net/unix"

FILES: Final = frozenset(
    {"HEAD", "ORIG_HEAD", "FETCH_HEAD", "index", "packed-refs", "config", "description",
     "gc.log", "gc.pid"}
)  # fmt: skip
FOLDERS: Final = frozenset({"objects", "refs", "logs", "lfs", "reftable", "ralph"})
ENDINGS: Final = (".lock", "_EDITMSG")
"""Whatever else is in a folder of git was put there by more than commits."""
MOST_INDEXED: Final = 1 << 25
"""Bytes of an index that is read: of some 300,000 files."""
INFO: Final = frozenset({"exclude", "refs", "sparse-checkout"})
OBJECTS: Final = re.compile(r"[0-9a-f]{2}|pack|info|(tmp_|incoming-).*")
OBJECTS_INFO: Final = frozenset({"packs", "commit-graph", "commit-graphs"})
REFS: Final = frozenset({"replace", "bisect", "rewritten"})
"""Refs that change what others mean, or belong to something that is under way."""
BY_ITSELF: Final = frozenset({"modules", "worktrees", "rr-cache", "fsmonitor--daemon"})
"""Folders in which more happens: repositories in them are found anyway, the rest does no harm."""
DEEPEST: Final = 3800
"""Bytes of a folder's path: the names of what git reads in one that is deeper may be too long to be
looked at, while git, which is in that folder, finds them by short ones."""


class PlantedKind(StrEnum):
    STEERING = "settings of an agent"
    SPECIAL = "neither a file nor a folder"
    LARGE = "too large for git to read"
    DEEP = "too deep to be looked at"
    LINK = "a symbolic link in a folder of git"
    POINTER = "a pointer to a repository"
    REPOSITORY = "a repository"


STOPS_GIT: Final = (PlantedKind.SPECIAL, PlantedKind.LARGE)


class PlantedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A dangerous path."""

    kind: PlantedKind
    parts: tuple[str, ...] = ()
    """In a repository a name, NUL and a word about it for all that is more than a commit needs;
    else what a pointer or a link says."""


class SearchArea(msgspec.Struct, frozen=True, kw_only=True):
    roots: tuple[str, ...] = ()
    """What a session can write."""
    closed: tuple[str, ...] = ()
    """What it cannot, in there."""
    own: tuple[str, ...] = ()
    """The folders of git of the checkout itself."""


PlantedFiles = dict[str, PlantedFile]


def find_planted_files(area: SearchArea) -> PlantedFiles:
    walk = _Walk(area)
    for root in area.roots:
        walk.enter(root)
    return walk.found


def find_in_git_folders(area: SearchArea) -> PlantedFiles:
    """What is odd about the checkout's own folders of git: that costs next to nothing."""
    walk = _Walk(area)
    for folder in area.own:
        walk.add_repository(folder, _entries(folder))
    return walk.found


@lru_cache
def _below(top: str) -> PlantedFiles:
    """What is there already, below the top. Looked for once."""
    return find_planted_files(SearchArea(roots=(top,), closed=(os.path.join(top, ".git"),)))


def find_agent_settings(top: str) -> tuple[str, ...]:
    """Settings of agents that are there already, below the top."""
    return tuple(
        sorted(path for path, trap in _below(top).items() if trap.kind is PlantedKind.STEERING)
    )


def nested(top: str) -> tuple[str, ...]:
    """Checkouts of other repositories that are there already, below the top: submodules, too."""
    kinds = (PlantedKind.REPOSITORY, PlantedKind.POINTER)
    found = (path for path, trap in _below(top).items() if trap.kind in kinds)
    return tuple(sorted(os.path.dirname(path) for path in found if path.endswith("/.git")))


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

    def __init__(self, area: SearchArea) -> None:
        self.found: PlantedFiles = {}
        self._area = area
        self._left_out = frozenset((*area.closed, *area.roots))
        self._closed = frozenset(area.closed)
        self._own = frozenset(area.own)

    def enter(self, root: str) -> None:
        folders = [(root, False, False)]
        while folders:
            folder, is_git, is_bulky = folders.pop()
            entries = _entries(folder)
            names = {entry.name for entry in entries}
            if folder in self._own or _is_repository(folder, names):
                is_git = True
                self.add_repository(folder, entries)
            for entry in entries:
                named = entry.name in DOT_GIT or (entry.name in STEERING and not is_bulky)
                if entry.is_file(follow_symlinks=False):
                    if named or entry.name in READ:
                        self._file(entry)
                elif entry.is_dir(follow_symlinks=False):
                    if entry.path in self._left_out:
                        continue
                    is_deep = len(os.fsencode(entry.path)) > DEEPEST
                    if is_deep or (named and entry.name in STEERING):
                        self._add(entry, PlantedKind.DEEP if is_deep else PlantedKind.STEERING)
                    else:
                        folders.append((entry.path, is_git, is_bulky or entry.name in BULKY))
                elif entry.is_symlink():
                    if is_git or named or entry.name == MODULES:
                        self._link(entry, is_git=is_git)
                elif _is_in_the_way(entry):
                    self._add(entry, PlantedKind.SPECIAL)

    def _file(self, entry: "os.DirEntry[str]") -> None:
        if entry.name in READ:
            if os.path.lexists(entry.path) and os.lstat(entry.path).st_size > MOST_READ:
                self._add(entry, PlantedKind.LARGE)
        elif entry.name in STEERING:
            self._add(entry, PlantedKind.STEERING)
        else:
            self._add(entry, PlantedKind.POINTER, os.fsdecode(read_start(entry.path, 8192)))

    def _link(self, entry: "os.DirEntry[str]", *, is_git: bool) -> None:
        with contextlib.suppress(OSError):
            target = os.readlink(entry.path)
            kind = PlantedKind.POINTER if entry.name in DOT_GIT else PlantedKind.STEERING
            kind = PlantedKind.SPECIAL if entry.name == MODULES else kind
            self._add(entry, PlantedKind.LINK if is_git else kind, f"-> {target}")

    def _add(self, entry: "os.DirEntry[str]", kind: PlantedKind, part: str = "") -> None:
        self.found[entry.path] = PlantedFile(kind=kind, parts=(part,))

    def add_repository(self, folder: str, entries: "list[os.DirEntry[str]]") -> None:
        odd = self._odd(folder, entries)
        parts = tuple(f"{path[len(folder) + 1 :]}\0{what}" for path, what in odd)
        self.found[folder] = PlantedFile(kind=PlantedKind.REPOSITORY, parts=parts)

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
            elif is_file and self._is_forged(path, is_own=is_own):
                yield from self._each([entry])
            elif name in FOLDERS | FILES or name.endswith(ENDINGS) or name.startswith(SHARED):
                if is_file is (name in FOLDERS):
                    yield path, "file" if is_file else "folder"
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

    def _is_forged(self, path: str, *, is_own: bool) -> bool:
        """Is it an index with a path that git would not add? The checkout's own is looked at where
        it is restored."""
        name = os.path.basename(path)
        is_index = name.startswith(SHARED) or (name == "index" and not is_own)
        return is_index and not is_safe_index(read_start(path, MOST_INDEXED))

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


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    """Of a folder, also of one that its owner may not list, which git need not, or not enter, which
    another command may change."""
    with contextlib.suppress(OSError):
        is_folder = stat.S_ISDIR(os.lstat(folder).st_mode)
        if is_folder and not os.access(folder, os.R_OK | os.X_OK):
            os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            return list(entries)
    return []


def _odd_settings(path: str) -> tuple[str, ...]:
    text = read_start(path, LARGEST + 1)
    is_unread = not text and os.path.lexists(path) and os.path.getsize(path)
    return ("unreadable",) if is_unread else unsafe_settings(text)


def _is_repository(folder: str, names: set[str]) -> bool:
    """For git, also where the file system takes "head" for "HEAD"."""
    names = {name.lower() for name in names}
    is_one = "head" in names and ("commondir" in names or {"objects", "refs"} <= names)
    return is_one and os.path.lexists(os.path.join(folder, "HEAD"))


def _is_in_the_way(entry: "os.DirEntry[str]") -> bool:
    """A process that opens a pipe waits for one at its other end. A socket at which a process
    listens is not a session's: those have ended."""
    try:
        if not stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
            return True
        with open(LISTENING, encoding="utf-8", errors="surrogateescape") as file:
            paths = (line.rstrip("\n").split(None, 7)[-1] for line in file)
            return all(os.path.basename(path) != entry.name for path in paths)
    except OSError:
        return False
