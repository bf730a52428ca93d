"""Bringing the files in which two commits differ from one to the other, and no other file."""

import os
import stat
from typing import Final

from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.index import (
    ABSENT,
    Scratch,
    absent,
    replace_index,
    scratch,
)
from ralph.adapters.workspace.objects import GITLINK, Difference, Objects
from ralph.adapters.workspace.status import Entry

WRITE: Final = ("read-tree", "-m", "-u", "--no-sparse-checkout")
"""It writes and removes only what differs, refuses if a file is no longer what the index says, and
takes directories away that became empty."""


class Moving:
    """The files between two commits. The caller holds the index lock."""

    def __init__(self, git: Git, objects: Objects, old: str, new: str) -> None:
        self._git = git
        self._objects = objects
        names = (f"{old}^{{tree}}", f"{new}^{{tree}}")
        self._old, self._new = git.word("rev-parse", *names).split("\n")
        self.files = objects.differences(self._old, self._new)

    def is_ours(self) -> bool:
        """Is every file as in one of the two?"""
        with scratch(self._git, copy=False) as disk:
            return not self._strange(self._photograph(disk))

    def go(self) -> None:
        """Write the new files in a checkout that has the old ones; refuses where it has not."""
        with scratch(self._git) as index:
            index.git.run(*WRITE, self._old, self._new, once=True)
            replace_index(self._git, index)

    def bring(self, *, forward: bool) -> None:
        """Write the new files, or the old ones, and say so in the index. What is as in neither
        commit is the person's, and stays."""
        entries = [one.new if forward else one.old for one in self.files]
        with scratch(self._git, copy=False) as disk:
            now = self._photograph(disk)
            strange = self._strange(now)
            ours = [entry for entry in entries if entry.path not in strange]
            disk.git.run(*WRITE, now, self._with(now, ours), once=True)
        with scratch(self._git) as index:
            index.put(entries)
            index.refresh()
            replace_index(self._git, index)

    def _photograph(self, disk: Scratch) -> str:
        """The old commit's tree, with the files between the two as they are on disk."""
        disk.read(self._old)
        put: list[Entry] = []
        add: list[str] = []
        for one in self.files:
            match self._kind(one.path):
                # Of a submodule nothing is moved but what the index says about it.
                case "folder" | "nothing" if one.is_nested:
                    put.append(one.old)
                case "file":
                    add.append(one.path)
                case _:
                    put.append(absent(one.path, self._old))
        disk.put(put)
        disk.add(add)
        return disk.tree()

    def _strange(self, now: str) -> frozenset[str]:
        """As in neither commit."""
        between = frozenset(one.path for one in self.files)
        like_none = self._changed(self._old, now) & self._changed(self._new, now) & between
        # git takes a file away before it writes it anew.
        gone = {path for path in like_none if self._kind(path) == "nothing"}
        odd = {path for path in between if self._kind(path) == "odd"}
        return like_none - gone | odd

    def _changed(self, tree: str, now: str) -> frozenset[str]:
        return frozenset(one.path for one in self._objects.differences(tree, now))

    def _kind(self, path: str) -> str:
        full = self._git.top
        *folders, name = path.split("/")
        for folder in folders:
            full = os.path.join(full, folder)
            if os.path.islink(full) or not os.path.isdir(full):
                return "elsewhere" if os.path.lexists(full) else "nothing"
        try:
            mode = os.lstat(os.path.join(full, name)).st_mode
        except FileNotFoundError:
            return "nothing"
        if stat.S_ISDIR(mode):
            return "folder"
        return "file" if stat.S_ISREG(mode) or stat.S_ISLNK(mode) else "odd"

    def _with(self, tree: str, entries: list[Entry]) -> str:
        with scratch(self._git, copy=False) as index:
            index.read(tree)
            index.put(entries)
            return index.tree()


def is_new(one: Difference) -> bool:
    """Is there a file now where there was none?"""
    return one.old.mode == ABSENT and one.new.mode != GITLINK
