"""Keeps the last snapshot while head and index, which are read without git, are the same."""

import hashlib
import os
import re
from collections.abc import Sequence
from typing import Final, NamedTuple, Self

from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.git_index import GitStatus, IndexCopy, hidden_files
from ralph.adapters.workspace.git_objects import Difference, GitObjects
from ralph.core.errors import UnusableData
from ralph.core.snapshot import Snapshot
from ralph.files import names_in, read_regular
from ralph.git_layout import find_layout

LARGEST: Final = 16 * 1024 * 1024
"""Of a larger index git is asked each time."""
MOST_REFS: Final = 4 * 1024 * 1024
BRANCH: Final = re.compile(rb"ref: (refs/heads/[^\0-\x20\x7f]+)\n")
COMMIT: Final = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\n?")
SHARED: Final = "sharedindex."


class Head(NamedTuple):
    branch: str
    """Empty when the head is detached."""
    commit: str


class IndexState(NamedTuple):
    head: Head
    digest: bytes
    """Of the index's bytes."""


class LastSnapshot(NamedTuple):
    """What the last snapshot has found out."""

    at: Snapshot
    status: GitStatus
    state: IndexState
    disk: IndexCopy
    """The index with all that is on disk."""

    @classmethod
    def of(
        cls,
        at: Snapshot,
        status: GitStatus,
        state: IndexState | None,
        index: IndexCopy | None,
        disk: IndexCopy | None,
    ) -> Self | None:
        """None if head or index were changed meanwhile, or that is not known. `state` is of before
        the status, `index` of after it."""
        if state is None or index is None or disk is None:
            return None
        is_one = digest_of(index.data) == state.digest and state.head == (at.branch, at.head)
        return cls(at, status, state, disk) if is_one else None

    def is_still_true(self, at: Snapshot, git: Git) -> bool:
        """Is it that snapshot, and are head and index as they were then? Only while holding the
        lock of the index."""
        return self.at == at and self.state == read_state(git)

    def is_all(self, chosen: Sequence[Difference], objects: GitObjects) -> bool:
        """Is that all that is uncommitted, and nothing of it staged otherwise?"""
        if self.status.staged or self.status.unmerged or self.status.announced:
            return False
        head = objects.tree_of(self.status.head)
        return objects.changed(head, self.at.tree) == {one.path for one in chosen}


class HiddenFiles:
    """Those whose changes git does not see, looked up again when the index is another one."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._digest = b""
        self._found = frozenset[str]()

    def find(self) -> frozenset[str]:
        digest = index_digest(self._git)
        if not digest or self._digest != digest:
            self._found = hidden_files(self._git)
            # Asked for again if it was changed meanwhile.
            self._digest = digest if digest == index_digest(self._git) else b""
        return self._found


def read_state(git: Git) -> IndexState | None:
    """The state of head and index; None where only git can tell."""
    digest, head = index_digest(git), read_head(git.top)
    return IndexState(head, digest) if digest and head else None


def index_digest(git: Git) -> bytes:
    """Of all that is in the index; empty where it is split, very large, or not a file."""
    if any(name.startswith(SHARED) for name in names_in(git.git_dir)):
        return b""
    try:
        content = read_regular(os.path.join(git.git_dir, "index"), os.O_NOFOLLOW, most=LARGEST)
    except OSError:
        return b""
    return digest_of(content)


def digest_of(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=32).digest()


def read_head(top: str) -> Head | None:
    """The branch and its commit, as git's files have them; None where these do not say it plainly:
    refs in tables, a branch without commits, a link in the place of a file."""
    try:
        git_dir, common_dir = find_layout(top)
        said = read_regular(os.path.join(git_dir, "HEAD"), os.O_NOFOLLOW, most=MOST_REFS)
        if detached := COMMIT.fullmatch(said):
            return Head("", detached[1].decode())
        if not (named := BRANCH.fullmatch(said)):
            return None
        ref = os.fsdecode(named[1])
        if os.path.normpath(ref) != ref or not ref.startswith("refs/heads/"):
            return None
        commit = _loose(os.path.join(common_dir, ref)) or _packed(common_dir, named[1])
    except (OSError, UnusableData):
        return None
    return Head(ref.removeprefix("refs/heads/"), commit) if commit else None


def _loose(path: str) -> str:
    try:
        said = COMMIT.fullmatch(read_regular(path, os.O_NOFOLLOW, most=MOST_REFS))
    except FileNotFoundError:
        return ""
    if said is None:
        raise UnusableData(f"{path} names no commit")
    return said[1].decode()


def _packed(common_dir: str, ref: bytes) -> str:
    path = os.path.join(common_dir, "packed-refs")
    lines = read_regular(path, os.O_NOFOLLOW, most=MOST_REFS).split(b"\n")
    found = [line.partition(b" ")[0] for line in lines if line.endswith(b" " + ref)]
    said = COMMIT.fullmatch(found[0]) if len(found) == 1 else None
    return said[1].decode() if said else ""
